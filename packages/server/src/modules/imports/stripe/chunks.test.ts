import { expect, test } from 'vitest';
import type { CustomerHistory, InvoiceFacts, SubscriptionFacts } from '../billing/snapshot.ts';
import { catalogueOf } from '../billing/catalog.ts';
import type { ImportChunk } from '../source.ts';
import { addHistory, type PartialChunk, begin, isEmpty } from './chunks.ts';

const GROUND = {
  catalogue: catalogueOf([], []),
  asOf: 2_000_000_000,
  unmatchedAsCustomers: false,
  isCounted: false,
};

/** A customer whose invoices each failed once. */
function customer(id: string, failures: number): CustomerHistory {
  const named = { email: null, name: null, company: null, currency: null, isDelinquent: null, userId: id };
  return {
    facts: { id, created: 1_700_000_000, ...named },
    matchedBy: 'metadata',
    userId: id,
    matchReason: null,
    isKnown: true,
    hasAddress: false,
    isNewest: true,
    isOldest: true,
    subscriptions: [subscription(id)],
    invoices: Array.from({ length: failures }, (_, i) => failed(id, i)),
  };
}

function subscription(customerId: string): SubscriptionFacts {
  const never = {
    trialStart: null,
    trialEnd: null,
    canceledAt: null,
    endedAt: null,
    reason: null,
    feedback: null,
  };
  const made = {
    created: 1_700_000_000,
    startDate: 1_700_000_000,
    currency: 'usd',
    isInvoiced: false,
    items: [],
  };
  return { id: `sub_${customerId}`, customer: customerId, status: 'incomplete_expired', ...never, ...made };
}

function failed(customerId: string, i: number): InvoiceFacts {
  const at = { created: 1_700_000_000 + i, finalizedAt: 1_700_000_000 + i, paidAt: null };
  const what = { status: 'open', currency: 'usd', amountDue: 100, attempts: 1, isInvoiced: false, lines: [] };
  return { id: `in_${i}`, customer: customerId, subscription: `sub_${customerId}`, ...at, ...what };
}

function cut(customers: CustomerHistory[], skippedEvents = 0): ImportChunk[] {
  const chunks: ImportChunk[] = [];
  let begun: PartialChunk = begin();
  for (const [i, customer] of customers.entries()) {
    const added = addHistory(begun, customer, { ...GROUND, skippedEvents: i === 0 ? skippedEvents : 0 });
    chunks.push(...added.full);
    begun = added.begun;
  }
  return isEmpty(begun) ? chunks : [...chunks, begun.chunk];
}

test('keeps chunks within the size of a bulk request, without losing or repeating records', () => {
  const customers = [
    customer('a', 400),
    customer('b', 700),
    customer('c', 2_500),
    customer('d', 0),
    customer('e', 3),
  ];
  const chunks = cut(customers);
  expect(chunks.map(({ events }) => events.length)).toEqual([400, 700, 1_000, 1_000, 503]);
  expect(chunks.map(({ users }) => users.length)).toEqual([1, 1, 1, 0, 2]);
  const ids = chunks.flatMap(({ events }) =>
    events.map((event) => `${event.external_user_id} ${event.message_id}`),
  );
  expect(new Set(ids).size).toBe(3_603);
  expect(chunks.map(({ position }) => [position['customer'], position['events']])).toEqual([
    ['a', null],
    ['b', null],
    ['c', 1_000],
    ['c', 2_000],
    ['e', null],
  ]);
  expect(chunks.reduce((rows, chunk) => rows + chunk.rows, 0)).toBe(5 + 5 + 3_603);
});

test('continues within a long history where it was cut', () => {
  const customers = [customer('c', 2_500), customer('d', 2)];
  expect(cut(customers, 1_000)).toEqual(cut(customers).slice(1));
  expect(cut(customers, 2_000)).toEqual(cut(customers).slice(2));
});

test('puts 1,000 customers without a history into one chunk', () => {
  const customers = Array.from({ length: 1_001 }, (_, i) => customer(`c${i}`, 0));
  expect(cut(customers).map(({ users }) => users.length)).toEqual([1_000, 1]);
});
