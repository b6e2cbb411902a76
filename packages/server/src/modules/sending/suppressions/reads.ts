import { normaliseAddress } from '../../../platform/net/address.ts';
import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { HASHED_KINDS, type SuppressionReason } from './suppression.ts';

export type Addressee = { projectId: number; userId: string; address: string | null };
/** `fromErased`: it was made for a user with the same address, or the same id, who has been erased since. */
export type FoundSuppression = { reason: SuppressionReason; until: number | null; fromErased?: true };
type FoundRow = { reason: SuppressionReason; until: Date | null; from_erased: boolean };

/**
 * Returns what currently suppresses the user or the address, in the order of the input, or null. If both are suppressed, the suppression
 * that lasts longer is returned. Otherwise the end of a snooze would only reveal the other one. Reads a table of the outcomes module.
 */
export async function findSuppressions(
  tx: Tx,
  addressees: Addressee[],
  now: number,
): Promise<(FoundSuppression | null)[]> {
  const found = addressees.map((): FoundSuppression | null => null);
  if (addressees.length === 0) return found;
  const rows = await tx.prepared<FoundRow & { n: number }>({
    name: 'suppressions.find',
    text: `SELECT a.n::int AS n, s.reason, s.until, s.from_erased
           FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a(project_id, person, address, n)
           CROSS JOIN LATERAL (
             SELECT reason, until, from_erased FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = 'user' AND value = a.person
             UNION ALL
             SELECT reason, until, from_erased FROM beckon.suppression
             WHERE project_id = a.project_id AND kind = 'email' AND value = a.address
             OFFSET 0
           ) s WHERE s.until IS NULL OR s.until > $4 ORDER BY a.n, s.until NULLS LAST`,
    values: [...targetColumns(addressees), new Date(now)],
  });
  for (const row of rows) found[row.n - 1] = toFound(row);
  return found;
}

function toFound({ reason, until, from_erased: fromErased }: FoundRow): FoundSuppression {
  return { reason, until: until?.getTime() ?? null, ...(fromErased && { fromErased }) };
}

/**
 * Returns all suppressions of this user and this address that are in force now. A page for the recipient lists both. Reads a table of the
 * outcomes module.
 */
export async function listInForce(
  tx: Tx,
  { projectId, userId, address, now }: { projectId: number; userId: string; address: string; now: number },
): Promise<FoundSuppression[]> {
  const rows = await tx.query<FoundRow>(
    `SELECT reason, until, from_erased FROM beckon.suppression
     WHERE project_id = $1 AND (kind, value) IN (('user', $2), ('email', $3)) AND (until IS NULL OR until > $4)
     ORDER BY until NULLS FIRST`,
    [projectId, userId, normaliseAddress(address), new Date(now)],
  );
  return rows.map(toFound);
}

/**
 * Returns the topics that each user, or anyone with the same address, is unsubscribed from. The order is that of the input. Reads a table
 * of the outcomes module.
 */
export async function findTopicUnsubscribes(tx: Tx, addressees: Addressee[]): Promise<ReadonlySet<string>[]> {
  const found = addressees.map(() => new Set<string>());
  if (addressees.length === 0) return found;
  const rows = await tx.prepared<{ n: number; topic: string }>({
    name: 'suppressions.unsubscribed_topics',
    text: `SELECT a.n::int AS n, r.topic
           FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a(project_id, person, address, n)
           CROSS JOIN LATERAL (
             SELECT topic FROM beckon.topic_unsubscribe
             WHERE project_id = a.project_id AND kind = 'user' AND value = a.person
             UNION ALL
             SELECT topic FROM beckon.topic_unsubscribe
             WHERE project_id = a.project_id AND kind = 'email' AND value = a.address
             OFFSET 0
           ) r`,
    values: targetColumns(addressees),
  });
  for (const { n, topic } of rows) found[n - 1]?.add(topic);
  return found;
}

function targetColumns(addressees: Addressee[]): unknown[] {
  return [
    plainList(addressees.map((addressee) => addressee.projectId)),
    addressees.map((addressee) => addressee.userId),
    addressees.map(({ address }) => (address === null ? null : normaliseAddress(address))),
  ];
}

/** Returns the projects that keep suppressions or refused topics of erased users. Reads tables of the outcomes module. */
export async function listHashingProjects(tx: Tx, projectIds: number[]): Promise<Set<number>> {
  const rows = await tx.prepared<{ project_id: number }>({
    name: 'suppressions.hashing',
    text: `SELECT input.project_id FROM unnest($1::bigint[]) AS input(project_id)
           WHERE EXISTS (SELECT FROM beckon.suppression s WHERE s.project_id = input.project_id AND s.kind = ANY ($2::text[]))
              OR EXISTS (SELECT FROM beckon.topic_unsubscribe r WHERE r.project_id = input.project_id AND r.kind = ANY ($2::text[]))`,
    values: [plainList(projectIds), HASHED_KINDS],
  });
  return new Set(rows.map((row) => row.project_id));
}
