import { normaliseAddress } from '../../../platform/net/address.ts';
import { type Cap, remainingSlots, HAS_SLOT } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { SimulatedEmail } from './emails.ts';

/** How unwritten emails would compete for the frequency caps with the emails that were really sent. */
export type Collisions = {
  /** Emails of the rule that would find no slot. */
  held: { userId: string; at: number }[];
  /** Sent emails of other rules that would have found no slot after those of the rule. */
  displaced: number;
};

type CollisionQuery = { projectId: number; ruleId: string; caps: Cap[] | null; emails: SimulatedEmail[] };

const AT_ONCE = 1_000;

/** Counts emails that find no slot. Such an email takes no slot and is not followed further. */
export async function findCollisions(tx: Tx, query: CollisionQuery): Promise<Collisions> {
  const { projectId, ruleId, caps } = query;
  const collisions: Collisions = { held: [], displaced: 0 };
  const emails = query.emails.filter(({ isCanceled, address }) => !isCanceled && address !== null);
  if (caps === null || emails.length === 0) return collisions;
  const byAddress = Map.groupBy(emails, ({ address }) => normaliseAddress(address ?? ''));
  const addresses = [...byAddress.keys()];
  const firstAt = emails.reduce((first, { leavesAt }) => Math.min(first, leavesAt), Infinity);
  const since = firstAt - Math.max(...caps.map(({ windowMs }) => windowMs));
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const chunk = addresses.slice(from, from + AT_ONCE);
    const claims = await findOtherClaims(tx, { projectId, addresses: chunk, since, exceptRuleId: ruleId });
    for (const address of chunk)
      countCollisions(collisions, caps, {
        emails: byAddress.get(address) ?? [],
        claims: claims.get(address) ?? [],
      });
  }
  collisions.held.sort((a, b) => a.at - b.at || (a.userId < b.userId ? -1 : 1));
  return collisions;
}

type Line = { at: number; email: SimulatedEmail | null };

function countCollisions(
  collisions: Collisions,
  caps: Cap[],
  { emails, claims }: { emails: SimulatedEmail[]; claims: number[] },
): void {
  const line: Line[] = [
    ...claims.map((at) => ({ at, email: null })),
    ...emails.map((email) => ({ at: email.leavesAt, email })),
  ].toSorted((a, b) => a.at - b.at);
  let all: number[] = [];
  let real: number[] = [];
  for (const { at, email } of line) {
    const isFree = remainingSlots(caps, all, at) > 0;
    if (email && !isFree) collisions.held.push({ userId: email.userId, at });
    // An email that was sent although its slots were taken by real emails was sent for another reason, such as other caps at that time.
    else if (!email && !isFree && remainingSlots(caps, real, at) > 0) collisions.displaced += 1;
    if (!email) real = [at, ...real];
    if (!email || isFree) all = [at, ...all];
  }
}

/**
 * Returns when emails that count towards the caps were claimed for these addresses since then, newest first, without the emails of the
 * rule. Reads a table of the sending module.
 */
async function findOtherClaims(
  tx: Tx,
  query: { projectId: number; addresses: string[]; since: number; exceptRuleId: string },
): Promise<Map<string, number[]>> {
  const { projectId, addresses, since, exceptRuleId } = query;
  const rows = await tx.query<{ address: string; claimed_at: Date }>(
    `SELECT m.address, m.claimed_at FROM unnest($2::text[]) AS a(address)
     JOIN beckon.email m ON m.project_id = $1 AND m.address = a.address AND m.counts AND m.claimed_at > $3
     WHERE ${HAS_SLOT} AND m.rule_id <> $4 ORDER BY m.claimed_at DESC`,
    [projectId, addresses, new Date(since), exceptRuleId],
  );
  const byAddress = Map.groupBy(rows, ({ address }) => address);
  return new Map(
    [...byAddress].map(([address, group]) => [address, group.map((row) => row.claimed_at.getTime())]),
  );
}
