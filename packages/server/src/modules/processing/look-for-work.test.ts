import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { systemClock } from '../../platform/time/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Session } from '../../platform/db/statements.ts';
import { createProject } from '../administration/create-project.ts';
import { lookForWork, type PendingWork } from './look-for-work.ts';

const db = await openTestDatabase(systemClock);

const READ = `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_xact_user_tables WHERE relname = 'ingest_queue'`;

/** Returns how many queue rows a lookup reads, by the database's own count before the transaction of the lookup ends. */
async function look(): Promise<{ backlogs: number; read: number }> {
  let read = 0;
  const counting: Pick<Database, 'session'> = {
    async session(options) {
      const session: Session = await db.session(options);
      return {
        ...session,
        async script(text) {
          if (text === 'ROLLBACK') read = Number((await session.query<{ read: number }>(READ))[0]?.read);
          return session.script(text);
        },
      };
    },
  };
  const { backlogs }: PendingWork = await lookForWork(counting, { after: 0, limit: 1_000, now: new Date() });
  return { backlogs: backlogs.length, read };
}

test('reads each waiting project a few times at most, even with a plan made for an almost empty table', async () => {
  const project = await createProject(db, { name: 'Acme' });
  const put = (from: number, to: number): Promise<object[]> =>
    db.query(
      `INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at)
       SELECT $1 + n, 1, 'live', 'events', 1, '\\x00', now() FROM generate_series($2::int, $3::int) AS n`,
      [project.id, from, to],
    );
  await put(0, 2);
  await db.query('ANALYZE beckon.ingest_queue');
  // Often enough that the plan is cached.
  for (let i = 0; i < 10; i += 1) await look();
  await put(3, 499);
  const { backlogs, read } = await look();
  expect(backlogs).toBe(500);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(5 * 500);
});
