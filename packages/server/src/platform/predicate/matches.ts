import { testValue } from './compare.ts';
import type { PropertyTest } from './predicate.ts';

/** Returns whether the properties of one event pass all tests. */
export function matchesWhere(where: PropertyTest[], properties: Record<string, unknown>): boolean {
  return where.every(({ property, test }) => {
    // Inherited members are not properties of the event.
    const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
    return testValue(test, value, ANY_TIME).holds;
  });
}

/** A property is compared only with fixed values and moments, so that the answer does not depend on the time of the evaluation. */
const ANY_TIME = 0;
