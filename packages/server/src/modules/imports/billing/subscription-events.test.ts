import { expect, test } from 'vitest';
import { catalogueOf } from './catalog.ts';
import type { InvoiceFacts, PriceFacts, SubscriptionFacts } from './snapshot.ts';
import { majorUnits, subscriptionEvents } from './subscription-events.ts';

const DAY = 86_400;
const START = 1_770_000_000;
const TRIAL_END = START + 14 * DAY;
const PRICE: PriceFacts = {
  id: 'price_1',
  product: 'prod_1',
  name: null,
  interval: 'month',
  intervalCount: 1,
  unitAmount: 1_000,
  isMetered: false,
};
const CATALOGUE = catalogueOf([PRICE], [{ id: 'prod_1', name: 'Basic' }]);

function subscription(more: Partial<SubscriptionFacts>): SubscriptionFacts {
  return {
    id: 'sub_1',
    customer: 'cus_1',
    status: 'trialing',
    created: START,
    startDate: START,
    trialStart: START,
    trialEnd: TRIAL_END,
    canceledAt: null,
    endedAt: null,
    reason: null,
    feedback: null,
    currency: 'usd',
    isInvoiced: false,
    items: [{ price: PRICE, quantity: 1 }],
    ...more,
  };
}

function bill(from: number, more: Partial<InvoiceFacts>): InvoiceFacts {
  const line = {
    price: 'price_1',
    product: 'prod_1',
    amount: 1_000,
    quantity: 1,
    start: from,
    isProration: false,
  };
  const made = { id: `in_${from}`, customer: 'cus_1', subscription: 'sub_1', created: from, currency: 'usd' };
  const paid = {
    status: 'paid',
    amountDue: 1_000,
    attempts: 1,
    finalizedAt: from + 3_600,
    paidAt: from + 3_600,
  };
  return { ...made, ...paid, isInvoiced: false, lines: [line], ...more };
}

type Moment = { at: number; subscription?: Partial<SubscriptionFacts>; invoices: InvoiceFacts[] };

function idsAt({ at, subscription: more = {}, invoices }: Moment): string[] {
  const events = subscriptionEvents(subscription(more), invoices, { catalogue: CATALOGUE, asOf: at });
  return events.map((event) => `${event.object}:${event.fact}:${event.at}`).toSorted();
}

const FREE = bill(START, { amountDue: 0, attempts: 0, paidAt: START, finalizedAt: START });
const NOT_PAID = { paidAt: null, finalizedAt: TRIAL_END + 3_600 };
const PAID_LATE = bill(TRIAL_END, {
  attempts: 3,
  finalizedAt: TRIAL_END + 3_600,
  paidAt: TRIAL_END + 4 * DAY,
});

/** The states of one subscription that Stripe shows over time. */
const MOMENTS: Moment[] = [
  { at: START + DAY, invoices: [FREE] },
  // The trial has ended. The invoice exists but is not final.
  {
    at: TRIAL_END + 600,
    subscription: { status: 'active' },
    invoices: [FREE, bill(TRIAL_END, { status: 'draft', attempts: 0, paidAt: null, finalizedAt: null })],
  },
  {
    at: TRIAL_END + 2 * 3_600,
    subscription: { status: 'past_due' },
    invoices: [FREE, bill(TRIAL_END, { status: 'open', attempts: 1, ...NOT_PAID })],
  },
  {
    at: TRIAL_END + 3 * DAY,
    subscription: { status: 'past_due' },
    invoices: [FREE, bill(TRIAL_END, { status: 'open', attempts: 2, ...NOT_PAID })],
  },
  { at: TRIAL_END + 5 * DAY, subscription: { status: 'active' }, invoices: [FREE, PAID_LATE] },
  {
    at: TRIAL_END + 40 * DAY,
    subscription: { status: 'active', canceledAt: TRIAL_END + 35 * DAY },
    invoices: [FREE, PAID_LATE, bill(TRIAL_END + 30 * DAY, {})],
  },
  {
    at: TRIAL_END + 70 * DAY,
    subscription: { status: 'canceled', canceledAt: TRIAL_END + 35 * DAY, endedAt: TRIAL_END + 60 * DAY },
    invoices: [FREE, PAID_LATE, bill(TRIAL_END + 30 * DAY, {})],
  },
];

test('keeps every event of earlier reads in later reads of a subscription', () => {
  const idsByMoment = MOMENTS.map(idsAt);
  for (const [i, now] of idsByMoment.entries()) {
    for (const before of idsByMoment.slice(0, i)) expect(now).toEqual(expect.arrayContaining(before));
  }
  expect(idsByMoment.at(-1)).toEqual([
    `in_${TRIAL_END}:payment_failed:${TRIAL_END + 3_600}`,
    `sub_1:canceled:${TRIAL_END + 60 * DAY}`,
    `sub_1:started:${TRIAL_END + 4 * DAY}`,
    `sub_1:trial:${START}`,
  ]);
});

test('does not treat a trial granted later as the start of a subscription', () => {
  const late = { trialStart: START + 90 * DAY, trialEnd: START + 104 * DAY, status: 'active' };
  const first = bill(START, { finalizedAt: START, paidAt: START });
  expect(idsAt({ at: START + 120 * DAY, subscription: late, invoices: [first] })).toEqual([
    `sub_1:started:${START}`,
    `sub_1:trial:${START + 90 * DAY}`,
  ]);
});

test('starts a subscription without invoices at its start date', () => {
  const none = { trialStart: null, trialEnd: null, status: 'active' };
  expect(idsAt({ at: START + DAY, subscription: none, invoices: [] })).toEqual([`sub_1:started:${START}`]);
  // After a trial it starts only after the time within which Stripe bills.
  expect(idsAt({ at: TRIAL_END + 60, subscription: { status: 'active' }, invoices: [FREE] })).toHaveLength(1);
  expect(
    idsAt({ at: TRIAL_END + 3 * 3_600, subscription: { status: 'active' }, invoices: [FREE] }),
  ).toHaveLength(2);
});

test.each([
  [1_999, 'usd', 19.99],
  [1_999, 'USD', 19.99],
  [1_500, 'jpy', 1_500],
  [4_525, 'kwd', 4.525],
  // Stripe counts these two in hundredths, although they have no subunit.
  [1_500, 'isk', 15],
  [150_000, 'ugx', 1_500],
  [-643, 'eur', -6.43],
  [0.5, 'usd', 0.01],
  [7, 'bhd', 0.007],
])('majorUnits › converts %d %s to %d major units', (amount, currency, expected) => {
  expect(majorUnits(amount, currency)).toBe(expected);
});
