/**
 * The retry schedule of docs/reference/webhooks.md, for the oracles and simulations. It is written a second time on purpose: a check that
 * used the product's own list would not notice a wrong delay.
 */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The delay after each failed try but the last. */
export const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
export const TRIES_MAX = DELAYS_MS.length + 1;
