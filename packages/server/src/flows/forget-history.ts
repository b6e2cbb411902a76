import { forgetEvents } from '../features/events/index.ts';
import { forgetDead } from '../features/inbox/index.ts';
import { forgetAgents, forgetLinks } from '../features/outcomes/index.ts';
import { getSettings } from '../features/projects/index.ts';
import { forgetRaw, forgetReplies, REPLY_RAW_KEPT_MS } from '../features/replies/index.ts';
import { deleteFrozen } from '../features/sending/index.ts';
import { forgetStream } from '../features/stream/index.ts';
import { forgetWebhooks } from '../features/webhooks/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { listRulesInForce } from './rules-in-force.ts';

/** Some ten milliseconds; nobody waits behind it for long. */
const STEP = 1_000;
/** Questions about a window look that much further back, because clocks differ. */
const MARGIN_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Whoever fetched something is of use while a verdict is new; a webhook as long as its delivery may be asked for again. */
const AGENTS_KEPT_MS = 30 * DAY_MS;
const WEBHOOKS_KEPT_MS = 30 * DAY_MS;
/** People follow links in letters that they find again a year later. */
const LINKS_KEPT_MS = 366 * DAY_MS;

type Step = (tx: Tx, wanted: { projectId: number; before: Date; limit: number }) => Promise<number>;

/**
 * Deletes what a project keeps no longer (events, stream, dead letters, letters as they left with their links and answers,
 * webhooks), in steps that are a transaction each, for as long as `mayGoOn`. What became of letters stays as long as what is
 * known of the letters themselves. True if it came to the end.
 */
export async function forgetHistory(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  projectId: number,
  mayGoOn: () => boolean,
): Promise<boolean> {
  const { settings } = await getSettings(db, projectId);
  const lookedBackTo = settings.keepEventsMs === null ? [] : await namesLookedBackTo(db, projectId);
  const kept: [keepMs: number | null, step: Step][] = [
    [settings.keepEventsMs, (tx, wanted) => forgetEvents(tx, { ...wanted, lookedBackTo })],
    [settings.keepStreamMs, forgetStream],
    [settings.keepDeadMs, forgetDead],
    [settings.keepEmailsMs, deleteFrozen],
    [settings.keepEmailsMs, forgetReplies],
    [LINKS_KEPT_MS, forgetLinks],
    [AGENTS_KEPT_MS, forgetAgents],
    [REPLY_RAW_KEPT_MS, forgetRaw],
    [WEBHOOKS_KEPT_MS, forgetWebhooks],
  ];
  for (const [keepMs, step] of kept) {
    if (keepMs === null) continue;
    const before = new Date(db.clock.now() - keepMs - MARGIN_MS);
    let forgotten = STEP;
    while (forgotten === STEP) {
      if (!mayGoOn()) return false;
      forgotten = await db.transaction((tx) => step(tx, { projectId, before, limit: STEP }));
    }
  }
  return true;
}

/** By these a rule tells when its moment comes whether what it is about is still the present one; that may be a year later. */
async function namesLookedBackTo(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<string[]> {
  const rules = await listRulesInForce(db, projectId, db.clock.now());
  const names = rules.flatMap(({ definition: { about } }) => (about ? [about.event, ...about.until] : []));
  return [...new Set(names)];
}
