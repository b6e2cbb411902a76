import type { Tx } from '../../io/db/index.ts';

/** When letters that count for the caps were claimed for these addresses since then, newest first. */
export async function findClaims(
  tx: Tx,
  { projectId, addresses, since }: { projectId: number; addresses: string[]; since: number },
): Promise<Map<string, number[]>> {
  const claims = new Map<string, number[]>();
  if (addresses.length === 0) return claims;
  const rows = await tx.prepared<{ address: string; claimed_ms: number }>({
    name: 'sending.claims',
    text: `SELECT m.address, (extract(epoch FROM m.claimed_at) * 1000)::float8 AS claimed_ms
           FROM unnest($2::text[]) AS a(address)
           JOIN beckon.message m ON m.project_id = $1 AND m.address = a.address AND m.counts AND m.claimed_at > $3
           WHERE m.state <> 'failed'
           ORDER BY m.claimed_at DESC`,
    values: [projectId, addresses, new Date(since)],
  });
  for (const { address, claimed_ms: at } of rows) {
    const known = claims.get(address);
    if (known) known.push(Math.round(at));
    else claims.set(address, [Math.round(at)]);
  }
  return claims;
}

/** The same, but for the letters of one rule, since then and in any order of addresses: for whoever rehearses that rule. */
export async function findOtherClaims(
  tx: Tx,
  asked: { projectId: number; addresses: string[]; since: number; exceptRuleId: string },
): Promise<Map<string, number[]>> {
  const { projectId, addresses, since, exceptRuleId } = asked;
  const rows = await tx.query<{ address: string; claimed_at: Date }>(
    `SELECT m.address, m.claimed_at FROM unnest($2::text[]) AS a(address)
     JOIN beckon.message m ON m.project_id = $1 AND m.address = a.address AND m.counts AND m.claimed_at > $3
     WHERE m.state <> 'failed' AND m.rule_id <> $4 ORDER BY m.claimed_at DESC`,
    [projectId, addresses, new Date(since), exceptRuleId],
  );
  const byAddress = Map.groupBy(rows, ({ address }) => address);
  return new Map(
    [...byAddress].map(([address, some]) => [address, some.map((row) => row.claimed_at.getTime())]),
  );
}

export type StaleMessage = { projectId: number; draftId: string };

/** Claimed so long ago that whoever had it in hand is gone: nobody knows what became of it. */
export async function listStale(tx: Tx, before: Date): Promise<StaleMessage[]> {
  const rows = await tx.query<{ project_id: number; draft_id: string }>(
    `SELECT project_id, draft_id FROM beckon.message
     WHERE state IN ('claimed', 'submitting') AND claimed_at < $1 LIMIT 1000`,
    [before],
  );
  return rows.map((row) => ({ projectId: row.project_id, draftId: row.draft_id }));
}
