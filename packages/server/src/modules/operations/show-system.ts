import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import { iso } from '../../platform/time/clock.ts';
import { countWaiting } from '../ingest/index.ts';
import { isAccepted } from '../sending/index.ts';
import { duesOf } from '../../platform/locks/timers.ts';
import { countWebhooks } from '../webhooks/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { type DatabaseFacts, databaseFacts } from '../../platform/db/facts.ts';

export type ShownSystem = DatabaseFacts & {
  at: string;
  sending_enabled: boolean;
  clockOffsetMs: number | null;
  queue: { live: number; bulk: number; dead_letters: number; oldest_ms: number; max: number };
  jobs: { name: string; next_at: string | null; late_ms: number }[];
  webhooks: { pending: number; delivering: number };
};

/** Returns the state of the engine as far as it concerns one project, and the facts about its database. */
export async function showSystem(
  db: Pick<Database, 'query' | 'prepared' | 'clock' | 'offsetMs'>,
  projectId: number,
): Promise<ShownSystem> {
  const now = db.clock.now();
  return {
    ...(await databaseFacts(db)),
    at: iso(now),
    sending_enabled: await isAccepted(db),
    clockOffsetMs: db.offsetMs(),
    queue: { ...(await countWaiting(db, projectId)), max: INGEST_QUEUE_MAX_RECORDS },
    jobs: (await duesOf(db, projectId)).map(({ work, nextAt }) => ({
      name: work,
      next_at: nextAt?.toISOString() ?? null,
      late_ms: nextAt === null ? 0 : Math.max(0, now - nextAt.getTime()),
    })),
    webhooks: await countWebhooks(db, projectId),
  };
}
