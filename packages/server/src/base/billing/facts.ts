/**
 * What a billing provider knows of its customers, in the little that lifecycle events are made of. Times are seconds since
 * the epoch and amounts the currency's smallest unit, as Stripe has both: `io/stripe` reads them, this folder makes events of them.
 */
export type CustomerFacts = {
  id: string;
  /** Null where nothing is left of the customer but its id: it was deleted. */
  created: number | null;
  email: string | null;
  name: string | null;
  company: string | null;
  currency: string | null;
  isDelinquent: boolean | null;
  /** What its metadata say whose it is. */
  userId: string | null;
};

export type PriceFacts = {
  id: string;
  product: string | null;
  /** What people call it, where it has a name of its own. */
  name: string | null;
  /** `day`, `week`, `month` or `year`; null for what is paid once. */
  interval: string | null;
  intervalCount: number;
  /** Null where it depends on the quantity. */
  unitAmount: number | null;
  /** Its quantity is what was used, and no choice of anybody's. */
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
  /** Invoices are mailed and paid by hand: the subscription counts from its start, paid or not. */
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
  /** From when on it bills. */
  start: number;
  isProration: boolean;
};

/** All that is known of one customer. */
export type BillingHistory = {
  customer: CustomerFacts;
  subscriptions: SubscriptionFacts[];
  invoices: InvoiceFacts[];
};
