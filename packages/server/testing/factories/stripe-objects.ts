import type Stripe from 'stripe';

/** Objects as Stripe's API returns them: every field that its published types require, so that the compiler reports missing ones. */
export type StripeWorld = {
  products: Stripe.Product[];
  prices: Stripe.Price[];
  customers: Stripe.Customer[];
  subscriptions: Stripe.Subscription[];
  invoices: Stripe.Invoice[];
};

export function emptyWorld(): StripeWorld {
  return { products: [], prices: [], customers: [], subscriptions: [], invoices: [] };
}

/** Returns seconds, as Stripe counts them. */
export function at(text: string): number {
  return Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text) / 1_000;
}

export function stripeProduct(id: string, name: string, created = at('2024-01-01')): Stripe.Product {
  return {
    id,
    object: 'product',
    active: true,
    created,
    default_price: null,
    description: null,
    images: [],
    livemode: true,
    marketing_features: [],
    metadata: {},
    name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: created,
    url: null,
  };
}

export type PriceInput = {
  id: string;
  product: string;
  amount: number | null;
  currency?: string;
  interval?: string;
  count?: number;
  nickname?: string;
  isMetered?: boolean;
};

export function stripePrice(input: PriceInput): Stripe.Price {
  return {
    id: input.id,
    object: 'price',
    active: true,
    billing_scheme: input.amount === null ? 'tiered' : 'per_unit',
    created: at('2024-01-01'),
    currency: input.currency ?? 'usd',
    custom_unit_amount: null,
    livemode: true,
    lookup_key: null,
    metadata: {},
    nickname: input.nickname ?? null,
    product: input.product,
    recurring: {
      interval: input.interval ?? 'month',
      interval_count: input.count ?? 1,
      meter: null,
      trial_period_days: null,
      usage_type: input.isMetered ? 'metered' : 'licensed',
    },
    tax_behavior: 'unspecified',
    tiers_mode: input.amount === null ? 'volume' : null,
    transform_quantity: null,
    type: 'recurring',
    unit_amount: input.amount,
    unit_amount_decimal: null,
  };
}

function stripePlan(price: Stripe.Price): Stripe.Plan {
  return {
    id: price.id,
    object: 'plan',
    active: true,
    amount: price.unit_amount,
    amount_decimal: null,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: true,
    metadata: {},
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: price.tiers_mode,
    transform_usage: null,
    trial_period_days: null,
    usage_type: price.recurring?.usage_type ?? 'licensed',
  };
}

export function stripeCustomer(
  id: string,
  created: number,
  more: Partial<Stripe.Customer> = {},
): Stripe.Customer {
  return {
    id,
    object: 'customer',
    address: null,
    balance: 0,
    created,
    currency: 'usd',
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: null,
    invoice_prefix: 'A1B2C3D4',
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: true,
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
    ...more,
  };
}

export type SubscriptionInput = {
  id: string;
  customer: string;
  created: number;
  items: { price: Stripe.Price; quantity?: number }[];
};

export function stripeSubscription(
  { id, customer, created, items }: SubscriptionInput,
  more: Partial<Stripe.Subscription> = {},
): Stripe.Subscription {
  return {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: created,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: null, type: 'classic' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created,
    currency: items[0]?.price.currency ?? 'usd',
    customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: listOf(
      items.map((item, i) =>
        stripeItem({ id: `si_${id.slice(4)}_${i}`, subscription: id, created, ...item }),
      ),
      `/v1/subscription_items?subscription=${id}`,
    ),
    latest_invoice: null,
    livemode: true,
    managed_payments: null,
    metadata: {},
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: null,
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: created,
    status: 'active',
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: {
      end_behavior: { billing_cycle_anchor: 'trial_end', missing_payment_method: 'create_invoice' },
    },
    trial_start: null,
    ...more,
  };
}

function stripeItem(input: {
  id: string;
  subscription: string;
  created: number;
  price: Stripe.Price;
  quantity?: number;
}): Stripe.SubscriptionItem {
  const { price, created } = input;
  return {
    id: input.id,
    object: 'subscription_item',
    billing_thresholds: null,
    created,
    current_period_end: created + 30 * 86_400,
    current_period_start: created,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: stripePlan(price),
    price,
    ...(price.recurring?.usage_type === 'metered' ? {} : { quantity: input.quantity ?? 1 }),
    subscription: input.subscription,
    tax_rates: [],
  };
}

function listOf<T>(data: T[], url: string): Stripe.ApiList<T> {
  return { object: 'list', data, has_more: false, url };
}

export type LineInput = {
  price: Stripe.Price;
  amount: number;
  from: number;
  quantity?: number;
  /** A proration made by an update: Stripe makes an invoice item of it. */
  isProration?: boolean;
};

export type InvoiceInput = {
  id: string;
  customer: string;
  /** Null: an invoice created by hand. */
  subscription: string | null;
  created: number;
  reason: string;
  status: string;
  lines: LineInput[];
};

export function stripeInvoice(input: InvoiceInput, more: Partial<Stripe.Invoice> = {}): Stripe.Invoice {
  const { id, customer, subscription, created, status } = input;
  const total = input.lines.reduce((sum, line) => sum + line.amount, 0);
  const due = Math.max(0, total);
  const isPaid = status === 'paid';
  const finalized = status === 'draft' ? null : created + 3_600;
  return {
    id,
    object: 'invoice',
    ...AS_EVER,
    amount_due: due,
    amount_overpaid: 0,
    amount_paid: isPaid ? due : 0,
    amount_remaining: isPaid ? 0 : due,
    amount_shipping: 0,
    attempt_count: isPaid && due > 0 ? 1 : 0,
    attempted: isPaid,
    billing_reason: input.reason,
    collection_method: 'charge_automatically',
    created,
    currency: input.lines[0]?.price.currency ?? 'usd',
    customer,
    customer_email: null,
    customer_name: null,
    effective_at: finalized,
    ending_balance: 0,
    lines: listOf(
      input.lines.map((line, i) =>
        stripeLine({ ...line, id: `il_${id.slice(3)}_${i}`, invoice: id, subscription }),
      ),
      `/v1/invoices/${id}/lines`,
    ),
    number: `A1B2C3D4-${id.slice(-4)}`,
    parent:
      subscription === null
        ? null
        : {
            quote_details: null,
            subscription_details: { metadata: {}, subscription },
            type: 'subscription_details',
          },
    period_end: created,
    period_start: created,
    starting_balance: 0,
    status,
    status_transitions: {
      finalized_at: finalized,
      marked_uncollectible_at: null,
      paid_at: isPaid ? finalized : null,
      voided_at: null,
    },
    subtotal: total,
    subtotal_excluding_tax: total,
    total,
    total_excluding_tax: total,
    webhooks_delivered_at: created,
    ...more,
  };
}

const AS_EVER = {
  account_country: 'US',
  account_name: 'Example',
  account_tax_ids: null,
  application: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  due_date: null,
  footer: null,
  from_invoice: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  livemode: true,
  metadata: {},
  next_payment_attempt: null,
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  statement_descriptor: null,
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: [],
} satisfies Partial<Stripe.Invoice>;

function stripeLine(
  line: LineInput & { id: string; invoice: string; subscription: string | null },
): Stripe.InvoiceLineItem {
  return {
    id: line.id,
    object: 'line_item',
    amount: line.amount,
    currency: line.price.currency,
    description: `${line.quantity ?? 1} × ${line.price.nickname ?? line.price.id}`,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: line.invoice,
    livemode: true,
    metadata: {},
    parent: lineParent(line),
    period: { start: line.from, end: line.from + 30 * 86_400 },
    pretax_credit_amounts: [],
    pricing: {
      price_details: {
        price: line.price.id,
        product: typeof line.price.product === 'string' ? line.price.product : line.price.product.id,
      },
      type: 'price_details',
      unit_amount_decimal: null,
    },
    quantity: line.quantity ?? 1,
    quantity_decimal: null,
    subscription: line.subscription,
    subtotal: line.amount,
    taxes: [],
  };
}

function lineParent(
  line: LineInput & { id: string; subscription: string | null },
): Stripe.InvoiceLineItem.Parent {
  const { id, subscription } = line;
  const proration = line.isProration ?? false;
  const details = { invoice_item: `ii_${id.slice(3)}`, proration, proration_details: null, subscription };
  if (proration || subscription === null) {
    return { invoice_item_details: details, subscription_item_details: null, type: 'invoice_item_details' };
  }
  return {
    invoice_item_details: null,
    subscription_item_details: {
      ...details,
      invoice_item: null,
      subscription_item: `si_${subscription.slice(4)}_0`,
    },
    type: 'subscription_item_details',
  };
}
