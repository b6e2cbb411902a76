import {
  applySample,
  mayClaim,
  refill,
} from '../../../packages/server/src/modules/webhooks/endpoints/health.ts';
import { deliveryResult } from '../../../packages/server/src/modules/webhooks/dispatch/answer.ts';
import { shareCapacities } from '../../../packages/server/src/modules/webhooks/dispatch/share-quota.ts';
import type { Delivery } from './store.ts';

/** The product's decisions, and the conditions of its statements on the row of a delivery. */
export type Product = {
  applySample: typeof applySample;
  mayClaim: typeof mayClaim;
  refill: typeof refill;
  resultOf: typeof deliveryResult;
  shareCapacities: typeof shareCapacities;
  /** As `updateResults`: whether this is still the expected attempt. */
  isAwaited: (delivery: Delivery, number: number) => boolean;
};

export const PRODUCT: Product = {
  applySample,
  mayClaim,
  refill,
  resultOf: deliveryResult,
  shareCapacities,
  isAwaited: ({ state, attempts }, number) => state === 'delivering' && attempts.length === number,
};
