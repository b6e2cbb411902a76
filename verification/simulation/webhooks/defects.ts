import { PRODUCT, type Product } from './product.ts';

/** Defects, each in one place. Each must be detected. */
export const WEBHOOK_DEFECTS: Record<string, Partial<Product>> = {
  'a late response overwrites a newer result': { isWaitedFor: ({ state }) => state !== 'pending' },
  'one request more at once': {
    mayClaim: (health, asked) =>
      PRODUCT.mayClaim(health, { ...asked, inFlight: Math.max(0, asked.inFlight - 1) }),
  },
  'time gives tokens twice': {
    refill(health, limits, now) {
      const full = PRODUCT.refill(health, limits, now);
      return { ...full, refilledAt: health.refilledAt };
    },
  },
  'a redirect counts as an answer': {
    resultOf(answered) {
      const said = PRODUCT.resultOf(answered);
      return said.status === 301 ? { ...said, state: 'delivered', nextAt: null } : said;
    },
  },
  'the schedule begins one step later': {
    resultOf: ({ delivery, result: answer }) =>
      PRODUCT.resultOf({ delivery: { ...delivery, tries: delivery.tries + 1 }, result: answer }),
  },
  'a failing endpoint is never paused': {
    judge(health, result) {
      const judged = PRODUCT.judge(health, result);
      return { ...judged, health: { ...judged.health, openUntil: null } };
    },
  },
  'an endpoint that never responds is never given up': {
    judge: (health, result) => PRODUCT.judge(health, { ...result, isGone: false }),
    resultOf(answered) {
      const said = PRODUCT.resultOf(answered);
      return said.state === 'exhausted' ? { ...said, state: 'pending', nextAt: said.endedAt + 1_000 } : said;
    },
  },
};
