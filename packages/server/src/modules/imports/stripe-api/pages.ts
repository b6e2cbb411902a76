import type Stripe from 'stripe';
import type {
  CustomerFacts,
  InvoiceFacts,
  PriceFacts,
  ProductFacts,
  SubscriptionFacts,
} from '../billing/snapshot.ts';
import {
  customerFacts,
  invoiceFacts,
  priceFacts,
  productFacts,
  subscriptionFacts,
  subscriptionOf,
} from './read-facts.ts';
import { isCursorGone } from './refusal.ts';

export type Kinds = {
  product: ProductFacts;
  price: PriceFacts;
  customer: CustomerFacts;
  subscription: SubscriptionFacts;
  invoice: InvoiceFacts;
};
export type Kind = keyof Kinds;

/** The last object of a page. */
export type After = { id: string; created: number };

export type StripePageQuery = {
  /** In seconds. Later objects are not read, so that pages stay stable while new objects are created. */
  asOf: number;
  after: After | null;
  signal: AbortSignal;
};

export type StripePage<K extends Kind> = {
  facts: Kinds[K][];
  /** Null after the last page. */
  next: After | null;
};

const PAGE = 100;
/** Per invoice. An invoice with more lines has lines of usage. */
const LINES_MAX = 1_000;

/** Reads one page, newest objects first: the only order that Stripe supports. */
export async function readPage<K extends Kind>(
  stripe: Stripe,
  kind: K,
  query: StripePageQuery,
): Promise<StripePage<K>> {
  const { asOf, after } = query;
  const list = LISTS[kind];
  try {
    return await list(stripe, {
      limit: PAGE,
      created: { lte: asOf },
      ...(after ? { starting_after: after.id } : {}),
    });
  } catch (error) {
    if (!after || !isCursorGone(error)) throw error;
    // The last object, a draft invoice, may have been deleted. Objects of the same second are then read again, which is idempotent.
    return list(stripe, { limit: PAGE, created: { lte: Math.min(asOf, after.created) } });
  }
}

type Params = { limit: number; created: { lte: number }; starting_after?: string };
type List<K extends Kind> = (stripe: Stripe, params: Params) => Promise<StripePage<K>>;

const LISTS: { [K in Kind]: List<K> } = {
  product: async (stripe, params) => pageOf(await stripe.products.list(params), productFacts),
  price: async (stripe, params) => pageOf(await stripe.prices.list(params), priceFacts),
  customer: async (stripe, params) => pageOf(await stripe.customers.list(params), customerFacts),
  subscription: async (stripe, params) =>
    pageOf(await stripe.subscriptions.list({ ...params, status: 'all' }), subscriptionFacts),
  invoice: async (stripe, params) => {
    const page = await stripe.invoices.list(params);
    const lines = new Map<string, Stripe.InvoiceLineItem[]>();
    for (const invoice of page.data) {
      if (invoice.id && subscriptionOf(invoice))
        lines.set(invoice.id, await linesOf(stripe, invoice.id, invoice));
    }
    return pageOf(page, (invoice) => invoiceFacts(invoice, lines.get(invoice.id ?? '') ?? []));
  },
};

/** An invoice contains only its first lines; the others need further requests. */
async function linesOf(
  stripe: Stripe,
  id: string,
  { lines }: Stripe.Invoice,
): Promise<Stripe.InvoiceLineItem[]> {
  const all = [...lines.data];
  let hasMore = lines.has_more;
  while (hasMore && all.length < LINES_MAX) {
    const last = all.at(-1);
    const page = await stripe.invoices.listLineItems(id, {
      limit: PAGE,
      ...(last ? { starting_after: last.id } : {}),
    });
    all.push(...page.data);
    hasMore = page.has_more && page.data.length > 0;
  }
  return all;
}

type Listed = { id?: string; created: number; test_clock?: unknown };

/** Objects of a test clock have their own time, which may be in the future. */
function pageOf<T extends Listed, F>(
  { data, has_more: hasMore }: { data: T[]; has_more: boolean },
  read: (object: T) => F | null,
): { facts: F[]; next: After | null } {
  const last = data.at(-1);
  const facts = data.flatMap((object) => (object.test_clock ? [] : (read(object) ?? [])));
  return { facts, next: hasMore && last?.id ? { id: last.id, created: last.created } : null };
}
