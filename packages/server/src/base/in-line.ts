/** The work of one key goes one after the other, in the order in which it came; nobody waits for another key. */
export type InLine = <T>(key: string | number, work: () => Promise<T>) => Promise<T>;

/** `waitingMax`: of all keys together, those at work among them; whoever comes on top of them is sent away by an error. */
export function createLine({ waitingMax }: { waitingMax: number }): InLine {
  const ends = new Map<string | number, Promise<void>>();
  let waiting = 0;
  return async (key, work) => {
    if (waiting >= waitingMax) throw new Error(`${waitingMax} wait in line`);
    const before = ends.get(key);
    const end = Promise.withResolvers<void>();
    ends.set(key, end.promise);
    waiting += 1;
    try {
      await before;
      return await work();
    } finally {
      waiting -= 1;
      end.resolve();
      if (ends.get(key) === end.promise) ends.delete(key);
    }
  };
}
