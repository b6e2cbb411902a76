import { addressGroup } from '../../../platform/net/network-address.ts';
import { Fault } from '../../../platform/fault.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import { countUse, decrementCounts, deleteCounts } from './auth-store.ts';

/**
 * Limits on guessing, in windows of 15 minutes, across all processes.
 *
 * A stranger is limited per network, per account and network, and per account across all networks. The last limit is far above the second,
 * so that a single network cannot lock an account. A browser that signed in to the account before has a count of its own, which no stranger
 * can use up. Every attempt is counted before it is checked, so that a hundred concurrent attempts count as a hundred. A correct one is
 * deducted again.
 */
const WINDOW_MS = 15 * 60_000;
/** Across all accounts: an office shares one address. */
const PER_NETWORK = 50;
const PER_SESSION = 10;

type Limits = { perAccountAndNetwork: number; perAccount: number; perKnownBrowser: number };

/**
 * A code has six digits and three of a million are valid at a time, so strangers get fewer tries than for a password. A limit of 20 per
 * window means one hit in 170 days on average, and only for someone who has the password.
 */
export const LIMITS: Record<AttemptKind, Limits> = {
  password: { perAccountAndNetwork: 10, perAccount: 100, perKnownBrowser: 10 },
  code: { perAccountAndNetwork: 5, perAccount: 20, perKnownBrowser: 10 },
  reset: { perAccountAndNetwork: 5, perAccount: 20, perKnownBrowser: 5 },
};

export type AttemptKind = 'password' | 'code' | 'reset';

export type AuthAttempt = {
  kind: AttemptKind;
  address: string;
  /** An email address or the id of a member, whether or not it exists. Null: the account is not known yet. */
  account: string | null;
  /** The id from the cookie of a browser that signed in to this account before. */
  knownBrowser: string | null;
};

export type Bound = { key: string; most: number };
/** `isShared`: other accounts, networks or browsers use up the same count. */
type AttemptBound = Bound & { isShared: boolean };

/** Returns the bounds in this order, so that a client above its own limit uses up nothing of the last, which covers the whole account. */
export function boundsOf({ kind, address, account, knownBrowser }: AuthAttempt): AttemptBound[] {
  const limits = LIMITS[kind];
  if (account !== null && knownBrowser !== null) {
    const key = `${kind} browser ${sha256(knownBrowser)}`;
    return [{ key, most: limits.perKnownBrowser, isShared: false }];
  }
  const network = addressGroup(address);
  const ofNetwork = { key: `address ${network}`, most: PER_NETWORK, isShared: true };
  if (account === null) return [ofNetwork];
  // Text that strangers type is stored as a hash only.
  const key = `${kind} account ${sha256(account.trim().toLowerCase())}`;
  return [
    ofNetwork,
    { key: `${key} ${network}`, most: limits.perAccountAndNetwork, isShared: false },
    { key, most: limits.perAccount, isShared: true },
  ];
}

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'> };

export function countAttempt(deps: Deps, attempt: AuthAttempt): Promise<void> {
  return countWithin(deps, boundsOf(attempt));
}

/**
 * Deducts the counts of a correct attempt. The count of this browser or network for the account is reset. Shared counts lose only this
 * attempt. Otherwise each sign-in of the owner would give strangers a fresh set of guesses.
 */
export async function forgiveAttempt({ db }: Deps, attempt: AuthAttempt): Promise<void> {
  const bounds = boundsOf(attempt);
  await deleteCounts(
    db,
    bounds.filter(({ isShared }) => !isShared).map(({ key }) => key),
  );
  await decrementCounts(
    db,
    bounds.filter(({ isShared }) => isShared).map(({ key }) => key),
  );
}

/** Counts one use of each bound and refuses at the first that is exceeded. */
export async function countWithin({ db }: Deps, bounds: Bound[]): Promise<void> {
  const now = db.clock.now();
  const window = { now: new Date(now), windowEndsAt: new Date(now + WINDOW_MS) };
  for (const { key, most } of bounds) {
    const { count, windowEndsAt } = await countUse(db, { key, ...window });
    if (count <= most) continue;
    throw new Fault('rate_limited', { retryAfterS: Math.ceil((windowEndsAt.getTime() - now) / 1_000) });
  }
}

/** Limits work that costs time and concerns no account yet, such as hashing the password of a new account. */
export function countAddress(deps: Deps, address: string): Promise<void> {
  return countAttempt(deps, { kind: 'password', address, account: null, knownBrowser: null });
}

export function forgiveAddress(deps: Deps, address: string): Promise<void> {
  return forgiveAttempt(deps, { kind: 'password', address, account: null, knownBrowser: null });
}

/** Limits passwords and codes that are typed while signed in: an open browser allows no faster guessing than the sign-in form. */
export function countSessionAttempt(deps: Deps, sessionId: string): Promise<void> {
  return countWithin(deps, [{ key: sessionKey(sessionId), most: PER_SESSION }]);
}

export function forgiveSessionAttempt({ db }: Deps, sessionId: string): Promise<void> {
  return deleteCounts(db, [sessionKey(sessionId)]);
}

function sessionKey(sessionId: string): string {
  return `session ${sha256(sessionId)}`;
}

/** Each challenge leaves a row until it is answered or expires. An office opens many from one address. */
const PASSKEYS_BY_ADDRESS = 300;

export async function countPasskey(deps: Deps, address: string): Promise<void> {
  await countWithin(deps, [{ key: `passkey ${addressGroup(address)}`, most: PASSKEYS_BY_ADDRESS }]);
}

/** Longer than the code of an authenticator app is valid, whatever the difference of the two clocks. */
const CODE_SPENT_MS = 5 * 60_000;

/** Returns false if the code was used already, for example by someone who saw it typed. */
export async function spendCode(
  { db }: Deps,
  { memberId, code }: { memberId: string; code: string },
): Promise<boolean> {
  const now = db.clock.now();
  const window = { now: new Date(now), windowEndsAt: new Date(now + CODE_SPENT_MS) };
  const { count } = await countUse(db, { key: `code ${sha256(`${memberId}\n${code}`)}`, ...window });
  return count === 1;
}
