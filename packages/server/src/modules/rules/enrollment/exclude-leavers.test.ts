import { describe, expect, test } from 'vitest';
import { testHasher, testSendServices } from '../../../../testing/factories/send-services.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { createPropertyCache } from '../../processing/process.ts';
import type { Enrollment } from './enrollment.ts';
import { findLatestEnrollment } from './store.ts';
import { findRule } from '../definitions/load-rules.ts';
import type { Database } from '../../../platform/db/database.ts';
import { createAudience } from '../../audiences/change-audience.ts';
import { processBatch } from '../../processing/process-batch.ts';
import { processTimers } from '../../processing/process-timers.ts';
import { explainPerson } from '../../explain/explain.ts';
import { createModels } from '../project-model.ts';
import { startEnrollment } from './enroll.ts';
import { listRuleNeeds } from '../runs/rules-in-force.ts';

const stage = await openStage();
const { db, clock } = stage.server;
const newId = idMaker(clock);
const steps = [{ draft: { subject: 'Welcome to Pro', body: 'Hello.' } }];

type Scene = { scenario: Scenario; pros: string; active: string };

/**
 * A project whose rule starts when users enter one of two audiences: users with the plan `pro`, and users who logged in within a
 * day. The members joined before the rule existed. Active users log in, and so leave, in the order of the list.
 */
async function scene(members: { pros: string[]; active: string[] }): Promise<Scene> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off', autopilot: 'draft' });
  const { projectId } = scenario;
  for (const user of new Set([...members.pros, ...members.active]))
    await scenario.user(user, { email: `${user}@x.org` });
  for (const user of members.pros) await scenario.user(user, { traits: { plan: 'pro' } });
  for (const user of members.active) {
    await scenario.event(user, 'login');
    clock.advance(1);
  }
  await scenario.later(0);
  const create = async (name: string, definition: object): Promise<string> =>
    (await createAudience({ db, listRuleNeeds }, { projectId, name, definition })).id;
  const pros = await create('Pros', { trait: 'plan', equals: 'pro' });
  const active = await create('Active', { event: 'login', within: '1d' });
  await scenario.later(1_000);
  const when = [pros, active].map((audience) => ({ audience, move: 'joined' }));
  await scenario.rule({ name: 'Pro', when, steps });
  await scenario.later(1_000);
  return { scenario, pros, active };
}

const start = ({ scenario: { projectId } }: Scene) =>
  startEnrollment(db, { projectId, reference: 'Pro', newId });

async function latest({ scenario: { projectId } }: Scene): Promise<Enrollment> {
  const { id: ruleId } = await findRule(db, { projectId, reference: 'Pro' });
  const found = await findLatestEnrollment(db, { projectId, ruleId });
  if (!found) throw new Error('there is no enrollment');
  return found;
}

const depsOf = (workerDb: Database) => ({
  db: workerDb,
  newId,
  models: createModels(clock),
  propertyCache: createPropertyCache(),
  hasher: testHasher,
});
const due = ({ scenario: { projectId } }: Scene, limit: number, workerDb: Database = db) =>
  processTimers(depsOf(workerDb), projectId, limit);
const records = ({ scenario: { projectId } }: Scene, priority: 'live' | 'bulk', workerDb: Database = db) =>
  processBatch(depsOf(workerDb), {
    priority,
    projectIds: [projectId],
    recordsPerProject: 100,
    recordsMax: 100,
  });
const leavePros = ({ scenario }: Scene, user: string) => scenario.user(user, { traits: { plan: 'free' } });

const killedAt = (point: string): Database => ({
  ...db,
  failpoint: (at) => {
    if (at === point) throw new Error(`killed at ${point}`);
  },
});

describe('excludeLeavers', () => {
  test('logs and counts a user whom a record took out of the audience before their batch', async () => {
    const current = await scene({ pros: ['u1', 'u2'], active: [] });
    await start(current);
    await leavePros(current, 'u1');
    await records(current, 'live');
    expect(await latest(current)).toMatchObject({
      state: 'running',
      members: 2,
      processed: 1,
      enrolled: 0,
      excluded: { left_audience: 1 },
      afterUser: null,
    });
    await current.scenario.later(0);
    expect(await latest(current)).toMatchObject({ state: 'done', members: 2, processed: 2, enrolled: 1 });
    const { projectId } = current.scenario;
    const query = { projectId, userId: 'u1', rule: 'Pro' };
    expect(await explainPerson({ db, sendServices: testSendServices() }, query)).toMatchObject([
      {
        rule: 'Pro',
        fired: false,
        reason: 'left_audience',
        detail: { audience_id: current.pros, by: 'enrollment' },
        count: 1,
      },
    ]);
  });

  test('logs a user whom a bulk request took out of the audience', async () => {
    const current = await scene({ pros: ['u1', 'u2'], active: [] });
    await start(current);
    await current.scenario.post('users/bulk', {
      users: [{ external_user_id: 'u1', traits: { plan: 'free' } }],
    });
    await records(current, 'bulk');
    expect(await current.scenario.why('u1', 'Pro')).toEqual({ left_audience: 1 });
    await current.scenario.later(0);
    expect(await latest(current)).toMatchObject({
      processed: 2,
      enrolled: 1,
      excluded: { left_audience: 1 },
    });
  });

  test('logs users who leave by time, in the batch that would enroll them or before it', async () => {
    const current = await scene({ pros: ['u1'], active: ['u4', 'u3', 'u2'] });
    clock.advance(DAY - 10_000);
    await start(current);
    await due(current, 1);
    expect(await latest(current)).toMatchObject({ processed: 1, enrolled: 1, afterUser: 'u1' });
    clock.advance(10_000);
    await due(current, 1);
    expect(await current.scenario.why('u4', 'Pro')).toEqual({ left_audience: 1 });
    expect(await latest(current)).toMatchObject({ processed: 3, enrolled: 2, afterUser: 'u2' });
    await due(current, 1);
    expect(await current.scenario.why('u3', 'Pro')).toEqual({ left_audience: 1 });
    expect(await latest(current)).toMatchObject({
      state: 'done',
      members: 4,
      processed: 4,
      enrolled: 2,
      excluded: { left_audience: 2 },
    });
    for (const user of ['u1', 'u2']) expect(await current.scenario.why(user, 'Pro')).toEqual({ fired: 1 });
  });

  test('logs a user of two audiences when they leave the second one', async () => {
    const current = await scene({ pros: ['u1', 'u2'], active: ['u1', 'u2'] });
    clock.advance(DAY - 10_000);
    await start(current);
    await leavePros(current, 'u1');
    await records(current, 'live');
    expect(await current.scenario.why('u1', 'Pro')).toEqual({});
    clock.advance(10_000);
    await current.scenario.later(0);
    expect(await current.scenario.why('u1', 'Pro')).toEqual({ left_audience: 1 });
    expect(await current.scenario.why('u2', 'Pro')).toEqual({ fired: 1 });
    expect(await latest(current)).toMatchObject({
      processed: 2,
      enrolled: 1,
      excluded: { left_audience: 1 },
    });
  });

  test('leaves out users who were processed already, joined after the start, or leave after the end', async () => {
    const current = await scene({ pros: ['u1', 'u2', 'u3'], active: [] });
    await current.scenario.user('u9', { email: 'u9@x.org' });
    await current.scenario.later(0);
    await start(current);
    await due(current, 1);
    clock.advance(1_000);
    await current.scenario.user('u9', { traits: { plan: 'pro' } });
    await records(current, 'live');
    for (const user of ['u1', 'u9']) await leavePros(current, user);
    await records(current, 'live');
    await current.scenario.later(0);
    expect(await latest(current)).toMatchObject({ state: 'done', processed: 3, enrolled: 3, excluded: {} });
    await leavePros(current, 'u2');
    await current.scenario.later(0);
    for (const user of ['u1', 'u2', 'u9'])
      expect(await current.scenario.why(user, 'Pro')).toEqual({ fired: 1 });
  });

  test('stays within the project and the rule of the enrollment', async () => {
    const members = { pros: ['u1', 'u2'], active: [] };
    const [current, other] = [await scene(members), await scene(members)];
    await start(current);
    await start(other);
    await current.scenario.rule({ name: 'Second', when: { audience: current.pros, move: 'joined' }, steps });
    await leavePros(current, 'u1');
    await records(current, 'live');
    expect(await current.scenario.why('u1', 'Second')).toEqual({});
    expect(await latest(current)).toMatchObject({ processed: 1 });
    expect(await latest(other)).toMatchObject({ processed: 0, excluded: {} });
  });

  test('writes the decision and the count in the commit that ends the membership', async () => {
    const current = await scene({ pros: ['u1'], active: ['u2'] });
    clock.advance(DAY - 10_000);
    await start(current);
    await leavePros(current, 'u1');
    await expect(records(current, 'live', killedAt('batch_committing'))).rejects.toThrow('killed');
    expect(await current.scenario.why('u1', 'Pro')).toEqual({});
    expect(await latest(current)).toMatchObject({ processed: 0, excluded: {} });
    await records(current, 'live');
    clock.advance(10_000);
    await expect(due(current, 500, killedAt('timers_committing'))).rejects.toThrow('killed');
    expect(await current.scenario.why('u2', 'Pro')).toEqual({});
    expect(await latest(current)).toMatchObject({ processed: 1, excluded: { left_audience: 1 } });
    await Promise.all([due(current, 500), due(current, 500)]);
    await current.scenario.later(0);
    for (const user of ['u1', 'u2'])
      expect(await current.scenario.why(user, 'Pro')).toEqual({ left_audience: 1 });
    expect(await latest(current)).toMatchObject({
      state: 'done',
      processed: 2,
      enrolled: 0,
      excluded: { left_audience: 2 },
    });
  });
});
