import { afterAll, beforeEach, expect, test } from 'vitest';
import { at, emptyWorld, stripeCustomer } from '../../../../testing/factories/stripe-objects.ts';
import { STRIPE_KEY, stripeServer, type StripeFailure } from '../../../../testing/servers/stripe-server.ts';
import { isStripeKey, openStripe } from './open-stripe.ts';
import { StripeRefusal } from './refusal.ts';

const BEGAN = at('2026-02-01');
const world = emptyWorld();
for (let i = 0; i < 250; i += 1) {
  world.customers.push(stripeCustomer(`cus_${String(i).padStart(3, '0')}`, BEGAN + Math.floor(i / 10)));
}
const stripe = await stripeServer(world);
const waited: number[] = [];
const signal = new AbortController().signal;

afterAll(() => stripe.close());
beforeEach(() => {
  stripe.failures.length = 0;
  stripe.requests.length = 0;
  stripe.headers.length = 0;
  stripe.keys.clear();
  stripe.keys.set(STRIPE_KEY, new Set());
  waited.length = 0;
});

const open = (key = STRIPE_KEY) =>
  openStripe({ key, address: stripe.address, wait: (ms) => (waited.push(ms), Promise.resolve()) });

async function customers(after: { id: string; created: number } | null = null, asOf = BEGAN + 1_000) {
  const reader = await open();
  try {
    return await reader.page('customer', { asOf, after, signal });
  } finally {
    reader.close();
  }
}

async function refusalOf(promise: Promise<unknown>): Promise<StripeRefusal> {
  const error = await promise.catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(StripeRefusal);
  return error as StripeRefusal;
}

test('reads pages of a hundred, newest first, each object once, in the supported version', async () => {
  const seen: string[] = [];
  let after: { id: string; created: number } | null = null;
  const sizes: number[] = [];
  do {
    const page = await customers(after);
    seen.push(...page.facts.map(({ id }) => id));
    sizes.push(page.facts.length);
    after = page.next;
  } while (after);
  expect(sizes).toEqual([100, 100, 50]);
  expect(seen).toEqual(world.customers.map(({ id }) => id).toReversed());
  expect(new Set(stripe.headers.map((headers) => headers['stripe-version']))).toEqual(
    new Set(['2026-10-28.endive']),
  );
  expect(stripe.headers.some((headers) => headers['x-stripe-client-telemetry'])).toBe(false);
});

test('does not read objects newer than the import', async () => {
  const { facts } = await customers(null, BEGAN + 1);
  expect(facts.map(({ id }) => id).toSorted()).toEqual(world.customers.slice(0, 20).map(({ id }) => id));
});

test('continues after a deleted object by its time', async () => {
  const { facts } = await customers({ id: 'cus_deleted', created: BEGAN + 5 });
  expect(facts[0]?.id).toBe('cus_059');
});

test.each<[string, StripeFailure[], number[]]>([
  ['429 with a time', [{ status: 429, code: 'rate_limit', headers: { 'retry-after': '7' } }], [7_000]],
  [
    '429 that wants a day',
    [{ status: 429, code: 'rate_limit', headers: { 'retry-after': '86400' } }],
    [120_000],
  ],
  [
    'a lock',
    [
      { status: 429, code: 'lock_timeout' },
      { status: 409, code: 'lock_timeout' },
    ],
    [0, 0],
  ],
  ['5xx', [{ status: 500 }, { status: 502 }, { status: 503 }], [0, 0, 0]],
  // The package itself retries once.
  ['a connection that is cut', ['reset', 'reset'], [0]],
])('waits after %s, and then succeeds', async (_name, failures, waits) => {
  stripe.failures.push(...failures);
  const { facts } = await customers();
  expect(facts).toHaveLength(100);
  expect(stripe.failures).toEqual([]);
  expect(waited).toHaveLength(waits.length);
  for (const [i, ms] of waits.entries()) {
    if (ms > 0) expect(waited[i]).toBe(ms);
    // Half a second, doubled each time, with at least half of that after jitter.
    else expect(waited[i]).toBeGreaterThanOrEqual((500 * 2 ** i) / 2);
  }
});

test('gives up after eight attempts with growing delays', async () => {
  stripe.failures.push(...Array.from({ length: 20 }, (): StripeFailure => ({ status: 503 })));
  expect((await refusalOf(customers())).reason).toBe('busy');
  expect(stripe.requests).toHaveLength(8);
  expect(waited.every((ms) => ms <= 30_000)).toBe(true);
});

test('reports a revoked, wrong or missing key without repeating it', async () => {
  stripe.keys.clear();
  const refused = await refusalOf(customers());
  expect(refused.reason).toBe('key_refused');
  expect(refused.message).not.toContain(STRIPE_KEY.slice(8));
  expect(refused.message).toMatchInlineSnapshot(
    `"Stripe rejected the key, because it is wrong, expired or revoked."`,
  );
  expect((await refusalOf(open('pk_live_51PublicKey'))).reason).toBe('key_refused');
  expect(stripe.requests).toHaveLength(1);
});

test('names all missing permissions of a key at once', async () => {
  stripe.keys.set(STRIPE_KEY, new Set(['invoices', 'prices']));
  const reader = await open();
  const refused = await refusalOf(reader.checkPermissions(signal));
  reader.close();
  expect(refused.reason).toBe('permission_missing');
  expect(refused.message).toMatchInlineSnapshot(
    `"The key cannot read Invoices, Prices. Give it “Read” for each of these in Stripe."`,
  );
});

test('stops waiting when the import is aborted', async () => {
  const stop = new AbortController();
  stripe.failures.push('silent');
  const reader = await open();
  const page = reader.page('customer', { asOf: BEGAN, after: null, signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(page).rejects.toThrow('stopped');
  reader.close();
});

test.each([
  ['rk_live_51Abcdefgh', true],
  ['sk_test_51Abcdefgh', true],
  ['pk_live_51Abcdefgh', false],
  ['rk_live_', false],
  ['rk_live_51Abc\ndefgh', false],
])('isStripeKey of %s is %s', (key, expected) => {
  expect(isStripeKey(key)).toBe(expected);
});
