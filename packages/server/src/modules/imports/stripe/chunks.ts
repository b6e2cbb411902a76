import { BULK_INGEST_MAX_RECORDS } from '@beckon/contract';
import { type BillingRecords, recordsOf } from '../billing/records.ts';
import type { Catalogue } from '../billing/catalog.ts';
import { iso } from '../../../platform/time/clock.ts';
import type { CustomerHistory } from '../billing/snapshot.ts';
import type { ImportChunk, ImportNote } from '../source.ts';

/** A chunk that is being filled, and how many customers it contains. */
export type PartialChunk = { chunk: ImportChunk & Filled; customers: number };
type Filled = { facts: { [name: string]: number }; notes: ImportNote[] };

export type HistoryContext = {
  catalogue: Catalogue;
  /** In seconds. */
  asOf: number;
  unmatchedAsCustomers: boolean;
  /** True if the objects of this customer were already counted as rows. */
  isCounted: boolean;
  /** How many events of this customer earlier chunks contain. */
  skippedEvents: number;
};

export function begin(): PartialChunk {
  const chunk = { users: [], events: [], rejected: [], rows: 0, position: {}, facts: {}, notes: [] };
  return { chunk, customers: 0 };
}

export function isEmpty({ chunk, customers }: PartialChunk): boolean {
  return customers === 0 && chunk.events.length === 0 && chunk.users.length === 0;
}

/**
 * Adds a customer to the open chunk, and returns the chunks that became full. The boundaries depend only on the contents. A history longer
 * than a chunk is cut too, and only its last part counts as a customer.
 */
export function addHistory(
  begun: PartialChunk,
  history: CustomerHistory,
  context: HistoryContext,
): { full: ImportChunk[]; begun: PartialChunk } {
  const full: ImportChunk[] = [];
  const records = toRecords(history, context);
  const events = records?.events.slice(context.skippedEvents) ?? [];
  const user = context.skippedEvents === 0 ? records?.user : null;
  let now = begun;
  if (!hasCapacity(now, events.length)) {
    full.push(now.chunk);
    now = begin();
  }
  if (user) now.chunk.users.push(user);
  let offset = 0;
  while (events.length - offset > BULK_INGEST_MAX_RECORDS) {
    now.chunk.events.push(...events.slice(offset, offset + BULK_INGEST_MAX_RECORDS));
    offset += BULK_INGEST_MAX_RECORDS;
    now.chunk.position = positionIn(history, context, context.skippedEvents + offset);
    full.push(now.chunk);
    now = begin();
  }
  now.chunk.events.push(...events.slice(offset));
  conclude(now, { history, records, context });
  return { full, begun: now };
}

function hasCapacity({ chunk, customers }: PartialChunk, events: number): boolean {
  if (customers === 0) return true;
  return customers < BULK_INGEST_MAX_RECORDS && chunk.events.length + events <= BULK_INGEST_MAX_RECORDS;
}

function positionIn(
  { facts }: CustomerHistory,
  { isCounted }: HistoryContext,
  events: number | null,
): ImportChunk['position'] {
  return { customer: facts.id, events, isTold: isCounted };
}

function toRecords(history: CustomerHistory, context: HistoryContext): BillingRecords | null {
  const userId = history.userId ?? (context.unmatchedAsCustomers ? history.facts.id : null);
  if (userId === null) return null;
  const { facts: customer, subscriptions, invoices, isKnown, hasAddress, isNewest, isOldest } = history;
  return recordsOf(
    { customer, subscriptions, invoices },
    { userId, isKnown, hasAddress, isNewest, isOldest },
    context,
  );
}

type ConcludeInput = { history: CustomerHistory; records: BillingRecords | null; context: HistoryContext };

/** Adds this customer to the position, the counts and the notes of the chunk. */
function conclude(begun: PartialChunk, { history, records, context }: ConcludeInput): void {
  const { chunk } = begun;
  const { facts: customer, subscriptions, invoices, matchedBy } = history;
  begun.customers += 1;
  chunk.position = positionIn(history, context, null);
  if (!context.isCounted) chunk.rows += 1 + subscriptions.length + invoices.length;
  count(chunk.facts, 'customers', 1);
  count(chunk.facts, 'subscriptions', subscriptions.length);
  count(chunk.facts, 'invoices', invoices.length);
  if (matchedBy === 'none') {
    count(chunk.facts, 'unmatched_customers', 1);
    if (customer.created === null) count(chunk.facts, 'deleted_customers', 1);
    chunk.notes.push({ kind: 'unmatched_customer', subject: customer.id, text: history.matchReason ?? '' });
  } else {
    count(chunk.facts, `matched_by_${matchedBy}`, 1);
  }
  for (const { plan, endsAt } of records?.trialsWithoutReminder ?? []) {
    count(chunk.facts, 'trials_without_reminder', 1);
    chunk.notes.push({
      kind: 'trial_without_reminder',
      subject: history.userId ?? customer.id,
      text: `The trial${plan === null ? '' : ` of ${plan}`} ends at ${iso(endsAt * 1_000)}. No email will be drafted before it.`,
    });
  }
}

function count(facts: Filled['facts'], name: string, more: number): void {
  if (more > 0) facts[name] = (facts[name] ?? 0) + more;
}
