import type Stripe from 'stripe';
import type {
  CustomerFacts,
  InvoiceFacts,
  LineFacts,
  PriceFacts,
  ProductFacts,
  SubscriptionFacts,
} from '../billing/snapshot.ts';

/** The used fields of Stripe's objects; all others are ignored. */
export function customerFacts(customer: Stripe.Customer): CustomerFacts {
  return {
    id: customer.id,
    created: customer.created,
    email: filled(customer.email),
    name: filled(customer.name),
    company: filled(customer.business_name),
    currency: filled(customer.currency),
    isDelinquent: customer.delinquent ?? null,
    userId: filled(customer.metadata['user_id']) ?? filled(customer.metadata['external_user_id']),
  };
}

export function subscriptionFacts(subscription: Stripe.Subscription): SubscriptionFacts {
  return {
    id: subscription.id,
    customer: idOf(subscription.customer),
    status: subscription.status,
    created: subscription.created,
    startDate: subscription.start_date,
    trialStart: subscription.trial_start,
    trialEnd: subscription.trial_end,
    canceledAt: subscription.canceled_at,
    endedAt: subscription.ended_at,
    reason: filled(subscription.cancellation_details?.reason),
    feedback: filled(subscription.cancellation_details?.feedback),
    currency: subscription.currency,
    isInvoiced: subscription.collection_method === 'send_invoice',
    items: subscription.items.data.map((item) => ({
      price: itemPrice(item),
      quantity: item.quantity ?? null,
    })),
  };
}

/** Returns null for an invoice without a subscription, and for one without a customer. */
export function invoiceFacts(invoice: Stripe.Invoice, lines: Stripe.InvoiceLineItem[]): InvoiceFacts | null {
  const subscription = subscriptionOf(invoice);
  if (subscription === null || invoice.customer === null || !invoice.id) return null;
  return {
    id: invoice.id,
    customer: idOf(invoice.customer),
    subscription,
    created: invoice.created,
    status: invoice.status ?? 'draft',
    currency: invoice.currency,
    amountDue: invoice.amount_due,
    attempts: invoice.attempt_count,
    isInvoiced: invoice.collection_method === 'send_invoice',
    finalizedAt: invoice.status_transitions.finalized_at,
    paidAt: invoice.status_transitions.paid_at,
    lines: lines.flatMap((line) => lineFacts(line, subscription)),
  };
}

export function subscriptionOf(invoice: Stripe.Invoice): string | null {
  const subscription = invoice.parent?.subscription_details?.subscription;
  return subscription ? idOf(subscription) : null;
}

export function priceFacts(price: Stripe.Price): PriceFacts {
  return {
    id: price.id,
    product: price.product ? idOf(price.product) : null,
    name: filled(price.nickname) ?? filled(price.lookup_key),
    interval: price.recurring?.interval ?? null,
    intervalCount: price.recurring?.interval_count ?? 1,
    unitAmount: amountOf(price),
    isMetered: price.recurring?.usage_type === 'metered',
  };
}

export function productFacts({ id, name }: Stripe.Product): ProductFacts {
  return { id, name: filled(name) ?? id };
}

/** Ignores lines of other subscriptions and manually added ones, which do not describe this subscription. */
function lineFacts(line: Stripe.InvoiceLineItem, subscription: string): LineFacts[] {
  const item = line.parent?.subscription_item_details ?? line.parent?.invoice_item_details;
  const price = line.pricing?.price_details;
  if (!item || !price || item.subscription !== subscription) return [];
  return [
    {
      price: idOf(price.price),
      product: price.product,
      amount: line.amount,
      quantity: line.quantity,
      start: line.period.start,
      isProration: item.proration,
    },
  ];
}

/** Subscriptions from before Stripe had prices may have only a plan. */
function itemPrice({ price, plan }: { price?: Stripe.Price | null; plan: Stripe.Plan }): PriceFacts {
  if (price) return priceFacts(price);
  return {
    id: plan.id,
    product: plan.product ? idOf(plan.product) : null,
    name: filled(plan.nickname),
    interval: plan.interval,
    intervalCount: plan.interval_count,
    unitAmount: plan.amount,
    isMetered: plan.usage_type === 'metered',
  };
}

/** Amounts below a cent have only the decimal form; amounts that depend on the quantity have neither. */
function amountOf({ unit_amount: whole, unit_amount_decimal: decimal }: Stripe.Price): number | null {
  if (whole !== null) return whole;
  return decimal === null ? null : Number(decimal.toString());
}

function idOf(reference: string | { id: string }): string {
  return typeof reference === 'string' ? reference : reference.id;
}

/** Returns null for blank text. PostgreSQL stores neither NUL nor half a surrogate pair, and a name must not fail an import. */
function filled(text: string | null | undefined): string | null {
  const plain = (text ?? '').toWellFormed().replaceAll('\0', '').trim();
  return plain === '' ? null : plain;
}
