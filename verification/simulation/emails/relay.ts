import type { Random } from '../../../packages/server/src/modules/operations/demo/random.ts';
import type { Said } from './store.ts';

/** The receiving side of the network. An accepted email stays accepted, even if the reply is lost. */
export type Relay = {
  hand(draftId: string): Said;
  taken(draftId: string): number;
  /** Makes it accept everything, with a reply, from now on. */
  calm(): void;
};

export function createRelay(random: Random, onTaken: (draftId: string) => void): Relay {
  const taken = new Map<string, number>();
  let isCalm = false;
  const take = (draftId: string): void => {
    taken.set(draftId, (taken.get(draftId) ?? 0) + 1);
    onTaken(draftId);
  };
  return {
    hand(draftId) {
      const chance = isCalm ? 0 : random.next();
      if (chance < 0.6) {
        take(draftId);
        return { result: 'sent' };
      }
      if (chance < 0.66) {
        take(draftId);
        return { result: 'unknown', reason: 'the answer was lost' };
      }
      if (chance < 0.7) return { result: 'unknown', reason: 'the connection broke' };
      if (chance < 0.95) return { result: 'deferred' };
      return { result: 'failed', reason: 'bounced' };
    },
    taken: (draftId) => taken.get(draftId) ?? 0,
    calm() {
      isCalm = true;
    },
  };
}
