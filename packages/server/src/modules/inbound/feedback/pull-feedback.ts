import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import type { Reporter } from '../../../platform/relays/reporter.ts';
import {
  type ConfiguredRelay,
  findRelayWithSecrets,
  listUsedRelayIds,
  maySendEmails,
  type RestoreGuard,
  updateFeedbackCursor,
} from '../../sending/index.ts';
import { applyEvents, type FeedbackDeps } from './apply-events.ts';
import { deleteAppliedEvents } from './store.ts';

export type PullDeps = FeedbackDeps & {
  encrypter: Encrypter;
  relayKinds: RelayKinds;
  outbound: Outbound;
  restoreGuard?: RestoreGuard | undefined;
};

const RELAYS_MAX = 200;
/** With 500 events a page, more than a relay sends in half a minute. */
const PAGES_MAX = 20;
const BACKOFF_MS = 2 * 60_000;

/**
 * Returns a job that reads the events of relays whose provider lists them. It works without a public address. Two workers may read the same
 * events, because each event is applied once.
 *
 * A restored database reads nothing until the restore is confirmed: a queue would give it the events of the original.
 */
export function feedbackPuller(deps: PullDeps): (run: JobRun) => Promise<void> {
  const pausedUntil = new Map<string, number>();
  return async ({ stopping }) => {
    if (!(await maySendEmails({ ...deps, restoreGuard: deps.restoreGuard ?? 'auto' }))) return;
    for (const id of await listUsedRelayIds(deps.db, RELAYS_MAX)) {
      if (stopping.aborted) return;
      if ((pausedUntil.get(id) ?? 0) > performance.now()) continue;
      const waitMs = await pullRelay(deps, id, stopping);
      if (waitMs === 0) pausedUntil.delete(id);
      else pausedUntil.set(id, performance.now() + waitMs);
    }
  };
}

/** Returns how long the relay must not be asked again. */
async function pullRelay(deps: PullDeps, id: string, stopping: AbortSignal): Promise<number> {
  const { db, encrypter, relayKinds, log } = deps;
  const found = await findRelayWithSecrets({ db, encrypter }, id);
  const reporter = found && relayKinds.reporterOf(found.relay.kind, found.settings);
  if (!found || !reporter || pullState(reporter) !== 'on') return 0;
  let cursor = found.relay.feedbackCursor;
  for (let page = 0; page < PAGES_MAX && !stopping.aborted; page += 1) {
    const pulled = await pullPage(deps, { relay: found.relay, reporter, cursor });
    if (!pulled.ok) {
      log.warn({ relay_id: id, reason: pulled.message }, 'relay_feedback.not_pulled');
      return pulled.retryAfterMs ?? BACKOFF_MS;
    }
    ({ cursor } = pulled);
    if (!pulled.hasMore) return 0;
  }
  return 0;
}

/** `off`: events could be read with more settings. Those of SES come from a queue, if there is one. */
export function pullState({ adapter, settings, apiNeeds }: Reporter): 'on' | 'off' | 'none' {
  if (!adapter.pull) return 'none';
  const hasQueue = adapter.kind !== 'ses' || settings['queue_url'] !== undefined;
  return hasQueue && apiNeeds.length === 0 ? 'on' : 'off';
}

type Page = { relay: ConfiguredRelay; reporter: Reporter; cursor: string | null };

/** The cursor moves after its events were applied, so a crash in between repeats them. */
async function pullPage(
  deps: PullDeps,
  { relay, reporter: { adapter, settings }, cursor }: Page,
): Promise<
  { ok: true; cursor: string; hasMore: boolean } | { ok: false; message: string; retryAfterMs: number | null }
> {
  const { db, outbound } = deps;
  const context = { settings, outbound, key: relay.id, now: () => db.clock.now() };
  const pulled = await adapter.pull?.(cursor, context);
  if (!pulled) return { ok: false, message: 'not supported', retryAfterMs: null };
  if (!pulled.ok) return pulled;
  await applyEvents(deps, relay, pulled.events);
  await updateFeedbackCursor(db, { ...relay, before: cursor, after: pulled.cursor });
  await pulled.acknowledge?.();
  return { ok: true, cursor: pulled.cursor, hasMore: pulled.hasMore };
}

/** Longer than any provider repeats an event. */
const KEPT_MS = 30 * 86_400_000;
const DELETED_AT_ONCE = 5_000;

/** Forgets events that no provider reports again. */
export async function deleteOldRelayEvents(
  { db }: Pick<FeedbackDeps, 'db'>,
  { stopping }: JobRun,
): Promise<void> {
  const before = new Date(db.clock.now() - KEPT_MS);
  while (!stopping.aborted) {
    const deleted = await deleteAppliedEvents(db, { before, limit: DELETED_AT_ONCE });
    if (deleted < DELETED_AT_ONCE) return;
  }
}
