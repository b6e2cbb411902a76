import { type OpenStripe, openStripe, type StripeAddress } from '../modules/imports/index.ts';
import type { Database } from '../platform/db/database.ts';

/** Returns the reader of Stripe for imports. `address` replaces Stripe's own, for tests. The module is loaded on first use. */
export function stripeReader(db: Database, address?: StripeAddress): OpenStripe {
  const openReader = (key: string): ReturnType<typeof openStripe> =>
    openStripe({ key, ...(address && { address }) });
  return (options) => ({
    async *read(after, signal) {
      const { stripeSources } = await import('../modules/imports/index.ts');
      yield* stripeSources({ db, openReader })(options).read(after, signal);
    },
  });
}
