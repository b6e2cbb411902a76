/** The largest page that the API answers. */
const PAGE = 200;

export type Page = {
  data: unknown[];
  meta: { pagination: { total: number }; cursor: string | null; at_least?: true };
};

type Read<T> = { items: T[]; total: string | null };

/** Reads pages until `limit` is reached; a limit of 0 reads no page. `total` is null when the list is complete. */
export async function readPages<T>(
  { limit, isPaged }: { limit: number; isPaged: boolean },
  read: (page: { limit?: number; cursor?: string }) => Promise<unknown>,
): Promise<Read<T>> {
  const items: T[] = [];
  let cursor: string | undefined;
  if (limit === 0) return { items, total: null };
  for (;;) {
    const size = Math.min(limit - items.length, PAGE);
    const page = (await read(
      isPaged ? { limit: size, ...(cursor === undefined ? {} : { cursor }) } : {},
    )) as Page;
    items.push(...(page.data as T[]));
    const { pagination, at_least } = page.meta;
    cursor = page.meta.cursor ?? undefined;
    if (cursor !== undefined && items.length < limit) continue;
    const total = `${at_least ? 'more than ' : ''}${pagination.total.toLocaleString('en-US')}`;
    const isCut = cursor !== undefined || items.length > limit;
    return { items: items.slice(0, limit), total: isCut ? total : null };
  }
}
