import { type Catalogue, catalogueOf } from '../billing/catalog.ts';
import { findSnapshot, listCatalogue, listHistories } from '../billing/reads.ts';
import type { ImportChunk, ImportSource, SourcePosition } from '../source.ts';
import type { OpenStripe, StripeSourceOptions } from '../run/deps.ts';
import { addHistory, type PartialChunk, begin, isEmpty } from './chunks.ts';
import { inSeconds, readSnapshot, type StripeDeps } from './read-snapshot.ts';

/** Customers read at a time, with all their invoices: few enough to keep memory flat, and enough to avoid a query per customer. */
const CUSTOMERS_AT_ONCE = 50;

/**
 * Reads the customers of Stripe as records of the API.
 *
 * First, Stripe is read into Beckon's own tables, once per import; this yields chunks without records. Then the tables are walked customer
 * by customer, as often as needed. So the check and the run see the same data, the same records follow each position, and Stripe gets as few
 * requests as possible.
 *
 * Positions: `{ told }` while Stripe is read, with the number of objects counted as rows. `{ customer, events, isTold }` after so many events
 * of this customer, with null after all of them. An object is counted once: when it is read or, if it was read before, on the walk.
 */
export function stripeSources(deps: StripeDeps): OpenStripe {
  return (options): ImportSource => ({
    async *read(after, signal) {
      if (after && 'customer' in after) {
        yield* traverse(deps, options, {
          after: customerPosition(after),
          isCounted: after['isTold'] === true,
          signal,
        });
        return;
      }
      const isRead = (await findSnapshot(deps.db, options))?.step === 'done';
      const isCounted = after !== null || !isRead;
      if (isCounted) yield* fetchChunks(deps, options, { counted: Number(after?.['told'] ?? 0), signal });
      yield* traverse(deps, options, { after: null, isCounted, signal });
    },
  });
}

async function* fetchChunks(
  deps: StripeDeps,
  options: StripeSourceOptions,
  { counted, signal }: { counted: number; signal: AbortSignal },
): AsyncGenerator<ImportChunk, void, undefined> {
  let before = counted;
  for await (const { objects } of readSnapshot(deps, options, signal)) {
    yield { users: [], events: [], rejected: [], rows: objects - before, position: { told: objects } };
    before = objects;
  }
}

type CustomerPosition = { customer: string; events: number | null };
type TraverseOptions = { after: CustomerPosition | null; isCounted: boolean; signal: AbortSignal };

async function* traverse(
  deps: StripeDeps,
  options: StripeSourceOptions,
  { after, isCounted, signal }: TraverseOptions,
): AsyncGenerator<ImportChunk, void, undefined> {
  const context = { ...options, ...(await historyContext(deps, options)), isCounted };
  const isWithin = after !== null && after.events !== null;
  let behind = after && { id: after.customer, inclusive: isWithin };
  let begun: PartialChunk = begin();
  for (;;) {
    signal.throwIfAborted();
    const histories = await listHistories(deps.db, { ...options, behind, limit: CUSTOMERS_AT_ONCE });
    for (const history of histories) {
      const skippedEvents = history.facts.id === after?.customer ? (after.events ?? 0) : 0;
      const added = addHistory(begun, history, { ...context, skippedEvents });
      yield* added.full;
      begun = added.begun;
    }
    const last = histories.at(-1);
    if (!last) break;
    behind = { id: last.facts.id, inclusive: false };
  }
  if (!isEmpty(begun)) yield begun.chunk;
}

async function historyContext(
  { db }: StripeDeps,
  options: StripeSourceOptions,
): Promise<{ catalogue: Catalogue; asOf: number }> {
  const { prices, products } = await listCatalogue(db, options);
  return { catalogue: catalogueOf(prices, products), asOf: inSeconds(options.asOf) };
}

function customerPosition(position: SourcePosition): CustomerPosition {
  const { customer, events } = position;
  return { customer: String(customer), events: typeof events === 'number' ? events : null };
}
