import { describe, expect, test } from 'vitest';
import { readPages } from './pages.ts';

/** A list of `total` numbers, read in pages as the API answers them. */
function listOf(total: number) {
  const pages: object[] = [];
  const read = async ({ limit = total, cursor = '0' }: { limit?: number; cursor?: string }) => {
    pages.push({ limit, cursor });
    const [from, to] = [Number(cursor), Math.min(Number(cursor) + limit, total)];
    const data = Array.from({ length: to - from }, (_, at) => from + at);
    return { data, meta: { pagination: { total }, cursor: to < total ? String(to) : null } };
  };
  return { pages, read };
}

describe('readPages', () => {
  test('reads pages of at most 200 up to the limit, and reports the total', async () => {
    const { pages, read } = listOf(1_000);
    const { items, total } = await readPages<number>({ limit: 450, isPaged: true }, read);
    expect([items.length, items.at(-1), total]).toEqual([450, 449, '1,000']);
    expect(pages).toEqual([
      { limit: 200, cursor: '0' },
      { limit: 200, cursor: '200' },
      { limit: 50, cursor: '400' },
    ]);
  });

  test('reports no total for a complete list', async () => {
    const { items, total } = await readPages<number>({ limit: 450, isPaged: true }, listOf(230).read);
    expect([items.length, total]).toEqual([230, null]);
  });

  test('reads no page for a limit of 0', async () => {
    const { pages, read } = listOf(3);
    expect(await readPages<number>({ limit: 0, isPaged: true }, read)).toEqual({ items: [], total: null });
    expect(pages).toEqual([]);
  });

  test('cuts a list that the API answers at once', async () => {
    const { items, total } = await readPages<number>({ limit: 2, isPaged: false }, listOf(3).read);
    expect([items, total]).toEqual([[0, 1], '3']);
  });
});
