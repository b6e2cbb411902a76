export type SnapshotRef = { projectId: number; importId: string };

/** The order of reading. Kinds with few objects come first, and everything that may name customers comes before matching. */
const STEPS = ['product', 'price', 'customer', 'subscription', 'invoice', 'match', 'done'] as const;
export type SnapshotStep = (typeof STEPS)[number];

/** How far Stripe has been read for an import. */
export type Snapshot = {
  step: SnapshotStep;
  after: { id: string; created: number } | null;
  /** The number of customer objects: customers, subscriptions and invoices. */
  objects: number;
};

/** Price names are a convenience. For an account that creates a price per invoice, the newest prices get names and the others their ids. */
export const PRICES_MAX = 20_000;
/** An account with more objects is too large for one import. */
export const OBJECTS_MAX = 10_000_000;

export function stepAfter(step: SnapshotStep): SnapshotStep {
  return STEPS[Math.min(STEPS.indexOf(step) + 1, STEPS.length - 1)] ?? 'done';
}

export type StoredCustomer = {
  facts: CustomerFacts;
  matchedBy: 'metadata' | 'email' | 'none';
  /** The matched user, or null without a match. */
  userId: string | null;
  matchReason: string | null;
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

/**
 * The facts of a billing provider's customers that lifecycle events are made of. Times are seconds since the epoch and amounts are in the
 * currency's smallest unit, as in Stripe. `imports/stripe-api` reads the facts; this folder turns them into events.
 */
export type CustomerFacts = {
  id: string;
  /** Null for a deleted customer, which keeps only its id. */
  created: number | null;
  email: string | null;
  name: string | null;
  company: string | null;
  currency: string | null;
  isDelinquent: boolean | null;
  /** The user that the customer's metadata name. */
  userId: string | null;
};

export type PriceFacts = {
  id: string;
  product: string | null;
  /** The display name of the price, if it has its own. */
  name: string | null;
  /** `day`, `week`, `month` or `year`; null for a one-time price. */
  interval: string | null;
  intervalCount: number;
  /** Null if it depends on the quantity. */
  unitAmount: number | null;
  /** The quantity is the measured usage, not a choice of the customer. */
  isMetered: boolean;
};

export type ProductFacts = { id: string; name: string };

export type SubscriptionFacts = {
  id: string;
  customer: string;
  status: string;
  created: number;
  startDate: number;
  trialStart: number | null;
  trialEnd: number | null;
  canceledAt: number | null;
  endedAt: number | null;
  reason: string | null;
  feedback: string | null;
  currency: string;
  /** Invoices are sent by email and paid manually: the subscription counts from its start, paid or not. */
  isInvoiced: boolean;
  items: { price: PriceFacts; quantity: number | null }[];
};

export type InvoiceFacts = {
  id: string;
  customer: string;
  subscription: string;
  created: number;
  status: string;
  currency: string;
  amountDue: number;
  attempts: number;
  isInvoiced: boolean;
  finalizedAt: number | null;
  paidAt: number | null;
  lines: LineFacts[];
};

export type LineFacts = {
  price: string;
  product: string | null;
  amount: number;
  quantity: number | null;
  /** The start of the time that the line bills. */
  start: number;
  isProration: boolean;
};

/** All facts about one customer. */
export type BillingHistory = {
  customer: CustomerFacts;
  subscriptions: SubscriptionFacts[];
  invoices: InvoiceFacts[];
};
