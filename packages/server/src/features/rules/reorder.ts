/** A rule in the order of priority: the higher comes first, and of equals the one whose name comes first. */
export type Ranked = { id: string; name: string; priority: number };

export const PRIORITY_MAX = 1_000;

export function inOrder<T extends Ranked>(rules: readonly T[]): T[] {
  return rules.toSorted((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
}

/**
 * Puts one rule before another (null: behind all) and answers the priorities that have to change for it: its own alone where there
 * is room between its new neighbours, and otherwise those of as few others as push each other aside. Null where even a thousand
 * places are too few.
 */
export function reordered(
  rules: readonly Ranked[],
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
  return pushed(line, found);
}

function isSame(one: readonly Ranked[], other: readonly Ranked[]): boolean {
  return one.every((rule, i) => rule.id === other[i]?.id);
}

const STEP = 10;

/** Strictly between the two, as round as there is room for; null where there is none. */
function middle(above: number | null, below: number | null): number | null {
  if (above === null && below === null) return null;
  if (above === null) return topOf(below ?? 0);
  if (below === null) return above === 0 ? null : Math.max(0, above - STEP);
  return above - below < 2 ? null : Math.floor((above + below) / 2);
}

function topOf(below: number): number | null {
  return below >= PRIORITY_MAX ? null : Math.min(PRIORITY_MAX, below + STEP);
}

/** Those above it go up and those below it go down, each only as far as it must. */
function pushed(line: readonly Ranked[], at: number): Map<string, number> | null {
  for (const own of candidates(line, at)) {
    const changed = new Map<string, number>();
    const note = (rule: Ranked | undefined, priority: number): number => {
      if (rule && rule.priority !== priority) changed.set(rule.id, priority);
      return priority;
    };
    let last = note(line[at], own);
    for (let i = at - 1; i >= 0; i -= 1) last = note(line[i], Math.max(line[i]?.priority ?? 0, last + 1));
    const top = last;
    last = own;
    for (let i = at + 1; i < line.length; i += 1)
      last = note(line[i], Math.min(line[i]?.priority ?? 0, last - 1));
    if (top <= PRIORITY_MAX && last >= 0) return changed;
  }
  return null;
}

/** Where it may stand: first beside its neighbours, then wherever all of them have room. */
function candidates(line: readonly Ranked[], at: number): number[] {
  const [above, below] = [line[at - 1]?.priority ?? PRIORITY_MAX, line[at + 1]?.priority ?? 0];
  const [least, most] = [line.length - 1 - at, PRIORITY_MAX - at];
  const within = (wanted: number): number => Math.max(least, Math.min(most, wanted));
  return [within(below + 1), within(above - 1), within(below), least, most].filter((one) => one <= most);
}
