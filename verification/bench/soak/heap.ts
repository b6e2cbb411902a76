import { pause } from '../processing/visible.ts';

/** The heap of another process after a forced garbage collection, read over the inspector that it was started with. */
export type Heap = { usedBytes(): Promise<number>; close(): void };

const READINGS = 5;
const READING_INTERVAL_MS = 200;

type Answer = { id?: number; result?: { usedSize?: number }; error?: { message: string } };

export async function watchHeap(inspectorPort: number): Promise<Heap> {
  const list = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`);
  const [target] = (await list.json()) as { webSocketDebuggerUrl: string }[];
  if (!target) throw new Error('there is nothing to inspect');
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    waiting.get(answer.id ?? 0)?.resolve(answer);
    waiting.delete(answer.id ?? 0);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error('the inspector does not answer')), {
      once: true,
    });
  });
  async function call(method: string): Promise<NonNullable<Answer['result']>> {
    const id = (lastId += 1);
    const reply = Promise.withResolvers<Answer>();
    waiting.set(id, reply);
    socket.send(JSON.stringify({ id, method }));
    const { result, error } = await reply.promise;
    if (!result) throw new Error(`${method}: ${error?.message}`);
    return result;
  }
  return {
    // The minimum of several readings, so that work under way during one of them does not count.
    async usedBytes() {
      const readings: number[] = [];
      for (; readings.length < READINGS; await pause(READING_INTERVAL_MS)) {
        await call('HeapProfiler.collectGarbage');
        readings.push((await call('Runtime.getHeapUsage')).usedSize ?? Number.NaN);
      }
      return Math.min(...readings);
    },
    close: () => socket.close(),
  };
}
