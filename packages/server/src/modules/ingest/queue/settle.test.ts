import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { systemClock } from '../../../platform/time/clock.ts';
import { createProject } from '../../administration/create-project.ts';
import { inSession } from '../../../platform/db/session-transactions.ts';
import { settleChunks } from './store.ts';

// A separate database, because rows that other tests leave in the queue would improve the query plans.
const db = await openTestDatabase(systemClock);

test('reads only the settled rows of a backlog, even with a query plan made for an almost empty queue', async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const fill = (from: number, to: number): Promise<object[]> =>
    db.query(
      `INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at)
       SELECT $1, n, 'live', 'events', 1, '\\x00', now() FROM generate_series($2::int, $3::int) AS n`,
      [projectId, from, to],
    );
  const settleOf = (from: number, count: number): Promise<number> =>
    inSession(db, async (tx) => {
      const rows = Array.from({ length: count }, (_, i) => ({ seq: from + i, records: 1, is_whole: true }));
      await settleChunks(
        tx,
        rows.map((row) => ({ ...row, project_id: projectId, priority: 'live' as const })),
      );
      const [row] = await tx.query<{ read: number }>(
        `SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'ingest_queue'`,
      );
      await tx.commit();
      return Number(row?.read);
    });
  await db.query(
    'UPDATE beckon.ingest_queue_state SET next_seq = 3001, waiting = 3000 WHERE project_id = $1',
    [projectId],
  );
  await fill(1, 1);
  await db.query('VACUUM ANALYZE beckon.ingest_queue');
  await settleOf(1, 1);
  await fill(2, 3_000);
  const read = await settleOf(2, 200);
  expect(await db.query('SELECT 1 FROM beckon.ingest_queue')).toHaveLength(2_799);
  expect(read).toBeGreaterThanOrEqual(200);
  expect(read).toBeLessThan(5 * 200);
});
