/** A rule in the order of priority: higher priorities first, and equal priorities by name. */
export type RankedRule = { id: string; name: string; priority: number };

export const PRIORITY_MAX = 1_000;

export function inOrder<T extends RankedRule>(rules: readonly T[]): T[] {
  return rules.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
}

function isBefore(a: RankedRule, b: RankedRule): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.name < b.name);
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

/** Moves the rules above up and the rules below down, each only as far as necessary: a rule that is in order stays. */
function pushNeighbors(line: readonly RankedRule[], at: number): Map<string, number> | null {
  const [moved, ...below] = line.slice(at);
  if (!moved) return null;
  const above = line.slice(0, at).toReversed();
  for (const start of candidates(line, at)) {
    const first = { ...moved, priority: start };
    const lower = pushEach(first, below, (rule, last) =>
      isBefore(last, rule) ? rule : { ...rule, priority: last.priority - 1 },
    );
    const higher = pushEach(first, above, (rule, last) =>
      isBefore(rule, last) ? rule : { ...rule, priority: last.priority + 1 },
    );
    const placed = [...lower, ...higher, first];
    if (placed.some(({ priority }) => priority < 0 || priority > PRIORITY_MAX)) continue;
    const former = new Map(line.map(({ id, priority }) => [id, priority]));
    const changed = placed.filter(({ id, priority }) => former.get(id) !== priority);
    return new Map(changed.map(({ id, priority }) => [id, priority]));
  }
  return null;
}

/** Places each rule next to the one before it. */
function pushEach(
  first: RankedRule,
  rules: readonly RankedRule[],
  place: (rule: RankedRule, last: RankedRule) => RankedRule,
): RankedRule[] {
  let last = first;
  return rules.map((rule) => (last = place(rule, last)));
}

/** Returns the possible priorities: first next to the neighbors, then where all rules fit. */
function candidates(line: readonly RankedRule[], at: number): number[] {
  const [above, below] = [line[at - 1]?.priority ?? PRIORITY_MAX, line[at + 1]?.priority ?? 0];
  const [least, most] = [line.length - 1 - at, PRIORITY_MAX - at];
  return [below + 1, above - 1, below, least, most];
}
