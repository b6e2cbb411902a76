import type { CustomerFacts, InvoiceFacts, SubscriptionFacts } from '../../base/billing/index.ts';

export type ImportRef = { projectId: number; importId: string };

/** In this order they are read: what has few objects first, and what may name customers before it is asked whose they are. */
const STEPS = ['product', 'price', 'customer', 'subscription', 'invoice', 'match', 'done'] as const;
export type Step = (typeof STEPS)[number];

/** How far Stripe was read for an import. */
export type Snapshot = {
  step: Step;
  after: { id: string; created: number } | null;
  /** How many objects of customers there are: customers, subscriptions, invoices. */
  objects: number;
};

/** Names of prices are a convenience: an account that makes one for each bill has its newest ones named, and the others by their ids. */
export const PRICES_MAX = 20_000;
/** An account that has more is too much for one import. */
export const OBJECTS_MAX = 10_000_000;

export function stepAfter(step: Step): Step {
  return STEPS[Math.min(STEPS.indexOf(step) + 1, STEPS.length - 1)] ?? 'done';
}

export type StoredCustomer = {
  facts: CustomerFacts;
  matchedBy: 'metadata' | 'email' | 'none';
  /** Who it is; null for nobody that is known. */
  userId: string | null;
  why: string | null;
  isKnown: boolean;
  hasAddress: boolean;
  /** Among the customers that are this person. */
  isNewest: boolean;
  isOldest: boolean;
};

export type CustomerHistory = StoredCustomer & {
  subscriptions: SubscriptionFacts[];
  invoices: InvoiceFacts[];
};
