/** A place where two lists differ: the removed items of the first, and the added items of the second. */
export type Hunk<T> = { at: number; removed: T[]; added: T[] };

/** Beyond this many comparisons the lists count as different as a whole. */
const CELLS_MAX = 1_000_000;

/** Returns the fewest removals and additions that turn the first list into the second, in order. */
export function diffLists<T>(before: readonly T[], after: readonly T[]): Hunk<T>[] {
  const [head, tail] = sameEnds(before, after);
  const [from, to] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  if (from.length === 0 && to.length === 0) return [];
  if (from.length * to.length > CELLS_MAX) return [{ at: head, removed: from, added: to }];
  return diffMiddle(from, to, head);
}

function sameEnds<T>(before: readonly T[], after: readonly T[]): [number, number] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return [head, tail];
}

function diffMiddle<T>(from: readonly T[], to: readonly T[], offset: number): Hunk<T>[] {
  const common = commonLengths(from, to);
  const width = to.length + 1;
  const lengthAt = (i: number, j: number): number => common[i * width + j] ?? 0;
  const hunks: Hunk<T>[] = [];
  let open: Hunk<T> | null = null;
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      open = null;
      [i, j] = [i + 1, j + 1];
      continue;
    }
    if (open === null) hunks.push((open = { at: offset + i, removed: [], added: [] }));
    if (j >= to.length || (i < from.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      open.removed.push(...from.slice(i, i + 1));
      i += 1;
    } else {
      open.added.push(...to.slice(j, j + 1));
      j += 1;
    }
  }
  return hunks;
}

/** Returns the longest common length of both rests, from each position of the one and each of the other. */
function commonLengths<T>(from: readonly T[], to: readonly T[]): Uint32Array {
  const width = to.length + 1;
  const lengths = new Uint32Array((from.length + 1) * width);
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      const here = i * width + j;
      lengths[here] =
        from[i] === to[j]
          ? (lengths[here + width + 1] ?? 0) + 1
          : Math.max(lengths[here + width] ?? 0, lengths[here + 1] ?? 0);
    }
  }
  return lengths;
}
