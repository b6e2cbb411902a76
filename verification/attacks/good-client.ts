import { quantile } from '../bench/measure.ts';
import { JSON_BODY, type Victim } from './victim.ts';

export type WaitTimes = { p99Ms: number; answers: number; failures: number };

const PAUSE_MS = 20;
const CLIENTS = 2;

/** Measures the waits of clients that send one event after the other, without a timeout, while other work goes on. */
export async function measureWaits(
  victim: Victim,
  secret: string,
  work: Promise<unknown>,
): Promise<WaitTimes> {
  const state = { isOver: false };
  const ended = work.finally(() => (state.isOver = true));
  const waits: number[] = [];
  let failures = 0;
  const runClient = async (client: number): Promise<void> => {
    for (let n = 0; !state.isOver; n += 1) {
      const startedAt = performance.now();
      const status = await victim
        .send('POST /api/v1/events', {
          headers: { ...JSON_BODY, authorization: `Bearer ${secret}` },
          body: JSON.stringify({ external_user_id: `good-${client}-${n % 50}`, name: 'went_on' }),
        })
        .then((reply) => reply.status)
        .catch(() => 599);
      waits.push(performance.now() - startedAt);
      if (status !== 202) failures += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  await Promise.all([ended, ...Array.from({ length: CLIENTS }, (_, client) => runClient(client))]);
  return { p99Ms: quantile(waits, 0.99), answers: waits.length, failures };
}
