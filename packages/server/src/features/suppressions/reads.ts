import { normaliseAddress } from '../../base/address.ts';
import { plainList, type Tx } from '../../io/db/index.ts';
import type { SuppressedKind, Suppression, SuppressionReason } from './suppression.ts';

export type Addressee = { projectId: number; userId: string; address: string | null };
export type FoundSuppression = { reason: SuppressionReason; until: number | null };

/**
 * For each of these, in their order, what keeps letters from the person or from the address now; null where nothing does.
 * Of two the one that lasts longer, so that nobody waits for the end of a snooze only to learn of the other.
 */
export async function findSuppressions(
  tx: Tx,
  addressees: Addressee[],
  now: number,
): Promise<(FoundSuppression | null)[]> {
  const found = addressees.map((): FoundSuppression | null => null);
  if (addressees.length === 0) return found;
  const rows = await tx.prepared<{ n: number; reason: SuppressionReason; until: Date | null }>({
    name: 'suppressions.find',
    text: `SELECT a.n::int AS n, s.reason, s.until
           FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a(project_id, person, address, n)
           CROSS JOIN LATERAL (
             SELECT reason, until FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = 'person' AND value = a.person
             UNION ALL
             SELECT reason, until FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = 'address' AND value = a.address
             OFFSET 0
           ) s WHERE s.until IS NULL OR s.until > $4 ORDER BY a.n, s.until NULLS LAST`,
    values: [
      plainList(addressees.map((one) => one.projectId)),
      addressees.map((one) => one.userId),
      addressees.map(({ address }) => (address === null ? null : normaliseAddress(address))),
      new Date(now),
    ],
  });
  for (const { n, reason, until } of rows) found[n - 1] = { reason, until: until?.getTime() ?? null };
  return found;
}

export const SUPPRESSIONS_PAGE_MAX = 1_000;

/** By kind and value, those that are over too; `after` is the last one of the page before. */
export async function listSuppressions(
  tx: Tx,
  page: { projectId: number; after?: { kind: SuppressedKind; value: string } | null; limit: number },
): Promise<Suppression[]> {
  const { projectId, after = null, limit } = page;
  const rows = await tx.query<
    Omit<Suppression, 'until' | 'createdAt'> & { until: Date | null; created_at: Date; created_by: string }
  >(
    `SELECT kind, value, reason, until, created_at, created_by FROM beckon.suppression
     WHERE project_id = $1 AND (kind, value) > ($2, $3) ORDER BY kind, value LIMIT $4`,
    [projectId, after?.kind ?? '', after?.value ?? '', Math.min(limit, SUPPRESSIONS_PAGE_MAX)],
  );
  return rows.map(({ kind, value, reason, until, created_at: createdAt, created_by: createdBy }) => ({
    projectId,
    kind,
    value,
    reason,
    until: until?.getTime() ?? null,
    createdAt: createdAt.getTime(),
    createdBy,
  }));
}
