import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';
import { listNamed, listUndecided, type Undecided } from '../billing/reads.ts';
import type { Snapshot } from '../billing/snapshot.ts';
import { type CustomerMatch, moveSnapshot, updateDecisions } from '../billing/store.ts';
import type { StripeSourceOptions } from '../run/deps.ts';
import { findByAddress, findPeople } from '../../users/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';

const AT_ONCE = 500;

/**
 * Matches the next customers to users. This happens once, before any of their records is passed on. Users that the import itself creates
 * must not affect later matches: a second run would otherwise decide differently.
 */
export function matchCustomers(
  db: Pick<Database, 'transaction'>,
  options: StripeSourceOptions,
  snapshot: Snapshot,
): Promise<Snapshot> {
  return db.transaction(async (tx) => {
    const customers = await listUndecided(tx, options, AT_ONCE);
    if (customers.length > 0) {
      await updateDecisions(tx, options, await decide(tx, options, customers));
      return snapshot;
    }
    const matched: Snapshot = { ...snapshot, step: 'done' };
    await moveSnapshot(tx, options, { from: snapshot, to: matched });
    return matched;
  });
}

async function decide(
  tx: Tx,
  options: StripeSourceOptions,
  customers: Undecided[],
): Promise<CustomerMatch[]> {
  const candidates = await candidatesOf(tx, options, customers);
  const matches = customers.map((customer) => ({
    customer,
    match: matchCustomer(
      { userId: customer.namedUserId, email: customer.address, isDeleted: customer.isDeleted },
      candidates.get(customer.address ?? '') ?? new Set(),
    ),
  }));
  // For customers without a match: an earlier import may have created a user under the customer's own id.
  const ids = new Set(matches.map(({ customer, match }) => match.userId ?? customer.id));
  const people = await findPeople(
    tx,
    [...ids].map((userId) => ({ projectId: options.projectId, userId })),
  );
  const existing = new Map(people.map((person) => [person.userId, person]));
  return matches.map(({ customer, match }) => {
    const person = existing.get(match.userId ?? customer.id);
    return {
      customer: customer.id,
      by: match.by,
      userId: match.userId,
      matchReason: match.by === 'none' ? match.why : null,
      isKnown: person !== undefined,
      hasAddress: (person?.email ?? null) !== null,
    };
  });
}

/** Maps each address to the users of the project who have it, and to the users named by other customers with it. */
async function candidatesOf(
  tx: Tx,
  options: StripeSourceOptions,
  customers: Undecided[],
): Promise<Map<string, Set<string>>> {
  const addresses = [
    ...new Set(customers.flatMap(({ address, namedUserId }) => (namedUserId === null && address) || [])),
  ];
  const found = new Map<string, Set<string>>(addresses.map((address) => [address, new Set()]));
  for (const { userId, email } of await findByAddress(tx, options.projectId, addresses)) {
    found.get(email.toLowerCase())?.add(userId);
  }
  for (const { address, namedUserId } of await listNamed(tx, options, addresses))
    found.get(address)?.add(namedUserId);
  return found;
}

/** The user that a customer belongs to: null if there is no match, with the reason in plain words. */
type Match = { userId: string; by: 'metadata' | 'email' } | { userId: null; by: 'none'; why: string };

/**
 * Matches by the user id in the metadata. Without one it matches by email address, if the address leads to exactly one user. Candidates are
 * the known users and those that other customers of the same account name. A guess between two users would show one of them the other's
 * bills.
 */
function matchCustomer(
  { userId, email, isDeleted }: { userId: string | null; email: string | null; isDeleted: boolean },
  candidates: ReadonlySet<string>,
): Match {
  if (userId !== null) {
    return userId.length <= EXTERNAL_USER_ID_MAX_CHARS
      ? { userId, by: 'metadata' }
      : noMatch('The user_id in the metadata of the customer is too long.');
  }
  if (isDeleted) return noMatch('The customer was deleted in Stripe.');
  if (email === null)
    return noMatch('The customer has neither a user_id in its metadata nor an email address.');
  const [first, second] = candidates;
  if (first === undefined) return noMatch('No user has the address of the customer.');
  return second === undefined
    ? { userId: first, by: 'email' }
    : noMatch('Several users have the address of the customer.');
}

function noMatch(why: string): Match {
  return { userId: null, by: 'none', why };
}
