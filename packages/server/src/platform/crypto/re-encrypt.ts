import type { Log } from '../log.ts';
import type { Sealer } from './encrypt.ts';

export type Resealing = { sealer: Sealer; log: Log };

/** A table with encrypted values: its pages in order, the ids that each value is bound to, and the function that writes rows. */
export type SealedTable<Row> = {
  list: (after: Row | null) => Promise<Row[]>;
  boundTo: (row: Row) => string;
  write: (rows: Row[]) => Promise<unknown>;
};

/**
 * Re-encrypts the values encrypted with the installation's previous secret, so that it can be removed. Returns their number. A value that
 * no secret decrypts is logged as a warning with its ids, and does not stop the others.
 */
export async function resealAll<Row extends { sealed: Uint8Array }>(
  { sealer, log }: Resealing,
  { list, boundTo, write }: SealedTable<Row>,
): Promise<number> {
  const again = (row: Row): Row[] => {
    if (sealer.isCurrent(row.sealed)) return [];
    try {
      return [{ ...row, sealed: sealer.seal(sealer.open(row.sealed, boundTo(row)), boundTo(row)) }];
    } catch (error) {
      log.warn({ bound_to: boundTo(row), err: error }, 'secret.not_reencrypted');
      return [];
    }
  };
  let resealed = 0;
  let page = await list(null);
  while (page.length > 0) {
    const stale = page.flatMap(again);
    if (stale.length > 0) await write(stale);
    resealed += stale.length;
    page = await list(page.at(-1) ?? null);
  }
  return resealed;
}
