import type { Edition } from './model.ts';

export type HappenedEvent = { name: string; properties: Record<string, unknown> };

/**
 * Whether these events, and nothing else that is new about a person, can have turned the answer of an edition. Most events
 * only confirm what is known: who is in "came three times in 30 days" stays in when they come again. The moment that is
 * stored for them stays good too: it is at worst too early, and asks once for nothing.
 */
export function canChange(
  { directions }: Pick<Edition, 'directions'>,
  isMember: boolean,
  events: readonly HappenedEvent[],
): boolean {
  return events.some(({ name, properties }) => {
    const direction = directions.get(name);
    if (!direction) return false;
    if (direction.way === 'both' || isMember === (direction.way === 'down')) return true;
    return direction.notNegative.some((property) => isNegative(properties, property));
  });
}

function isNegative(properties: Record<string, unknown>, property: string): boolean {
  const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
  return typeof value === 'number' && value < 0;
}
