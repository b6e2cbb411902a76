import { testValue } from './compare.ts';
import type { PropertyTest } from './predicate.ts';

/** Whether the properties of one event pass all tests. */
export function matchesWhere(where: PropertyTest[], properties: Record<string, unknown>): boolean {
  return where.every(({ property, test }) => {
    // What every object inherits is no property of the event.
    const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
    return testValue(test, value, ANY_TIME).holds;
  });
}

/** A property is compared with fixed values and moments only, so that the answer does not depend on when it is asked. */
const ANY_TIME = 0;
