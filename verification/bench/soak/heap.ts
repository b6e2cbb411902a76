import { pause } from '../digest/visible.ts';

/** The heap of another process after a forced garbage collection, read over the inspector that it was started with. */
export type Heap = { usedBytes(): Promise<number>; close(): void };

const LOOKS = 5;
const BETWEEN_LOOKS_MS = 200;

type Answer = { id?: number; result?: { usedSize?: number }; error?: { message: string } };

export async function watchHeap(inspectorPort: number): Promise<Heap> {
  const list = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`);
  const [target] = (await list.json()) as { webSocketDebuggerUrl: string }[];
  if (!target) throw new Error('there is nothing to inspect');
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let asked = 0;
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
  async function ask(method: string): Promise<NonNullable<Answer['result']>> {
    const id = (asked += 1);
    const answered = Promise.withResolvers<Answer>();
    waiting.set(id, answered);
    socket.send(JSON.stringify({ id, method }));
    const { result, error } = await answered.promise;
    if (!result) throw new Error(`${method}: ${error?.message}`);
    return result;
  }
  return {
    // The minimum of several readings, so that work under way during one of them does not count.
    async usedBytes() {
      const seen: number[] = [];
      for (; seen.length < LOOKS; await pause(BETWEEN_LOOKS_MS)) {
        await ask('HeapProfiler.collectGarbage');
        seen.push((await ask('Runtime.getHeapUsage')).usedSize ?? Number.NaN);
      }
      return Math.min(...seen);
    },
    close: () => socket.close(),
  };
}
