/** A binary heap: returns the first item in order while others are added. */
export type BinaryHeap<T> = {
  first(): T | undefined;
  push(item: T): void;
  pop(): T | undefined;
};

export function createBinaryHeap<T>(compare: (a: T, b: T) => number): BinaryHeap<T> {
  const heap: T[] = [];

  function isBefore(a: number, b: number): boolean {
    const [itemA, itemB] = [heap[a], heap[b]];
    return itemA !== undefined && (itemB === undefined || compare(itemA, itemB) < 0);
  }
  function swap(a: number, b: number): void {
    [heap[a], heap[b]] = [heap[b] as T, heap[a] as T];
  }
  function rise(from: number): void {
    for (let at = from, above = (at - 1) >> 1; at > 0 && isBefore(at, above); above = (at - 1) >> 1) {
      swap(at, above);
      at = above;
    }
  }
  function sink(from: number): void {
    for (let at = from; ;) {
      const left = 2 * at + 1;
      const below = isBefore(left + 1, left) ? left + 1 : left;
      if (!isBefore(below, at)) return;
      swap(at, below);
      at = below;
    }
  }

  return {
    first: () => heap[0],
    push(item) {
      rise(heap.push(item) - 1);
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length > 0 && last !== undefined) {
        heap[0] = last;
        sink(0);
      }
      return first;
    },
  };
}
