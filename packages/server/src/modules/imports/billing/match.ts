import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';

export type MatchedBy = 'metadata' | 'email' | 'none';

/** The user that a customer belongs to: null if there is no match, with the reason in plain words. */
export type Match = { userId: string; by: 'metadata' | 'email' } | { userId: null; by: 'none'; why: string };

/**
 * Matches by the user id in the metadata. Without one it matches by email address, if the address leads to exactly one user. Candidates are
 * the known users and those that other customers of the same account name. A guess between two users would show one of them the other's
 * bills.
 */
export function matchCustomer(
  { userId, email, isDeleted }: { userId: string | null; email: string | null; isDeleted: boolean },
  candidates: ReadonlySet<string>,
): Match {
  if (userId !== null) {
    return userId.length <= EXTERNAL_USER_ID_MAX_CHARS
      ? { userId, by: 'metadata' }
      : nobody('The user_id in the metadata of the customer is too long.');
  }
  if (isDeleted) return nobody('The customer was deleted in Stripe.');
  if (email === null)
    return nobody('The customer has neither a user_id in its metadata nor an email address.');
  const [first, second] = candidates;
  if (first === undefined) return nobody('No user has the address of the customer.');
  return second === undefined
    ? { userId: first, by: 'email' }
    : nobody('Several users have the address of the customer.');
}

function nobody(why: string): Match {
  return { userId: null, by: 'none', why };
}
