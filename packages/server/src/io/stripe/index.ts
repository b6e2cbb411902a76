export { isStripeKey, openStripe, type StripeAddress, type StripeReader } from './open-stripe.ts';
export type { Kind } from './pages.ts';
export { StripeRefusal } from './refusal.ts';
