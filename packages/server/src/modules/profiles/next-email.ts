import type { NextEmail, RunCause } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { runStepsSlowly } from '../../platform/time/steps.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listAudiences } from '../audiences/index.ts';
import {
  type DraftForecast,
  findOutlet,
  policyOf,
  type SendServices,
  simulateQueue,
} from '../delivery/index.ts';
import { type Draft, listDrafts } from '../drafts/index.ts';
import { loadWaitingQueue, ruleNames } from '../explain/index.ts';
import { listRunsOf, type Run } from '../rules/index.ts';
import { findPeople, type PersonId, unknownPerson } from '../users/index.ts';
import { getSettings } from '../workspace/index.ts';

type NextEmailDeps = { db: Pick<Database, 'session' | 'clock'>; sendServices: SendServices };

const DRAFTS_MAX = 100;
const RUNS_MAX = 100;

/**
 * Shows the next email to a user: by the schedule of the user's own drafts, or by the waits of the user's runs. The throttle of the project is
 * applied to these drafts only, so with a long queue the email may be sent later.
 */
export function showNextEmail(
  { db, sendServices }: NextEmailDeps,
  { projectId, userId }: PersonId,
): Promise<NextEmail | null> {
  return inSnapshot(db, async (tx) => {
    const [person] = await findPeople(tx, [{ projectId, userId }], { emails: false });
    if (!person) throw unknownPerson(userId);
    const now = db.clock.now();
    const drafts = (
      await listDrafts(tx, { projectId, userId, state: null, ruleId: null, after: null, limit: DRAFTS_MAX })
    ).filter(({ endedAt }) => endedAt === null);
    const runs = await listRunsOf(tx, { projectId, userId, limit: RUNS_MAX });
    const forecasts =
      drafts.length === 0
        ? new Map<string, DraftForecast>()
        : await forecastsOf(tx, { projectId, userId, now, sendServices });
    const next = nextOf({ drafts, forecasts, runs });
    if (!next) return null;
    const audiences = new Map((await listAudiences(tx, projectId)).map(({ id, name }) => [id, name]));
    return nextEmail(next, { rules: await ruleNames(tx, projectId), audiences, runs });
  });
}

async function forecastsOf(
  tx: Tx,
  { projectId, userId, now, sendServices }: PersonId & { now: number; sendServices: SendServices },
): Promise<Map<string, DraftForecast>> {
  const { settings } = await getSettings(tx, projectId);
  const policy = policyOf(settings, await findOutlet(tx, projectId, sendServices.outlet));
  const query = { projectId, userId, now, policies: [policy], sendServices };
  const { queue } = await loadWaitingQueue(tx, query);
  return runStepsSlowly(simulateQueue(queue, policy, now));
}

type OpenDraft = Pick<Draft, 'id' | 'runId' | 'ruleId' | 'reason' | 'content'>;
type OpenRun = Pick<Run, 'id' | 'ruleId' | 'state' | 'nextAt' | 'anchor'>;
type Upcoming = { drafts: OpenDraft[]; forecasts: ReadonlyMap<string, DraftForecast>; runs: OpenRun[] };

/** `at`: the time of the email or of the step. Null: only a member or a change can send the email. */
export type Next =
  | { kind: 'draft'; draft: OpenDraft; at: number | null; reason: string | null }
  | { kind: 'step'; run: OpenRun; at: number };

/** Chooses what comes first by time. A draft without a time comes after everything that has one. */
export function nextOf({ drafts, forecasts, runs }: Upcoming): Next | null {
  const ofDrafts = drafts.map((draft): Next => {
    const forecast = forecasts.get(draft.id);
    if (forecast?.kind === 'sends')
      return { kind: 'draft', draft, at: forecast.leavesAt, reason: forecast.after };
    return { kind: 'draft', draft, at: null, reason: holdReason(forecast) ?? draft.reason };
  });
  const ofRuns = runs.flatMap((run): Next[] =>
    run.state === 'active' && run.nextAt !== null ? [{ kind: 'step', run, at: run.nextAt }] : [],
  );
  const [first] = [...ofDrafts, ...ofRuns].toSorted((a, b) => timeOf(a) - timeOf(b));
  return first ?? null;
}

function timeOf({ at }: Next): number {
  return at ?? Number.MAX_SAFE_INTEGER;
}

function holdReason(forecast: DraftForecast | undefined): string | null {
  if (forecast?.kind === 'held') return forecast.reason;
  return forecast?.kind === 'expires' ? (forecast.after ?? 'expired') : null;
}

type NextEmailContext = {
  rules: (ruleId: string) => string;
  audiences: ReadonlyMap<string, string>;
  runs: OpenRun[];
};

function nextEmail(next: Next, { rules, audiences, runs }: NextEmailContext): NextEmail {
  const ruleOf = (id: string): NextEmail['rule'] => ({ id, name: rules(id) });
  if (next.kind === 'step') {
    const { run, at } = next;
    return { kind: 'step', rule: ruleOf(run.ruleId), cause: causeOf(run, audiences), at: iso(at) };
  }
  const { draft, at, reason } = next;
  return {
    kind: 'draft',
    draft_id: draft.id,
    subject: draft.content.subject,
    rule: ruleOf(draft.ruleId),
    cause: causeOf(
      runs.find(({ id }) => id === draft.runId),
      audiences,
    ),
    at: isoOrNull(at),
    reason,
  };
}

/** The anchor of an audience has the id of the audience as its name. */
function causeOf(run: OpenRun | undefined, audiences: ReadonlyMap<string, string>): RunCause | null {
  if (!run) return null;
  const { kind, name, occurredAt } = run.anchor;
  return { kind, name: kind === 'audience' ? (audiences.get(name) ?? name) : name, at: iso(occurredAt) };
}
