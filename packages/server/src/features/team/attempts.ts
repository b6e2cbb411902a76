import { addressGroup } from '../../base/address-group.ts';
import { Fault } from '../../base/fault.ts';
import { sha256 } from '../../base/hash.ts';
import type { Database } from '../../io/db/index.ts';
import { countUse, forgiveAttempts } from './attempts-store.ts';

/**
 * Who tries passwords is slowed down by address and by account, over all processes. A try is counted before it is looked at, so
 * that a hundred at once are a hundred; one that was right is taken back.
 */
const WINDOW_MS = 15 * 60_000;
const PER_ACCOUNT = 10;
const PER_ADDRESS = 50;

type Deps = { db: Pick<Database, 'query' | 'prepared' | 'clock'> };
export type Trying = { address: string; email?: string };

export async function countAttempt(deps: Deps, trying: Trying): Promise<void> {
  const { address, account } = keysOf(trying);
  const byAddress = { key: address, most: PER_ADDRESS };
  await countWithin(deps, account === '' ? [byAddress] : [byAddress, { key: account, most: PER_ACCOUNT }]);
}

/**
 * So many within a quarter of an hour; each of these counts one more. One after the other: whoever is over a bound of their own
 * takes nothing of one that they share with others.
 */
export async function countWithin({ db }: Deps, bounds: { key: string; most: number }[]): Promise<void> {
  const now = db.clock.now();
  const window = { now: new Date(now), windowEndsAt: new Date(now + WINDOW_MS) };
  for (const { key, most } of bounds) {
    const { count, windowEndsAt } = await countUse(db, { key, ...window });
    if (count <= most) continue;
    throw new Fault('rate_limited', { retryAfterS: Math.ceil((windowEndsAt.getTime() - now) / 1_000) });
  }
}

/** Each leaves a row until it is answered or out of date; an office opens many from one address. */
const PASSKEYS_BY_ADDRESS = 300;

export async function countPasskey(deps: Deps, address: string): Promise<void> {
  await countWithin(deps, [{ key: `passkey ${addressGroup(address)}`, most: PASSKEYS_BY_ADDRESS }]);
}

export async function forgiveAttempt({ db }: Deps, trying: Trying): Promise<void> {
  await forgiveAttempts(db, keysOf(trying));
}

/** For longer than an authenticator app's code is good, whatever the two clocks. */
const CODE_SPENT_MS = 5 * 60_000;

/** False: it was used already. Whoever saw it typed comes too late, and so does the second of two at once. */
export async function spendCode(
  { db }: Deps,
  { personId, code }: { personId: string; code: string },
): Promise<boolean> {
  const now = db.clock.now();
  const window = { now: new Date(now), windowEndsAt: new Date(now + CODE_SPENT_MS) };
  const { count } = await countUse(db, { key: `code ${sha256(`${personId}\n${code}`)}`, ...window });
  return count === 1;
}

/** An account's key is a hash: what strangers type is kept nowhere. */
function keysOf({ address, email }: Trying): { address: string; account: string } {
  return {
    address: `address ${addressGroup(address)}`,
    account: email === undefined ? '' : `account ${sha256(email.trim().toLowerCase())}`,
  };
}
