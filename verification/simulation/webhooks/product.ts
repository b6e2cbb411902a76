import { judge, mayClaim, refill } from '../../../packages/server/src/modules/webhooks/endpoints/health.ts';
import { resultOf } from '../../../packages/server/src/modules/webhooks/dispatch/answer.ts';
import { shareRooms } from '../../../packages/server/src/modules/webhooks/dispatch/share-quota.ts';
import type { Delivery } from './store.ts';

/** The product's decisions, and the conditions of its statements on the row of a delivery. */
export type Product = {
  judge: typeof judge;
  mayClaim: typeof mayClaim;
  refill: typeof refill;
  resultOf: typeof resultOf;
  shareRooms: typeof shareRooms;
  /** As `updateResults`: whether this is still the expected attempt. */
  isWaitedFor: (delivery: Delivery, number: number) => boolean;
};

export const PRODUCT: Product = {
  judge,
  mayClaim,
  refill,
  resultOf,
  shareRooms,
  isWaitedFor: ({ state, attempts }, number) => state === 'delivering' && attempts.length === number,
};
