/** Calculates the selected rows and the current row after each key. Pure, for tests. */

/** The row this many places further, within the list. Without a current row: the first one, or the last one when moving back. */
export function step(keys: readonly string[], current: string | undefined, by: number): string | undefined {
  if (keys.length === 0) return undefined;
  const at = current === undefined ? -1 : keys.indexOf(current);
  if (at < 0) return by >= 0 ? keys[0] : keys.at(-1);
  return keys[Math.min(keys.length - 1, Math.max(0, at + by))];
}

export function toggle(chosen: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(chosen);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** Selects while moving: both the previous row and the new one. */
export function extend(
  chosen: ReadonlySet<string>,
  from: string | undefined,
  to: string | undefined,
): Set<string> {
  return new Set([...chosen, ...[from, to].filter((key) => key !== undefined)]);
}

/** All rows from one to another, in list order. */
export function between(keys: readonly string[], from: string, to: string): string[] {
  const [a, b] = [keys.indexOf(from), keys.indexOf(to)];
  if (a < 0 || b < 0) return [to];
  return keys.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** The next current row when a row is removed: the one after it, else the one before. */
export function afterLeaving(
  keys: readonly string[],
  leaving: ReadonlySet<string>,
  current: string,
): string | undefined {
  const at = keys.indexOf(current);
  const isStaying = (key: string): boolean => !leaving.has(key);
  return keys.slice(Math.max(0, at)).find(isStaying) ?? keys.slice(0, Math.max(0, at)).findLast(isStaying);
}
