import { PRODUCT, type Product } from './product.ts';

/** Defects, each in one place. Each must be detected. */
export const WEBHOOK_DEFECTS: Record<string, Partial<Product>> = {
  'a late response overwrites a newer result': { isAwaited: ({ state }) => state !== 'pending' },
  'one concurrent request too many': {
    mayClaim: (health, limits) =>
      PRODUCT.mayClaim(health, { ...limits, inFlight: Math.max(0, limits.inFlight - 1) }),
  },
  'tokens are refilled twice': {
    refill(health, limits, now) {
      const full = PRODUCT.refill(health, limits, now);
      return { ...full, refilledAt: health.refilledAt };
    },
  },
  'a redirect counts as a success': {
    resultOf(attempt) {
      const result = PRODUCT.resultOf(attempt);
      return result.status === 301 ? { ...result, state: 'delivered', nextAt: null } : result;
    },
  },
  'the schedule begins one step later': {
    resultOf: ({ delivery, result: answer }) =>
      PRODUCT.resultOf({ delivery: { ...delivery, tries: delivery.tries + 1 }, result: answer }),
  },
  'a failing endpoint is never paused': {
    applySample(health, result) {
      const sample = PRODUCT.applySample(health, result);
      return { ...sample, health: { ...sample.health, openUntil: null } };
    },
  },
  'an endpoint that never responds is never exhausted': {
    applySample: (health, result) => PRODUCT.applySample(health, { ...result, isGone: false }),
    resultOf(attempt) {
      const result = PRODUCT.resultOf(attempt);
      return result.state === 'exhausted'
        ? { ...result, state: 'pending', nextAt: result.endedAt + 1_000 }
        : result;
    },
  },
};
