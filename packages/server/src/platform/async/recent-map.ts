/**
 * A bounded cache of recently used values. It has two generations instead of a true LRU list: a hit in the young one costs one lookup and
 * moves nothing. Entries not used for a whole generation are dropped with the old one.
 */
export type RecentMap<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  deleteWhere(matches: (value: V) => boolean): void;
};

export function recentMap<V>(entriesMax: number): RecentMap<V> {
  const generationMax = Math.ceil(entriesMax / 2);
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  function set(key: string, value: V): void {
    young.set(key, value);
    if (young.size < generationMax) return;
    old = young;
    young = new Map();
  }

  return {
    set,
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    deleteWhere(matches) {
      for (const generation of [young, old]) {
        for (const [key, value] of generation) if (matches(value)) generation.delete(key);
      }
    },
  };
}
