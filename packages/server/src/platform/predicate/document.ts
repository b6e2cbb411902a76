import { printDuration, printInstant } from '../time/time-text.ts';
import type { Predicate, PropertyTest, ValueTest, EventWindow } from './predicate.ts';

/** Returns a document that `parsePredicate` parses to the same predicate. */
export function predicateDocument(predicate: Predicate): object {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return { [predicate.kind]: predicate.of.map(predicateDocument) };
    case 'not':
      return { not: predicateDocument(predicate.of) };
    case 'trait':
      return { trait: predicate.trait, ...testDocument(predicate.test) };
    case 'user':
      return { user: predicate.field, ...testDocument(predicate.test) };
    case 'count':
      return {
        event: predicate.event,
        [predicate.compare]: predicate.count,
        ...windowDocument(predicate.window),
      };
    case 'sum':
      return {
        event: predicate.event,
        sum: predicate.property,
        [predicate.compare]: predicate.than,
        ...windowDocument(predicate.window),
      };
    case 'first':
    case 'last':
      return { event: predicate.event, [predicate.kind]: testDocument(predicate.test) };
    case 'audience':
      return { audience: predicate.audienceId };
    default:
      return predicate satisfies never;
  }
}

export function propertyTestDocument({ property, test }: PropertyTest): object {
  return { property, ...testDocument(test) };
}

function windowDocument(window: EventWindow | null): object {
  if (window === null) return {};
  const within = printDuration(window.withinMs);
  return window.where.length === 0 ? { within } : { within, where: window.where.map(propertyTestDocument) };
}

function testDocument(test: ValueTest): object {
  if ('than' in test) return { [test.op]: test.than };
  if ('text' in test) return { [test.op]: test.text };
  if ('value' in test) return { [test.op]: test.value };
  if ('values' in test) return { [test.op]: test.values };
  if ('at' in test) return { [test.op]: printInstant(test.at) };
  return { [test.op]: 'ms' in test ? printDuration(test.ms) : true };
}
