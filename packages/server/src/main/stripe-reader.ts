import type { OpenStripe } from '../flows/imports/index.ts';
import type { Database } from '../io/db/index.ts';
import { openStripe, type StripeAddress } from '../io/stripe/index.ts';

/** How imports read Stripe; `address`: in place of Stripe's own, for who tests what leads there. Read when it is asked for. */
export function stripeReader(db: Database, address?: StripeAddress): OpenStripe {
  const openReader = (key: string): ReturnType<typeof openStripe> =>
    openStripe({ key, ...(address && { address }) });
  return (asked) => ({
    async *read(after, signal) {
      const { stripeSources } = await import('../flows/imports/index.ts');
      yield* stripeSources({ db, openReader })(asked).read(after, signal);
    },
  });
}
