import type { OpenStripe } from '../flows/imports/deps.ts';
import type { Database } from '../platform/db/database.ts';
import { openStripe, type StripeAddress } from '../io/stripe/open-stripe.ts';

/** Returns the reader of Stripe for imports. `address` replaces Stripe's own, for tests. The module is loaded on first use. */
export function stripeReader(db: Database, address?: StripeAddress): OpenStripe {
  const openReader = (key: string): ReturnType<typeof openStripe> =>
    openStripe({ key, ...(address && { address }) });
  return (asked) => ({
    async *read(after, signal) {
      const { stripeSources } = await import('../flows/imports/stripe/stripe-source.ts');
      yield* stripeSources({ db, openReader })(asked).read(after, signal);
    },
  });
}
