import {
  type CustomerFacts,
  type SnapshotRef,
  type InvoiceFacts,
  type PriceFacts,
  PRICES_MAX,
  type ProductFacts,
  type Snapshot,
  stepAfter,
  type SubscriptionFacts,
} from './snapshot.ts';
import { isEmail } from '../../../platform/records/email.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { countPrices } from './reads.ts';
import { insertCustomers, insertDeletedCustomers, insertObjects, moveSnapshot } from './store.ts';

/** A page that was read, and the object after which the next page begins. */
export type ReadPage = (
  | { kind: 'product'; facts: ProductFacts[] }
  | { kind: 'price'; facts: PriceFacts[] }
  | { kind: 'customer'; facts: CustomerFacts[] }
  | { kind: 'subscription'; facts: SubscriptionFacts[] }
  | { kind: 'invoice'; facts: InvoiceFacts[] }
) & { next: Snapshot['after'] };

/** Stores a page and the new position in one transaction, and returns that position. */
export async function keepPage(
  tx: Tx,
  ref: SnapshotRef,
  { page, before }: { page: ReadPage; before: Snapshot },
): Promise<Snapshot> {
  const kept = await keepFacts(tx, ref, page);
  const isLast = page.next === null || (page.kind === 'price' && (await countPrices(tx, ref)) >= PRICES_MAX);
  const deleted = isLast && page.kind === 'invoice' ? await insertDeletedCustomers(tx, ref) : 0;
  const now: Snapshot = {
    step: isLast ? stepAfter(before.step) : before.step,
    after: isLast ? null : page.next,
    objects: before.objects + kept + deleted,
  };
  await moveSnapshot(tx, ref, { from: before, to: now });
  return now;
}

/** Stores the facts of a page. Returns how many objects of customers were new. */
async function keepFacts(tx: Tx, ref: SnapshotRef, page: ReadPage): Promise<number> {
  switch (page.kind) {
    case 'customer':
      return insertCustomers(tx, ref, page.facts.map(newCustomer));
    case 'subscription':
    case 'invoice':
      return insertObjects(
        tx,
        ref,
        page.facts.map((facts) => newObject(page.kind, facts, facts.customer)),
      );
    case 'product':
    case 'price':
      // Products and prices belong to no customer.
      await insertObjects(
        tx,
        ref,
        page.facts.map((facts) => newObject(page.kind, facts, '')),
      );
      return 0;
  }
}

function newCustomer(facts: CustomerFacts): Parameters<typeof insertCustomers>[2][number] {
  return {
    id: facts.id,
    created: facts.created,
    address: facts.email !== null && isEmail(facts.email) ? facts.email.toLowerCase() : null,
    namedUserId: facts.userId,
    facts: JSON.stringify(facts),
  };
}

function newObject(
  kind: string,
  facts: { id: string },
  customer: string,
): Parameters<typeof insertObjects>[2][number] {
  return { customer, kind, id: facts.id, facts: JSON.stringify(facts) };
}
