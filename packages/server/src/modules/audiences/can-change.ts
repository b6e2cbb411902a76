import type { Edition } from './model.ts';

export type HappenedEvent = { name: string; properties: Record<string, unknown> };

/**
 * Returns whether these events can change the answer of an edition, given that nothing else about the user changed. Most events only
 * confirm what is known: a member of "came three times in 30 days" stays a member after another visit. The timer stored for the user stays
 * valid too. At worst it fires too early and causes one needless evaluation.
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
