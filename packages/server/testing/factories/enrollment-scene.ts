import { createAudience } from '../../src/modules/audiences/change-audience.ts';
import { processTimers } from '../../src/modules/processing/process-timers.ts';
import { findRule } from '../../src/modules/rules/definitions/load-rules.ts';
import type { Enrollment } from '../../src/modules/rules/enrollment/enrollment.ts';
import { findLatestEnrollment } from '../../src/modules/rules/enrollment/store.ts';
import { createModels } from '../../src/modules/rules/project-model.ts';
import { createPropertyCache } from '../../src/modules/processing/process.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { NewId } from '../../src/platform/ids.ts';
import type { Clock } from '../../src/platform/time/clock.ts';
import { listRuleNeeds } from '../../src/modules/rules/runs/rules-in-force.ts';
import { createRule } from '../../src/modules/rules/write-rule.ts';
import { testHasher } from './send-services.ts';
import { newScenario, type Scenario, type Stage } from '../scenario.ts';

export type EnrollmentScene = {
  scenario: Scenario;
  audienceId: string;
  document: Record<string, unknown>;
};

export const WELCOME_STEPS = [{ draft: { subject: 'Welcome to Pro', body: 'Hello.' } }];

/** A project with an audience of users with the plan `pro`, these users in it, and a rule for it that is off. */
export async function enrollmentScene(
  stage: Stage,
  users: string[],
  more: object = {},
): Promise<EnrollmentScene> {
  const { db } = stage.server;
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off', autopilot: 'draft' });
  for (const user of users) await scenario.user(user, { email: `${user}@x.org`, traits: { plan: 'pro' } });
  await scenario.later(0);
  const { projectId } = scenario;
  const definition = { trait: 'plan', equals: 'pro' };
  const audience = { projectId, name: 'Pros', definition };
  const { id: audienceId } = await createAudience({ db, listRuleNeeds }, audience);
  await scenario.later(1_000);
  const when = { audience: audienceId, move: 'joined' };
  const document = { name: 'Pro', when, steps: WELCOME_STEPS, ...more };
  await createRule(db, { projectId, document, isOff: true });
  return { scenario, audienceId, document };
}

export async function latestEnrollment(
  db: Database,
  { scenario: { projectId } }: EnrollmentScene,
): Promise<Enrollment> {
  const { id: ruleId } = await findRule(db, { projectId, reference: 'Pro' });
  const found = await findLatestEnrollment(db, { projectId, ruleId });
  if (!found) throw new Error('there is no enrollment');
  return found;
}

type WorkerDeps = { db: Database; newId: NewId; clock: Clock };

/** A worker of its own, which processes `limit` users at a time. */
export function enrollmentWorker({ db, newId, clock }: WorkerDeps, limit: number) {
  const caches = { models: createModels(clock), propertyCache: createPropertyCache() };
  const deps = { db, newId, ...caches, hasher: testHasher };
  return ({ scenario: { projectId } }: EnrollmentScene) => processTimers(deps, projectId, limit);
}
