/**
 * Counts the work of a function by the characters that it scans, copies or joins, so that a test of its growth needs no clock. It does not
 * count loops over characters by index. Every search in a page, and every construction of one, counts.
 */
export function countWork(work: () => unknown): number {
  let characters = 0;
  const count = (by: number): void => void (characters += by);
  const restore = [
    watch<RegExp, RegExpExecArray | null>(RegExp.prototype, 'exec', (self, [text], call) => {
      const from = self.global || self.sticky ? self.lastIndex : 0;
      const found = call();
      const to = found === null ? String(text).length : found.index + found[0].length;
      count(Math.max(1, to - from));
      return found;
    }),
    // Reading the end of a concatenated string flattens it, which copies the whole string.
    watch<string, boolean>(String.prototype, 'endsWith', (self, _, call) => {
      count(self.length);
      return call();
    }),
    watch<string, string>(String.prototype, 'slice', (_self, _, call) => {
      const result = call();
      count(result.length);
      return result;
    }),
    watch<string, number>(String.prototype, 'indexOf', (self, [, from], call) => {
      const found = call();
      count((found === -1 ? self.length : found) - Number(from ?? 0));
      return found;
    }),
    watch<unknown[], string>(Array.prototype, 'join', (self, _, call) => {
      const result = call();
      count(result.length + self.length);
      return result;
    }),
  ];
  try {
    work();
  } finally {
    for (const undo of restore) undo();
  }
  return characters;
}

type Watcher<S, R> = (self: S, args: unknown[], call: () => R) => R;

function watch<S, R>(prototype: object, name: string, watcher: Watcher<S, R>): () => void {
  const method = Reflect.get(prototype, name) as (...args: unknown[]) => R;
  Reflect.set(prototype, name, function (this: S, ...args: unknown[]) {
    return watcher(this, args, () => method.apply(this, args));
  });
  return () => void Reflect.set(prototype, name, method);
}

/** Returns how fast work grows with its input: 1 is linear, 2 quadratic. It is the slope between the sizes on a logarithmic scale. */
export function growth(sizes: readonly number[], workOf: (size: number) => number): number {
  const points = sizes.map((size): [number, number] => [Math.log(size), Math.log(workOf(size))]);
  const meanOf = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [meanX, meanY] = [meanOf(0), meanOf(1)];
  let [over, under] = [0, 0];
  for (const [x, y] of points) {
    over += (x - meanX) * (y - meanY);
    under += (x - meanX) ** 2;
  }
  return over / under;
}
