import { judge, mayClaim, refill } from '../../packages/server/src/features/endpoints/index.ts';
import { resultOf } from '../../packages/server/src/flows/deliver-webhooks/answer.ts';
import { shareRooms } from '../../packages/server/src/flows/deliver-webhooks/share-out.ts';
import type { Delivery } from './store.ts';

/** What decides, as the product has it; and what its statements ask of the row of a delivery. */
export type Product = {
  judge: typeof judge;
  mayClaim: typeof mayClaim;
  refill: typeof refill;
  resultOf: typeof resultOf;
  shareRooms: typeof shareRooms;
  /** `updateResults`: whether this is still the attempt that is waited for. */
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
