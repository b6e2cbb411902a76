import type Stripe from 'stripe';
import {
  emptyWorld,
  stripeCustomer,
  stripeInvoice,
  stripePrice,
  stripeProduct,
  stripeSubscription,
  type StripeWorld,
} from './stripe-objects.ts';

const DAY = 86_400;
const MONTH = 30 * DAY;

/**
 * Returns an account with this many customers, the same for the same seed: two years of trials, conversions, upgrades, failed payments and
 * cancellations. The metadata of some customers name no user, and some customers were deleted. Some signed up an hour ago or have a trial
 * that ends in two days: they would get emails if this were live data.
 */
export function stripeAccount({
  customers,
  seed,
  now,
}: {
  customers: number;
  seed: number;
  now: number;
}): StripeWorld {
  const account: Account = { world: emptyWorld(), random: randomOf(seed), now, prices: pricesOf() };
  account.world.prices.push(...account.prices);
  for (const [i, name] of ['Basic', 'Pro', 'Business'].entries()) {
    account.world.products.push(stripeProduct(`prod_${i}`, name));
  }
  for (let i = 0; i < customers; i += 1) addCustomer(account, String(i).padStart(6, '0'));
  return account.world;
}

type Account = { world: StripeWorld; random: () => number; now: number; prices: Stripe.Price[] };

function pricesOf(): Stripe.Price[] {
  return [1_000, 3_000, 9_000].map((amount, i) =>
    stripePrice({ id: `price_${i}`, product: `prod_${i}`, amount }),
  );
}

function addCustomer(account: Account, n: string): void {
  const { world, random, now } = account;
  const id = `cus_${n}`;
  const isFresh = random() < 0.02;
  const created = isFresh ? now - 3_600 : now - Math.floor((0.02 + random()) * 24 * MONTH);
  const metadata: Stripe.Metadata = random() < 0.95 ? { user_id: `user_${n}` } : {};
  const isDeleted = random() < 0.01;
  const named = { email: `person${n}@example.com`, name: `Person ${n}`, metadata };
  if (!isDeleted) world.customers.push(stripeCustomer(id, created, named));
  if (!isFresh) addLife(account, { id, n, created });
}

type Life = { id: string; n: string; created: number };

function addLife({ world, random, now, prices }: Account, { id, n, created }: Life): void {
  const endsSoon = random() < 0.02;
  const trialStart = endsSoon ? now - 12 * DAY : created;
  const trialEnd = trialStart + 14 * DAY;
  const end = Math.min(now, trialEnd + Math.floor(random() * random() * 24 * MONTH));
  const isOver = end < now || random() < 0.2;
  const history: CustomerHistory = { id, n, trialStart, trialEnd, end, plan: 0, prices, random };
  const invoices = billsOf(history);
  const last = prices[history.plan] ?? prices[0];
  if (!last) return;
  const state = isOver && end > trialEnd ? { status: 'canceled', ended_at: end, canceled_at: end } : {};
  const running = trialEnd > now ? { status: 'trialing' } : {};
  world.subscriptions.push(
    stripeSubscription(
      { id: `sub_${n}`, customer: id, created: trialStart, items: [{ price: last }] },
      { trial_start: trialStart, trial_end: trialEnd, ...state, ...running },
    ),
  );
  world.invoices.push(...invoices);
}

type CustomerHistory = Pick<Account, 'prices' | 'random'> & {
  id: string;
  n: string;
  trialStart: number;
  trialEnd: number;
  end: number;
  /** The index of its current price. */
  plan: number;
};

function billsOf(history: CustomerHistory): Stripe.Invoice[] {
  const { trialStart, trialEnd, end, random, prices } = history;
  const invoices = [billOf(history, { created: trialStart, reason: 'subscription_create', amount: 0 })];
  for (let from = trialEnd; from < end; from += MONTH) {
    const isUpgraded = from > trialEnd && random() < 0.05 && history.plan + 1 < prices.length;
    if (isUpgraded) invoices.push(upgradeOf(history, from - 10 * DAY));
    const fails = random() < 0.06;
    invoices.push(billOf(history, { created: from, reason: 'subscription_cycle', attempts: fails ? 3 : 1 }));
  }
  return invoices;
}

type Bill = { created: number; reason: string; amount?: number; attempts?: number };

function billOf(history: CustomerHistory, { created, reason, amount, attempts }: Bill): Stripe.Invoice {
  const price = priceOf(history);
  const line = { price, amount: amount ?? price.unit_amount ?? 0, from: created };
  return invoiceOf(history, { created, reason, lines: [line], ...(attempts ? { attempts } : {}) });
}

function upgradeOf(history: CustomerHistory, from: number): Stripe.Invoice {
  const before = priceOf(history);
  history.plan += 1;
  const lines = [
    { price: before, amount: -Math.floor((before.unit_amount ?? 0) / 3), from, isProration: true },
    {
      price: priceOf(history),
      amount: Math.floor((priceOf(history).unit_amount ?? 0) / 3),
      from,
      isProration: true,
    },
  ];
  return invoiceOf(history, { created: from, reason: 'subscription_update', lines });
}

type Made = {
  created: number;
  reason: string;
  lines: Parameters<typeof stripeInvoice>[0]['lines'];
  attempts?: number;
};

function invoiceOf({ id, n }: CustomerHistory, { created, reason, lines, attempts }: Made): Stripe.Invoice {
  const invoice = { customer: id, subscription: `sub_${n}`, created, reason, lines, status: 'paid' };
  return stripeInvoice({ id: `in_${n}_${created}`, ...invoice }, attempts ? { attempt_count: attempts } : {});
}

function priceOf({ prices, plan }: CustomerHistory): Stripe.Price {
  const price = prices[plan];
  if (!price) throw new Error(`there is no price ${plan}`);
  return price;
}

/** A small, even random number generator for examples: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
