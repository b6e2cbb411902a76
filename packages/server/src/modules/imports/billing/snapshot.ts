import type { CustomerFacts, InvoiceFacts, SubscriptionFacts } from './facts.ts';

export type ImportRef = { projectId: number; importId: string };

/** The order of reading. Kinds with few objects come first, and everything that may name customers comes before matching. */
const STEPS = ['product', 'price', 'customer', 'subscription', 'invoice', 'match', 'done'] as const;
export type Step = (typeof STEPS)[number];

/** How far Stripe has been read for an import. */
export type Snapshot = {
  step: Step;
  after: { id: string; created: number } | null;
  /** The number of customer objects: customers, subscriptions and invoices. */
  objects: number;
};

/** Price names are a convenience. For an account that creates a price per invoice, the newest prices get names and the others their ids. */
export const PRICES_MAX = 20_000;
/** An account with more objects is too large for one import. */
export const OBJECTS_MAX = 10_000_000;

export function stepAfter(step: Step): Step {
  return STEPS[Math.min(STEPS.indexOf(step) + 1, STEPS.length - 1)] ?? 'done';
}

export type StoredCustomer = {
  facts: CustomerFacts;
  matchedBy: 'metadata' | 'email' | 'none';
  /** The matched user, or null without a match. */
  userId: string | null;
  why: string | null;
  isKnown: boolean;
  hasAddress: boolean;
  /** Among the customers that match this user. */
  isNewest: boolean;
  isOldest: boolean;
};

export type CustomerHistory = StoredCustomer & {
  subscriptions: SubscriptionFacts[];
  invoices: InvoiceFacts[];
};
