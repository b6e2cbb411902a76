import type Stripe from 'stripe';
import {
  at,
  emptyWorld,
  type InvoiceInput,
  type LineInput,
  stripeCustomer,
  stripeInvoice,
  stripePrice,
  stripeProduct,
  stripeSubscription,
  type StripeWorld,
} from './stripe-objects.ts';

/** The reference time of all scenarios. */
export const SCENARIOS_AT = Date.parse('2026-06-01T00:00:00.000Z');

const DAY = 86_400;
const BEGAN = at('2026-02-01');

const PRICES = {
  basic: stripePrice({ id: 'price_basic', product: 'prod_basic', amount: 1_000 }),
  pro: stripePrice({ id: 'price_pro', product: 'prod_pro', amount: 3_000 }),
  proYear: stripePrice({ id: 'price_pro_year', product: 'prod_pro', amount: 30_000, interval: 'year' }),
  quarter: stripePrice({ id: 'price_quarter', product: 'prod_basic', amount: 2_700, count: 3 }),
  yen: stripePrice({ id: 'price_yen', product: 'prod_pro', amount: 1_500, currency: 'jpy' }),
  dinar: stripePrice({ id: 'price_dinar', product: 'prod_pro', amount: 4_525, currency: 'kwd' }),
  seat: stripePrice({ id: 'price_seat', product: 'prod_team', amount: 800 }),
  storage: stripePrice({ id: 'price_storage', product: 'prod_storage', amount: 500 }),
  calls: stripePrice({ id: 'price_calls', product: 'prod_calls', amount: 2, isMetered: true }),
  tiers: stripePrice({ id: 'price_tiers', product: 'prod_team', amount: null }),
  /** Its product was deleted. */
  gold: stripePrice({ id: 'price_gold', product: 'prod_gone', amount: 9_900, nickname: 'Gold' }),
} satisfies Record<string, Stripe.Price>;

/** Every scenario is a customer `cus_<name>` whose metadata name the user `<name>`, unless the scenario says otherwise. */
export function scenarioWorld(): StripeWorld {
  const world = emptyWorld();
  world.prices.push(...Object.values(PRICES));
  const names = { basic: 'Basic', pro: 'Pro', team: 'Team', storage: 'Storage', calls: 'Calls' };
  world.products.push(...Object.entries(names).map(([id, name]) => stripeProduct(`prod_${id}`, name)));
  for (const addScenario of SCENARIOS) addScenario(world);
  return world;
}

type Scenario = (world: StripeWorld) => void;
type SubscribeInput = {
  /** Creates the customer too. `null`: the customer was deleted. */
  customer?: Partial<Stripe.Customer> | null;
  price: Stripe.Price;
  quantity?: number;
  created?: number;
  more?: Partial<Stripe.Subscription>;
  items?: { price: Stripe.Price; quantity?: number }[];
  /** By default `sub_<name>`. */
  sub?: string;
};

function subscribe(world: StripeWorld, name: string, input: SubscribeInput): void {
  const { price, quantity, created = BEGAN, more = {}, sub = `sub_${name}` } = input;
  const items = input.items ?? [{ price, ...(quantity ? { quantity } : {}) }];
  world.subscriptions.push(stripeSubscription({ id: sub, customer: `cus_${name}`, created, items }, more));
  if (input.customer === null || world.customers.some(({ id }) => id === `cus_${name}`)) return;
  const metadata = { user_id: name };
  world.customers.push(stripeCustomer(`cus_${name}`, created - 3_600, { metadata, ...input.customer }));
}

type Billed = Partial<InvoiceInput> & {
  created: number;
  lines: LineInput[];
  more?: Partial<Stripe.Invoice>;
};

function bill(world: StripeWorld, name: string, billed: Billed): void {
  const { more = {}, ...fields } = billed;
  const id = `in_${name}_${world.invoices.length}`;
  const invoice = { subscription: `sub_${name}`, reason: 'subscription_cycle', status: 'paid', ...fields };
  world.invoices.push(stripeInvoice({ id, customer: `cus_${name}`, ...invoice }, more));
}

/** Adds the first invoice, paid at once. */
function firstBill(
  world: StripeWorld,
  name: string,
  line: Partial<LineInput> & { price: Stripe.Price },
): void {
  const from = line.from ?? BEGAN;
  const lines = [{ amount: line.price.unit_amount ?? 0, ...line, from }];
  bill(world, name, { created: from, reason: 'subscription_create', lines, more: paidAt(from) });
}

function paidAt(when: number, finalized = when): Partial<Stripe.Invoice> {
  const never = { marked_uncollectible_at: null, voided_at: null };
  return { status_transitions: { ...never, finalized_at: finalized, paid_at: when } };
}

function trial(from: number, days: number): Partial<Stripe.Subscription> {
  return { trial_start: from, trial_end: from + days * DAY };
}

function ended(when: number, canceledAt = when, reason: string | null = null): Partial<Stripe.Subscription> {
  const cancellation_details = { comment: null, feedback: null, feedback_option: null, reason };
  return { status: 'canceled', ended_at: when, canceled_at: canceledAt, cancellation_details };
}

const MARCH = at('2026-03-01');
const cycle = (price: Stripe.Price, more: Partial<LineInput> = {}): LineInput => ({
  price,
  amount: price.unit_amount ?? 0,
  from: MARCH,
  ...more,
});

const TRIALS: Scenario[] = [
  (world) => {
    const from = at('2026-01-01T10:00:00Z');
    subscribe(world, 'converts', { price: PRICES.pro, created: from, more: trial(from, 14) });
    firstBill(world, 'converts', { price: PRICES.pro, from, amount: 0 });
    const end = from + 14 * DAY;
    bill(world, 'converts', { created: end, lines: [cycle(PRICES.pro, { from: end })] });
  },
  (world) => {
    const end = BEGAN + 7 * DAY;
    subscribe(world, 'lapses', { price: PRICES.pro, more: { ...trial(BEGAN, 7), ...ended(end, BEGAN) } });
    firstBill(world, 'lapses', { price: PRICES.pro, amount: 0 });
  },
  (world) => {
    const from = at('2026-05-25');
    const more = { ...trial(from, 14), status: 'trialing' };
    subscribe(world, 'running', { price: PRICES.pro, created: from, more });
    firstBill(world, 'running', { price: PRICES.pro, from, amount: 0 });
  },
  (world) => {
    // The first payment after the trial fails and succeeds three days later.
    const end = BEGAN + 14 * DAY;
    subscribe(world, 'late', { price: PRICES.basic, more: trial(BEGAN, 14) });
    firstBill(world, 'late', { price: PRICES.basic, amount: 0 });
    const lines = [cycle(PRICES.basic, { from: end })];
    const more = { attempt_count: 2, ...paidAt(end + 3 * DAY, end + 3_600) };
    bill(world, 'late', { created: end, lines, more });
  },
  (world) => {
    // The plan starts only when the invoice for the time after the trial is paid.
    const end = BEGAN + 14 * DAY;
    subscribe(world, 'owes', { price: PRICES.basic, more: { ...trial(BEGAN, 14), status: 'past_due' } });
    firstBill(world, 'owes', { price: PRICES.basic, amount: 0 });
    const lines = [cycle(PRICES.basic, { from: end })];
    bill(world, 'owes', { created: end, status: 'open', lines, more: { attempt_count: 1 } });
  },
  (world) => {
    const more = { ...trial(BEGAN, 14), start_date: BEGAN };
    subscribe(world, 'tried_up', { price: PRICES.pro, more });
    firstBill(world, 'tried_up', { price: PRICES.basic, amount: 0 });
    const changed = at('2026-02-05');
    bill(world, 'tried_up', {
      created: changed,
      reason: 'subscription_update',
      lines: [
        { price: PRICES.basic, amount: 0, from: changed, isProration: true },
        { price: PRICES.pro, amount: 0, from: changed, isProration: true },
      ],
    });
    const end = BEGAN + 14 * DAY;
    bill(world, 'tried_up', { created: end, lines: [cycle(PRICES.pro, { from: end })] });
  },
];

const CHANGES: Scenario[] = [
  (world) => {
    subscribe(world, 'upgrades', { price: PRICES.pro });
    firstBill(world, 'upgrades', { price: PRICES.basic });
    const changed = at('2026-02-11');
    bill(world, 'upgrades', {
      created: changed,
      reason: 'subscription_update',
      lines: [
        { price: PRICES.basic, amount: -643, from: changed, isProration: true },
        { price: PRICES.pro, amount: 1_929, from: changed, isProration: true },
      ],
    });
    bill(world, 'upgrades', { created: MARCH, lines: [cycle(PRICES.pro)] });
  },
  (world) => {
    // A schedule changes the plan at the end of the period: nothing is prorated.
    subscribe(world, 'downgrades', { price: PRICES.basic });
    firstBill(world, 'downgrades', { price: PRICES.pro });
    bill(world, 'downgrades', { created: MARCH, lines: [cycle(PRICES.basic)] });
  },
  (world) => {
    // Stripe's default: prorations wait for the invoice of the next period.
    subscribe(world, 'waits', { price: PRICES.basic });
    firstBill(world, 'waits', { price: PRICES.pro });
    const changed = at('2026-02-15');
    const prorations = [
      { price: PRICES.pro, amount: -1_500, from: changed, isProration: true },
      { price: PRICES.basic, amount: 500, from: changed, isProration: true },
    ];
    bill(world, 'waits', { created: MARCH, lines: [...prorations, cycle(PRICES.basic)] });
  },
  (world) => {
    subscribe(world, 'yearly', { price: PRICES.proYear });
    firstBill(world, 'yearly', { price: PRICES.pro });
    const changed = at('2026-02-10');
    bill(world, 'yearly', {
      created: changed,
      reason: 'subscription_update',
      lines: [
        { price: PRICES.pro, amount: -2_036, from: changed, isProration: true },
        { price: PRICES.proYear, amount: 30_000, from: changed },
      ],
    });
  },
  (world) => {
    subscribe(world, 'seats', { price: PRICES.seat, quantity: 5 });
    firstBill(world, 'seats', { price: PRICES.seat, quantity: 3, amount: 2_400 });
    const changed = at('2026-02-20');
    bill(world, 'seats', {
      created: MARCH,
      lines: [
        { price: PRICES.seat, amount: -771, quantity: 3, from: changed, isProration: true },
        { price: PRICES.seat, amount: 1_286, quantity: 5, from: changed, isProration: true },
        cycle(PRICES.seat, { quantity: 5, amount: 4_000 }),
      ],
    });
  },
  (world) => {
    // An add-on is not a change of plan, on however many lines it comes.
    subscribe(world, 'adds', {
      price: PRICES.basic,
      items: [{ price: PRICES.basic }, { price: PRICES.storage }],
    });
    firstBill(world, 'adds', { price: PRICES.basic });
    const added = at('2026-02-15');
    const many = Array.from({ length: 11 }, () => ({
      price: PRICES.storage,
      amount: 250,
      from: added,
      isProration: true,
    }));
    bill(world, 'adds', { created: MARCH, lines: [...many, cycle(PRICES.storage), cycle(PRICES.basic)] });
  },
  (world) => {
    // Only the twelfth line shows the change of plan, and an invoice includes ten lines.
    subscribe(world, 'long', { price: PRICES.pro });
    firstBill(world, 'long', { price: PRICES.basic });
    const usage = Array.from({ length: 11 }, (_, i) => cycle(PRICES.calls, { amount: i }));
    bill(world, 'long', { created: MARCH, lines: [...usage, cycle(PRICES.pro)] });
  },
  (world) => {
    subscribe(world, 'meters', { price: PRICES.calls });
    firstBill(world, 'meters', { price: PRICES.calls, amount: 0, quantity: 0 });
    bill(world, 'meters', {
      created: MARCH,
      lines: [cycle(PRICES.calls, { amount: 84, quantity: 42, from: BEGAN })],
    });
    const april = at('2026-04-01');
    const lines = [cycle(PRICES.calls, { amount: 6, quantity: 3 })];
    bill(world, 'meters', { created: april, lines });
  },
  (world) => {
    // The payment for the change failed, so the plan did not change.
    subscribe(world, 'stays', { price: PRICES.basic });
    firstBill(world, 'stays', { price: PRICES.basic });
    const tried = at('2026-02-15');
    bill(world, 'stays', {
      created: tried,
      reason: 'subscription_update',
      status: 'void',
      lines: [
        { price: PRICES.basic, amount: -500, from: tried, isProration: true },
        { price: PRICES.pro, amount: 1_500, from: tried, isProration: true },
      ],
    });
    bill(world, 'stays', { created: MARCH, lines: [cycle(PRICES.basic)] });
  },
];

const PAYMENTS: Scenario[] = [
  (world) => {
    subscribe(world, 'recovers', { price: PRICES.basic });
    firstBill(world, 'recovers', { price: PRICES.basic });
    const more = { attempt_count: 3, ...paidAt(at('2026-03-06'), MARCH + 3_600) };
    bill(world, 'recovers', { created: MARCH, lines: [cycle(PRICES.basic)], more });
  },
  (world) => {
    const more = ended(at('2026-03-22'), at('2026-03-22'), 'payment_failed');
    subscribe(world, 'loses', { price: PRICES.basic, more });
    firstBill(world, 'loses', { price: PRICES.basic });
    bill(world, 'loses', {
      created: MARCH,
      status: 'uncollectible',
      lines: [cycle(PRICES.basic)],
      more: { attempt_count: 4 },
    });
  },
  (world) => {
    // The first payment never succeeded, so the user never had a plan.
    subscribe(world, 'never', { price: PRICES.basic, more: { status: 'incomplete_expired' } });
    bill(world, 'never', {
      created: BEGAN,
      reason: 'subscription_create',
      status: 'void',
      lines: [cycle(PRICES.basic, { from: BEGAN })],
      more: { attempt_count: 1 },
    });
  },
  (world) => {
    // Paid by bank transfer: it counts from its start, and an unpaid invoice is not a failed payment.
    const collection_method = 'send_invoice';
    subscribe(world, 'transfers', { price: PRICES.quarter, more: { collection_method } });
    bill(world, 'transfers', {
      created: BEGAN,
      reason: 'subscription_create',
      status: 'open',
      lines: [cycle(PRICES.quarter, { from: BEGAN })],
      more: { collection_method },
    });
  },
  (world) => {
    subscribe(world, 'yen', { price: PRICES.yen });
    firstBill(world, 'yen', { price: PRICES.yen });
    const lines = [cycle(PRICES.yen)];
    bill(world, 'yen', { created: MARCH, status: 'open', lines, more: { attempt_count: 1 } });
  },
  (world) => {
    subscribe(world, 'dinar', { price: PRICES.dinar });
    firstBill(world, 'dinar', { price: PRICES.dinar });
  },
  (world) => {
    // Tiered pricing has no unit price. An invoice created by hand belongs to no subscription.
    subscribe(world, 'tiered', { price: PRICES.tiers, quantity: 40 });
    firstBill(world, 'tiered', { price: PRICES.tiers, quantity: 40, amount: 25_000 });
    bill(world, 'tiered', {
      created: MARCH,
      subscription: null,
      reason: 'manual',
      status: 'open',
      lines: [cycle(PRICES.gold)],
      more: { attempt_count: 2 },
    });
  },
];

const ENDS: Scenario[] = [
  (world) => {
    const details = {
      comment: null,
      feedback: 'too_expensive',
      feedback_option: null,
      reason: 'cancellation_requested',
    };
    const more = {
      ...ended(MARCH, at('2026-02-10')),
      cancel_at_period_end: true,
      cancellation_details: details,
    };
    subscribe(world, 'leaves', { price: PRICES.pro, more });
    firstBill(world, 'leaves', { price: PRICES.pro });
  },
  (world) => {
    const more = { cancel_at_period_end: true, canceled_at: at('2026-05-20'), cancel_at: at('2026-07-01') };
    subscribe(world, 'will_leave', { price: PRICES.pro, more });
    firstBill(world, 'will_leave', { price: PRICES.pro });
  },
  (world) => {
    const when = at('2026-02-10T12:00:00Z');
    subscribe(world, 'returns', {
      price: PRICES.basic,
      sub: 'sub_returns_1',
      more: ended(when, when, 'cancellation_requested'),
    });
    const first = { subscription: 'sub_returns_1', reason: 'subscription_create' };
    bill(world, 'returns', {
      ...first,
      created: BEGAN,
      lines: [cycle(PRICES.basic, { from: BEGAN })],
      more: paidAt(BEGAN),
    });
    subscribe(world, 'returns', { price: PRICES.pro, sub: 'sub_returns', created: at('2026-04-01') });
    firstBill(world, 'returns', { price: PRICES.pro, from: at('2026-04-01') });
  },
  (world) => {
    subscribe(world, 'both', { price: PRICES.basic });
    firstBill(world, 'both', { price: PRICES.basic });
    subscribe(world, 'both', { price: PRICES.storage, sub: 'sub_both_2', created: at('2026-02-03') });
    const lines = [cycle(PRICES.storage, { from: at('2026-02-03') })];
    const made = { created: at('2026-02-03'), more: paidAt(at('2026-02-03')) };
    bill(world, 'both', { subscription: 'sub_both_2', reason: 'subscription_create', lines, ...made });
  },
  (world) => {
    // Collection was paused and resumed: the invoices in between are void.
    subscribe(world, 'paused', {
      price: PRICES.basic,
      more: { pause_collection: { behavior: 'void', resumes_at: null } },
    });
    firstBill(world, 'paused', { price: PRICES.basic });
    bill(world, 'paused', { created: MARCH, status: 'void', lines: [cycle(PRICES.basic)] });
  },
  (world) => {
    // Migrated from another provider with its original start date.
    subscribe(world, 'moved', { price: PRICES.basic, more: { start_date: at('2025-06-01') } });
    firstBill(world, 'moved', { price: PRICES.basic });
  },
  (world) => {
    const [product, price] = [PRICES.gold, PRICES.gold];
    subscribe(world, 'gold', { price: product });
    firstBill(world, 'gold', { price });
  },
  (world) => {
    // From the time before Stripe had prices.
    const price = { ...PRICES.basic, id: 'gold-2014', product: 'prod_gone', nickname: null };
    subscribe(world, 'old', { price });
    for (const item of world.subscriptions.at(-1)?.items.data ?? []) Object.assign(item, { price: null });
  },
  (world) => {
    subscribe(world, 'clocked', {
      price: PRICES.pro,
      customer: { test_clock: 'clock_1' },
      more: { test_clock: 'clock_1' },
    });
    bill(world, 'clocked', {
      created: BEGAN,
      reason: 'subscription_create',
      lines: [cycle(PRICES.pro, { from: BEGAN })],
      more: { test_clock: 'clock_1' },
    });
  },
];

const OWNERS: Scenario[] = [
  (world) => {
    subscribe(world, 'gone', { price: PRICES.basic, customer: null });
    firstBill(world, 'gone', { price: PRICES.basic });
  },
  (world) => {
    world.customers.push(
      stripeCustomer('cus_other_field', BEGAN, {
        metadata: { external_user_id: 'other_field' },
        name: 'Ada',
      }),
      stripeCustomer('cus_by_address', BEGAN, {
        email: 'Known@example.com',
        name: 'Not Ada',
        delinquent: true,
      }),
      stripeCustomer('cus_named', BEGAN, {
        email: 'pair@example.com',
        metadata: { user_id: 'pair' },
        name: 'Newest',
      }),
      // Two customers of one user: the other one names the user, this one has the same address and is older.
      stripeCustomer('cus_unnamed', BEGAN - DAY, { email: 'Pair@example.com', name: 'Oldest' }),
      stripeCustomer('cus_two_people', BEGAN, { email: 'shared@example.com' }),
      stripeCustomer('cus_stranger', BEGAN, { email: 'stranger@example.com' }),
      stripeCustomer('cus_odd', BEGAN, { metadata: { user_id: ' odd\0 \ud800' }, name: 'Z\0oe' }),
      stripeCustomer('cus_nothing', BEGAN),
      stripeCustomer('cus_no_mail', BEGAN, { email: 'not an address', metadata: { user_id: 'no_mail' } }),
    );
  },
];

const SCENARIOS: Scenario[] = [...TRIALS, ...CHANGES, ...PAYMENTS, ...ENDS, ...OWNERS];
