/** A rule in the order of priority: higher priorities first, and equal priorities by name. */
export type RankedRule = { id: string; name: string; priority: number };

export const PRIORITY_MAX = 1_000;

export function inOrder<T extends RankedRule>(rules: readonly T[]): T[] {
  return rules.toSorted((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
}

/**
 * Moves one rule before another (null: to the end) and returns the priorities that change. If there is space between the new neighbors,
 * only the moved rule changes. Otherwise as few others as possible are pushed aside. Returns null if even a thousand priorities are too
 * few.
 */
export function reorderPriorities(
  rules: readonly RankedRule[],
  id: string,
  before: string | null,
): Map<string, number> | null {
  const moving = rules.find((rule) => rule.id === id);
  const others = inOrder(rules.filter((rule) => rule.id !== id));
  const found = before === null ? others.length : others.findIndex((rule) => rule.id === before);
  if (!moving || found === -1) return new Map();
  const line = [...others.slice(0, found), moving, ...others.slice(found)];
  if (isSame(line, inOrder(rules))) return new Map();
  const [above, below] = [line[found - 1]?.priority ?? null, line[found + 1]?.priority ?? null];
  const between = middle(above, below);
  if (between !== null) return new Map([[id, between]]);
  return pushNeighbors(line, found);
}

function isSame(first: readonly RankedRule[], second: readonly RankedRule[]): boolean {
  return first.every((rule, i) => rule.id === second[i]?.id);
}

const STEP = 10;

/** Returns a priority strictly between the two, as round as the space allows, or null if there is no space. */
function middle(above: number | null, below: number | null): number | null {
  if (above === null && below === null) return null;
  if (above === null) return topOf(below ?? 0);
  if (below === null) return above === 0 ? null : Math.max(0, above - STEP);
  return above - below < 2 ? null : Math.floor((above + below) / 2);
}

function topOf(below: number): number | null {
  return below >= PRIORITY_MAX ? null : Math.min(PRIORITY_MAX, below + STEP);
}

/** Moves the rules above up and the rules below down, each only as far as necessary. */
function pushNeighbors(line: readonly RankedRule[], at: number): Map<string, number> | null {
  for (const start of candidates(line, at)) {
    const changed = new Map<string, number>();
    const note = (rule: RankedRule | undefined, priority: number): number => {
      if (rule && rule.priority !== priority) changed.set(rule.id, priority);
      return priority;
    };
    let last = note(line[at], start);
    for (let i = at - 1; i >= 0; i -= 1) last = note(line[i], Math.max(line[i]?.priority ?? 0, last + 1));
    const top = last;
    last = start;
    for (let i = at + 1; i < line.length; i += 1)
      last = note(line[i], Math.min(line[i]?.priority ?? 0, last - 1));
    if (top <= PRIORITY_MAX && last >= 0) return changed;
  }
  return null;
}

/** Returns the possible priorities: first next to the neighbors, then where all rules fit. */
function candidates(line: readonly RankedRule[], at: number): number[] {
  const [above, below] = [line[at - 1]?.priority ?? PRIORITY_MAX, line[at + 1]?.priority ?? 0];
  const [least, most] = [line.length - 1 - at, PRIORITY_MAX - at];
  const within = (value: number): number => Math.max(least, Math.min(most, value));
  return [within(below + 1), within(above - 1), within(below), least, most].filter(
    (candidate) => candidate <= most,
  );
}
