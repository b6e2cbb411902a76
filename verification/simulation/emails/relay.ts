import type { Random } from '../../../packages/server/src/modules/operations/demo/random.ts';
import type { SendResult } from './store.ts';

/** The receiving side of the network. An accepted email stays accepted, even if the reply is lost. */
export type Relay = {
  submit(draftId: string): SendResult;
  acceptedCount(draftId: string): number;
  /** Makes it accept everything, with a reply, from now on. */
  acceptAll(): void;
};

export function createRelay(random: Random, onAccepted: (draftId: string) => void): Relay {
  const acceptedCounts = new Map<string, number>();
  let acceptsAll = false;
  const accept = (draftId: string): void => {
    acceptedCounts.set(draftId, (acceptedCounts.get(draftId) ?? 0) + 1);
    onAccepted(draftId);
  };
  return {
    submit(draftId) {
      const chance = acceptsAll ? 0 : random.next();
      if (chance < 0.6) {
        accept(draftId);
        return { kind: 'sent' };
      }
      if (chance < 0.66) {
        accept(draftId);
        return { kind: 'unknown', reason: 'the answer was lost' };
      }
      if (chance < 0.7) return { kind: 'unknown', reason: 'the connection broke' };
      if (chance < 0.95) return { kind: 'deferred' };
      return { kind: 'failed', reason: 'bounced' };
    },
    acceptedCount: (draftId) => acceptedCounts.get(draftId) ?? 0,
    acceptAll() {
      acceptsAll = true;
    },
  };
}
