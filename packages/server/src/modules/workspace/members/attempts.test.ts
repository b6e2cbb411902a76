import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { Fault } from '../../../platform/fault.ts';
import { type AuthAttempt, boundsOf, countAttempt, forgiveAttempt, LIMITS } from './attempts.ts';

const MINUTE_MS = 60_000;
const clock = fixedClock();
const db = await openTestDatabase(clock);

async function isAdmitted(attempt: AuthAttempt): Promise<boolean> {
  try {
    await countAttempt({ db }, attempt);
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'rate_limited') return false;
    throw error;
  }
}

const ACCOUNT = 'ada@example.com';
const OWN_NETWORK = '198.51.100.7';
const attackers = (network: number): string => `203.0.${network >> 8}.${network & 255}`;
const stranger = (address: string): AuthAttempt => ({
  kind: 'password',
  address,
  account: ACCOUNT,
  knownBrowser: null,
});
const knownAttempt: AuthAttempt = { ...stranger(OWN_NETWORK), knownBrowser: 'laptop' };

/** Each run begins with empty counts. */
const fresh = async (): Promise<void> => {
  await db.query('DELETE FROM beckon.team_attempt');
};

describe('countAttempt', () => {
  test('admits the owner from another network and from a known browser, regardless of attempts from one network', async () => {
    const step = fc.constantFrom('attack' as const, 'attack' as const, 'attack' as const, 'own', 'known');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        await fresh();
        const wrong = { own: 0, known: 0 };
        for (const origin of steps) {
          if (origin === 'attack') {
            await isAdmitted(stranger(attackers(1)));
            continue;
          }
          // The owner mistypes twice, then gets it right.
          const attempt = origin === 'own' ? stranger(OWN_NETWORK) : knownAttempt;
          expect(await isAdmitted(attempt)).toBe(true);
          wrong[origin] += 1;
          if (wrong[origin] % 3 === 0) await forgiveAttempt({ db }, attempt);
        }
      }),
      { numRuns: 12 },
    );
  });

  test('limits guesses by strangers against one account across any number of networks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 150, maxLength: 200 }),
        fc.nat({ max: 20 }),
        async (networks, ownerEvery) => {
          await fresh();
          const guesses = new Map<string, number>();
          for (const [at, network] of networks.entries()) {
            const address = attackers(network);
            if (await isAdmitted(stranger(address))) guesses.set(address, (guesses.get(address) ?? 0) + 1);
            // The owner signs in repeatedly, which must not give strangers a new set of guesses.
            if (ownerEvery > 0 && at % ownerEvery === 0 && (await isAdmitted(stranger(OWN_NETWORK))))
              await forgiveAttempt({ db }, stranger(OWN_NETWORK));
          }
          const { perAccountAndNetwork, perAccount } = LIMITS.password;
          expect(Math.max(...guesses.values())).toBeLessThanOrEqual(perAccountAndNetwork);
          const total = [...guesses.values()].reduce((sum, count) => sum + count, 0);
          expect(total).toBeLessThanOrEqual(perAccount);
          // Even then, a known browser has a count of its own.
          expect(await isAdmitted(knownAttempt)).toBe(true);
        },
      ),
      { numRuns: 6 },
    );
  });

  test('limits the guesses of a known browser', async () => {
    await fresh();
    const admitted: boolean[] = [];
    for (let at = 0; at < 12; at += 1) admitted.push(await isAdmitted(knownAttempt));
    expect(admitted.filter(Boolean)).toHaveLength(LIMITS.password.perKnownBrowser);
    expect(await isAdmitted(stranger(OWN_NETWORK))).toBe(true);
  });

  test('counts passwords, codes and reset requests of an account separately, and admits again after 15 minutes', async () => {
    await fresh();
    const code = { ...stranger(attackers(1)), kind: 'code' } as const;
    for (let at = 0; at < LIMITS.code.perAccountAndNetwork; at += 1)
      expect(await isAdmitted(code)).toBe(true);
    expect(await isAdmitted(code)).toBe(false);
    expect(await isAdmitted(stranger(attackers(1)))).toBe(true);
    expect(await isAdmitted({ ...code, kind: 'reset' })).toBe(true);
    clock.advance(15 * MINUTE_MS);
    expect(await isAdmitted(code)).toBe(true);
  });

  test('counts each of many concurrent attempts', async () => {
    await fresh();
    const admitted = await Promise.all(Array.from({ length: 30 }, () => isAdmitted(stranger(attackers(1)))));
    expect(admitted.filter(Boolean)).toHaveLength(LIMITS.password.perAccountAndNetwork);
  });
});

describe('boundsOf', () => {
  test("groups addresses of one IPv6 network, and stores neither the account's address nor the browser's id", () => {
    const [ofNetwork, ofPair] = boundsOf(stranger('2001:db8:0:1::1'));
    const again = boundsOf(stranger('2001:db8:0:1::ffff'));
    expect([ofNetwork?.key, ofPair?.key]).toEqual([again[0]?.key, again[1]?.key]);
    const keys = [...boundsOf(stranger(OWN_NETWORK)), ...boundsOf(knownAttempt)]
      .map(({ key }) => key)
      .join(' ');
    expect(keys).not.toContain('ada');
    expect(keys).not.toContain('laptop');
  });
});
