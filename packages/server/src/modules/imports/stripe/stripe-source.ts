import { type Catalogue, catalogueOf } from '../billing/catalog.ts';
import { findSnapshot, listCatalogue, listHistories } from '../billing/reads.ts';
import type { ImportChunk, ImportSource, SourcePosition } from '../source.ts';
import type { OpenStripe, StripeAsked } from '../run/deps.ts';
import { addHistory, type PartialChunk, begin, isEmpty } from './chunks.ts';
import { inSeconds, readSnapshot, type StripeDeps } from './read-snapshot.ts';

/** Customers read at a time, with all their invoices: few enough to keep memory flat, and enough to avoid a query per customer. */
const CUSTOMERS_AT_ONCE = 50;

/**
 * Reads the customers of Stripe as records of the API.
 *
 * First, Stripe is read into Beckon's own tables, once per import; this yields chunks without records. Then the tables are walked customer
 * by customer, as often as needed. So the check and the run see the same data, the same records follow each place, and Stripe gets as few
 * requests as possible.
 *
 * Places: `{ told }` while Stripe is read, with the number of objects counted as rows. `{ customer, events, isTold }` after so many events
 * of this customer, with null after all of them. An object is counted once: when it is read or, if it was read before, on the walk.
 */
export function stripeSources(deps: StripeDeps): OpenStripe {
  return (one): ImportSource => ({
    async *read(after, signal) {
      if (after && 'customer' in after) {
        yield* walk(deps, one, { after: walkPlace(after), isTold: after['isTold'] === true, signal });
        return;
      }
      const isRead = (await findSnapshot(deps.db, one))?.step === 'done';
      const isTold = after !== null || !isRead;
      if (isTold) yield* fetched(deps, one, { told: Number(after?.['told'] ?? 0), signal });
      yield* walk(deps, one, { after: null, isTold, signal });
    },
  });
}

async function* fetched(
  deps: StripeDeps,
  one: StripeAsked,
  { told, signal }: { told: number; signal: AbortSignal },
): AsyncGenerator<ImportChunk, void, undefined> {
  let before = told;
  for await (const { objects } of readSnapshot(deps, one, signal)) {
    yield { users: [], events: [], rejected: [], rows: objects - before, place: { told: objects } };
    before = objects;
  }
}

type WalkPlace = { customer: string; events: number | null };
type Walk = { after: WalkPlace | null; isTold: boolean; signal: AbortSignal };

async function* walk(
  deps: StripeDeps,
  one: StripeAsked,
  { after, isTold, signal }: Walk,
): AsyncGenerator<ImportChunk, void, undefined> {
  const ground = { ...one, ...(await groundOf(deps, one)), isTold };
  const isWithin = after !== null && after.events !== null;
  let behind = after && { id: after.customer, inclusive: isWithin };
  let begun: PartialChunk = begin();
  for (;;) {
    signal.throwIfAborted();
    const histories = await listHistories(deps.db, { ...one, behind, limit: CUSTOMERS_AT_ONCE });
    for (const history of histories) {
      const given = history.facts.id === after?.customer ? (after.events ?? 0) : 0;
      const added = addHistory(begun, history, { ...ground, given });
      yield* added.full;
      begun = added.begun;
    }
    const last = histories.at(-1);
    if (!last) break;
    behind = { id: last.facts.id, inclusive: false };
  }
  if (!isEmpty(begun)) yield begun.chunk;
}

async function groundOf(
  { db }: StripeDeps,
  one: StripeAsked,
): Promise<{ catalogue: Catalogue; asOf: number }> {
  const { prices, products } = await listCatalogue(db, one);
  return { catalogue: catalogueOf(prices, products), asOf: inSeconds(one.asOf) };
}

function walkPlace(place: SourcePosition): WalkPlace {
  const { customer, events } = place;
  return { customer: String(customer), events: typeof events === 'number' ? events : null };
}
