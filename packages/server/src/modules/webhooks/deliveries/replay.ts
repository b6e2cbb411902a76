import { Fault } from '../../../platform/fault.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import { setTimersEarlier } from '../../../platform/locks/timers.ts';
import type { DeliveryState, History, Replay } from './webhook.ts';
import { insertHistory, replayDeliveries } from './replay-store.ts';
import type { Database } from '../../../platform/db/database.ts';

/** The webhooks to send again: with the same id and body, but with the current secrets and URL. */
export type ReplayInput = {
  projectId: number;
  /** Null means all enabled endpoints. */
  endpointId: string | null;
  /** One webhook; null means all of the given time range. */
  webhookId: string | null;
  since: number | null;
  until: number | null;
  states: DeliveryState[];
  /** Also webhooks that were never meant for this endpoint. */
  history: boolean;
};

const DAY_MS = 24 * 3_600_000;
/** Webhooks are kept for 30 days. */
const REPLAY_BACK_MAX_MS = 30 * DAY_MS;
const HISTORY_STEP = 1_000;
/** Makes the range include its last millisecond. */
const MOMENT_MS = 1;

/** Restarts deliveries, and returns their number. Deliveries in flight and erased ones stay as they are. */
export async function replayWebhooks(
  db: Pick<Database, 'query' | 'transaction' | 'clock'>,
  input: ReplayInput,
): Promise<{ replayed: number }> {
  const now = db.clock.now();
  const { projectId, endpointId } = input;
  const range = {
    since: input.since ?? now - REPLAY_BACK_MAX_MS,
    before: (input.until ?? now) + MOMENT_MS,
  };
  checkRange(range, now);
  if (endpointId !== null) await requireEnabled(db, { projectId, endpointId });
  if (input.history) await addHistory(db, input, range);
  const states: DeliveryState[] = input.history ? [...input.states, 'missed'] : input.states;
  let replayed = 0;
  let after: Replay['after'] = null;
  for (let more = true; more;) {
    const replay: Replay = { ...input, ...range, states, after, now };
    const step = await db.transaction(async (tx) => {
      const result = await replayDeliveries(tx, replay);
      if (result.replayed > 0) await setTimersEarlier(tx, 'webhooks', [{ projectId, nextAt: new Date(now) }]);
      return result;
    });
    replayed += step.replayed;
    after = step.last;
    more = step.last !== null;
  }
  return { replayed };
}

type Range = { since: number; before: number };

function checkRange({ since, before }: Range, now: number): void {
  if (since >= before) throw invalid('since must be before until', 'since');
  // A minute of tolerance for callers that compute the 30 days by their own clock.
  if (since < now - REPLAY_BACK_MAX_MS - 60_000)
    throw invalid('Webhooks are stored for 30 days. Choose a later since', 'since');
}

async function requireEnabled(
  db: Pick<Database, 'transaction'>,
  key: { projectId: number; endpointId: string },
): Promise<void> {
  const { endpoint } = await db.transaction((tx) => requireEndpoint(tx, key));
  if (endpoint.disabledAt === null) return;
  const message = 'This endpoint is disabled. Enable it with: beckon webhooks enable <endpoint>';
  throw new Fault('conflict', { details: [{ message, field: 'endpoint' }] });
}

async function addHistory(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, endpointId }: ReplayInput,
  range: Range,
): Promise<void> {
  if (endpointId === null)
    throw invalid('history requires endpoint, because it is sent to one endpoint', 'endpoint');
  const now = db.clock.now();
  for (let since: number | null = range.since; since !== null;) {
    const step: History = { projectId, endpointId, since, before: range.before, now, limit: HISTORY_STEP };
    // Recorded history is not read again, except for its last millisecond, which may have more rows than a step takes.
    since = await db.transaction((tx) => insertHistory(tx, step));
  }
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
