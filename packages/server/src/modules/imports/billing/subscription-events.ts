import { type Catalogue, dearest, intervalOf, planName, type Share } from './catalog.ts';
import type { InvoiceFacts, LineFacts, SubscriptionFacts } from './snapshot.ts';
import { type Change, shareAt, shareTimeline } from './standing.ts';

/** A billing event that is not yet assigned to a user. `fact` and `at` identify it, so that every later read returns the same event. */
export type BillingEvent = {
  object: string;
  fact: 'created' | 'trial' | 'started' | 'changed' | 'canceled' | 'payment_failed';
  name: string;
  /** In seconds. */
  at: number;
  properties: { [name: string]: string | number };
};

const DAY_S = 86_400;
/**
 * Stripe takes about an hour from the end of a period to the payment. Only after this time does a missing bill mean that nothing is billed.
 */
const BILLED_WITHIN_S = 2 * 3_600;
/** In these states the first payment did not succeed, so the subscription never began. */
const NEVER_BEGUN = new Set(['incomplete', 'incomplete_expired']);

/** Returns the events of one subscription as of a moment. `invoices` are those of the subscription, oldest first. */
export function subscriptionEvents(
  subscription: SubscriptionFacts,
  invoices: InvoiceFacts[],
  { catalogue, asOf }: { catalogue: Catalogue; asOf: number },
): BillingEvent[] {
  const failed = invoices.flatMap(paymentFailed);
  if (NEVER_BEGUN.has(subscription.status)) return failed;
  const { timeline, changes } = shareTimeline(invoices, catalogue);
  const history = { subscription, invoices, catalogue, asOf };
  const shareAtTime = (at: number): Share | null =>
    shareAt(timeline, at) ?? shareNow(subscription, catalogue);
  const trial = trialStarted(history, shareAtTime);
  const started = subscriptionStarted(history, shareAtTime);
  const begun = [...trial, ...started];
  return [
    ...begun,
    ...changes.map((change) => subscriptionChanged(subscription, change, catalogue)),
    ...(begun.length > 0 ? subscriptionCanceled(history, shareAtTime) : []),
    ...failed,
  ];
}

/** Returns the current plan. */
export function planNow(subscription: SubscriptionFacts, catalogue: Catalogue): string | null {
  const share = shareNow(subscription, catalogue);
  return share && planName(share, catalogue);
}

export function isTrialRunning(subscription: SubscriptionFacts, asOf: number): boolean {
  return subscription.status === 'trialing' && (subscription.trialEnd ?? 0) > asOf;
}

type SubscriptionHistory = {
  subscription: SubscriptionFacts;
  invoices: InvoiceFacts[];
  catalogue: Catalogue;
  asOf: number;
};
type ShareAt = (at: number) => Share | null;

function trialStarted({ subscription, catalogue }: SubscriptionHistory, shareAt: ShareAt): BillingEvent[] {
  const trial = trialOf(subscription);
  if (!trial) return [];
  const trialDays = Math.round(((trial.end - trial.start) / DAY_S) * 100) / 100;
  const properties = { trialDays, ...planProperty(shareAt(trial.start), catalogue) };
  return [{ object: subscription.id, fact: 'trial', name: 'trial_started', at: trial.start, properties }];
}

function subscriptionStarted(history: SubscriptionHistory, shareAt: ShareAt): BillingEvent[] {
  const { subscription, catalogue } = history;
  const start = startOf(history);
  if (!start) return [];
  const share = shareAt(start.at);
  const interval = share && intervalOf(share, catalogue);
  const properties = {
    ...planProperty(share, catalogue),
    ...(interval ? { interval } : {}),
    ...amountProperties(subscription, start.bill),
  };
  return [
    { object: subscription.id, fact: 'started', name: 'subscription_started', at: start.at, properties },
  ];
}

/**
 * Returns when the customer began to pay, or to use a subscription that is not paid immediately. With a trial this is the first paid bill
 * for the time after it; a bill that failed at first counts from its payment. The result does not depend on the time of the call: otherwise
 * a second import would find a second beginning.
 */
function startOf({ subscription, invoices, asOf }: SubscriptionHistory): Start | null {
  const trial = firstTrialOf(subscription);
  const from = trial ? trial.end : subscription.startDate;
  if (trial && (from > asOf || (subscription.endedAt ?? Infinity) <= from)) return null;
  const bills = invoices.filter(({ lines }) => regular(lines).some((line) => !trial || line.start >= from));
  if (subscription.isInvoiced) return { at: from, bill: bills[0] ?? null };
  if (bills.length > 0) return startWhenPaid(subscription, { bills, from, hasTrial: trial !== null });
  return isHadUnbilled(subscription, trial && asOf - from) ? { at: from, bill: null } : null;
}

type Start = { at: number; bill: InvoiceFacts | null };

function startWhenPaid(
  { startDate, created }: SubscriptionFacts,
  { bills, from, hasTrial }: { bills: InvoiceFacts[]; from: number; hasTrial: boolean },
): Start | null {
  const paid = bills
    .flatMap((bill) => (bill.status === 'paid' && bill.paidAt !== null ? [{ at: bill.paidAt, bill }] : []))
    .toSorted((a, b) => a.at - b.at)[0];
  if (!paid) return null;
  // A subscription that was moved to Stripe began before Stripe billed it.
  const isMoved = !hasTrial && startDate < created;
  return { at: isMoved ? from : Math.max(from, paid.at), bill: paid.bill };
}

/** Ignores a trial granted later, for example as a gift, because the subscription did not begin with it. */
function firstTrialOf(subscription: SubscriptionFacts): { start: number; end: number } | null {
  const trial = trialOf(subscription);
  return trial && trial.start <= subscription.startDate + DAY_S ? trial : null;
}

function isHadUnbilled({ status }: SubscriptionFacts, sinceTrialS: number | null): boolean {
  if (sinceTrialS === null) return status !== 'paused';
  return (status === 'active' || status === 'past_due') && sinceTrialS >= BILLED_WITHIN_S;
}

function subscriptionChanged(
  { id }: SubscriptionFacts,
  { at, from, to, direction }: Change,
  catalogue: Catalogue,
): BillingEvent {
  const intervals = [intervalOf(from, catalogue), intervalOf(to, catalogue)];
  const isOther = (a: unknown, b: unknown): boolean => a !== b && a !== null && b !== null;
  return {
    object: id,
    fact: 'changed',
    name: 'subscription_changed',
    at,
    properties: {
      fromPlan: planName(from, catalogue),
      toPlan: planName(to, catalogue),
      ...(direction ? { direction } : {}),
      ...(isOther(intervals[0], intervals[1])
        ? { fromInterval: intervals[0] ?? '', toInterval: intervals[1] ?? '' }
        : {}),
      ...(isOther(from.quantity, to.quantity)
        ? { fromQuantity: from.quantity ?? 0, toQuantity: to.quantity ?? 0 }
        : {}),
    },
  };
}

/** Dated at the end of the subscription. A cancellation at the end of the period can be reverted until then. */
function subscriptionCanceled(
  { subscription, catalogue }: SubscriptionHistory,
  shareAt: ShareAt,
): BillingEvent[] {
  const at = subscription.endedAt ?? subscription.canceledAt;
  if (subscription.status !== 'canceled' || at === null) return [];
  const { reason, feedback } = subscription;
  const properties = {
    ...planProperty(shareAt(at), catalogue),
    ...(reason ? { reason } : {}),
    ...(feedback ? { feedback } : {}),
  };
  return [{ object: subscription.id, fact: 'canceled', name: 'subscription_canceled', at, properties }];
}

/**
 * Returns one event for each invoice, dated at the first attempt, which takes place when the invoice is final. Stripe counts the attempts
 * but dates only the first; whether an invoice was paid shows the result of the retries.
 */
function paymentFailed(invoice: InvoiceFacts): BillingEvent[] {
  const failures = invoice.attempts - (invoice.status === 'paid' ? 1 : 0);
  if (invoice.isInvoiced || invoice.status === 'draft' || invoice.amountDue <= 0 || failures <= 0) return [];
  const properties = {
    amount: majorUnits(invoice.amountDue, invoice.currency),
    currency: invoice.currency.toUpperCase(),
    attempt: 1,
  };
  const at = invoice.finalizedAt ?? invoice.created;
  return [{ object: invoice.id, fact: 'payment_failed', name: 'payment_failed', at, properties }];
}

function trialOf({ trialStart, trialEnd }: SubscriptionFacts): { start: number; end: number } | null {
  if (trialStart === null || trialEnd === null || trialEnd <= trialStart) return null;
  return { start: trialStart, end: trialEnd };
}

/** Returns the cost per period before taxes and discounts: from the first bill, or else from the items. */
function amountProperties(
  { items, currency }: SubscriptionFacts,
  bill: InvoiceFacts | null,
): { amount?: number; currency: string } {
  const upper = currency.toUpperCase();
  if (bill) {
    const sum = regular(bill.lines).reduce((total, { amount }) => total + amount, 0);
    return { amount: majorUnits(sum, bill.currency), currency: bill.currency.toUpperCase() };
  }
  const sums = items.map(({ price, quantity }) =>
    price.isMetered || price.unitAmount === null ? null : price.unitAmount * (quantity ?? 1),
  );
  if (sums.includes(null) || sums.length === 0) return { currency: upper };
  return {
    amount: majorUnits(
      sums.reduce<number>((total, sum) => total + (sum ?? 0), 0),
      currency,
    ),
    currency: upper,
  };
}

function regular(lines: LineFacts[]): LineFacts[] {
  return lines.filter(({ isProration }) => !isProration);
}

function shareNow({ items }: SubscriptionFacts, catalogue: Catalogue): Share | null {
  const shares = items.map(({ price, quantity }) => ({ price: price.id, product: price.product, quantity }));
  return dearest(shares, catalogue);
}

function planProperty(share: Share | null, catalogue: Catalogue): { plan?: string } {
  return share ? { plan: planName(share, catalogue) } : {};
}

/**
 * Converts to the amount that people write: 19.99 for 1999 cents, 1500 for 1500 yen. Stripe counts ISK and UGX in hundredths although they
 * have no coins of that value, so both are missing here on purpose.
 */
export function majorUnits(amount: number, currency: string): number {
  const digits = digitsOf(currency.toLowerCase());
  return Number((amount / 10 ** digits).toFixed(digits));
}

function digitsOf(currency: string): number {
  if (WITHOUT_MINOR_UNITS.has(currency)) return 0;
  return WITH_THREE_DIGITS.has(currency) ? 3 : 2;
}

const WITHOUT_MINOR_UNITS = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
const WITH_THREE_DIGITS = new Set('bhd jod kwd omr tnd'.split(' '));
