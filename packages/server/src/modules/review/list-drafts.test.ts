import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listDraftPage } from './list-drafts.ts';

const db = await openTestDatabase(fixedClock());

test('reads a page of Review in its order from the index `draft_review`', async () => {
  const plan = await db.transaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    await tx.query('SET LOCAL enable_sort = off');
    const explained: string[] = [];
    const query = async (text: string, values?: unknown[]): Promise<never[]> => {
      const rows = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      explained.push(...rows.map((row) => row['QUERY PLAN']));
      return [];
    };
    const recordingTx: Tx = { ...tx, query: query as Tx['query'] };
    const filter = { terms: [] };
    await listDraftPage(recordingTx, {
      projectId: 1,
      view: 'review',
      filter,
      after: null,
      offset: 0,
      limit: 10,
    });
    return explained.join('\n');
  });
  expect(plan).toContain('Index Scan using draft_review');
  expect(plan).not.toMatch(/Sort|Filter/);
});
