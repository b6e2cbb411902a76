import type { PriceFacts, ProductFacts, SubscriptionFacts } from './snapshot.ts';

/** Names and amounts of prices. Invoices refer to their prices by id only. */
export type Catalogue = { prices: Map<string, PriceFacts>; products: Map<string, string> };

export function catalogueOf(prices: PriceFacts[], products: ProductFacts[]): Catalogue {
  return {
    prices: new Map(prices.map((price) => [price.id, price])),
    products: new Map(products.map(({ id, name }) => [id, name])),
  };
}

/** Adds the prices that the subscriptions carry themselves, which include prices that no list contains any more. */
export function withItems(catalogue: Catalogue, subscriptions: SubscriptionFacts[]): Catalogue {
  const prices = new Map(catalogue.prices);
  for (const { items } of subscriptions) for (const { price } of items) prices.set(price.id, price);
  return { prices, products: catalogue.products };
}

/** A part of a subscription: a price and its quantity. */
export type Share = { price: string; product: string | null; quantity: number | null };

/**
 * Returns the name of the product, which the customer sees on every invoice. A deleted product has no name: then it returns the name of the
 * price, or else its id.
 */
export function planName(share: Share, { prices, products }: Catalogue): string {
  const price = prices.get(share.price);
  const product = share.product ?? price?.product ?? null;
  return (product === null ? undefined : products.get(product)) ?? price?.name ?? share.price;
}

/** Returns `month` or `3 months`; null if the price is unknown or paid once. */
export function intervalOf(share: Share, { prices }: Catalogue): string | null {
  const price = prices.get(share.price);
  if (!price || price.interval === null) return null;
  return price.intervalCount === 1 ? price.interval : `${price.intervalCount} ${price.interval}s`;
}

/** Returns the cost per month, so that prices of different intervals can be compared; null if unknown. */
export function monthlyCost(share: Share, { prices }: Catalogue): number | null {
  const price = prices.get(share.price);
  if (!price || price.unitAmount === null || price.interval === null || price.isMetered) return null;
  const months = MONTHS[price.interval];
  return months === undefined
    ? null
    : (price.unitAmount * (share.quantity ?? 1)) / (months * price.intervalCount);
}

export function isMetered(share: Share, { prices }: Catalogue): boolean {
  return prices.get(share.price)?.isMetered ?? false;
}

/** Returns the most expensive share, which names the plan: the other shares of a subscription are additions to it. */
export function dearest<S extends Share & { amount?: number }>(shares: S[], catalogue: Catalogue): S | null {
  const worth = (share: S): number => monthlyCost(share, catalogue) ?? share.amount ?? 0;
  return shares.reduce<S | null>((best, share) => (best && worth(best) >= worth(share) ? best : share), null);
}

const MONTHS: Record<string, number> = { day: 12 / 365.25, week: 12 / (365.25 / 7), month: 1, year: 12 };
