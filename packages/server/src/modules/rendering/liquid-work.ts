import { type Context, defaultOperators, type Liquid } from 'liquidjs';
import { LINK_PART } from './link-places.ts';
import { Reading } from './check-source.ts';
import { costOf, searchCost, textLength } from './render-work.ts';

/** Charges comparisons and reads by the length of what they may walk through. Liquid itself counts only the memory that filters use. */

/** Filters that search for one text in another. */
const SEARCHES: ReadonlySet<string> = new Set(['remove', 'replace', 'split']);
/** Filters that encode each character separately, at up to 0.1 µs. */
const ENCODES: ReadonlySet<string> = new Set(['url_encode', LINK_PART]);
const ENCODE_FACTOR = 4;
/** Formatting a date takes about 10 µs. */
const DATE_COST = 20;
/** A name of a month takes 1.4 µs, and its code `%B` has two characters. */
const DATE_FORMAT_COST = 2;

/** The operators of Liquid, each charged by the length of both sides. */
export function countedOperators(): typeof defaultOperators {
  return Object.fromEntries(
    Object.entries(defaultOperators).map(([name, operator]) => {
      const apply = operator as (...operands: unknown[]) => ReturnType<typeof operator>;
      const counted = (...operands: unknown[]): ReturnType<typeof operator> => {
        const context = operands.at(-1);
        if (context instanceof Reading) context.work.charge(operatorCost(name, operands));
        return apply(...operands);
      };
      return [name, counted];
    }),
  );
}

function operatorCost(name: string, [left, right]: unknown[]): number {
  if (name === 'and' || name === 'or' || name === 'not') return 1;
  const both = costOf(left) + costOf(right);
  return name === 'contains' && !Array.isArray(left) ? both + searchCost(left, right) : both;
}

/** Each filter is charged by the length of its input, before it runs. */
export function countFilters(liquid: Liquid): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    const [options, handler] =
      typeof filter === 'function' ? [{ raw: false }, filter] : [filter, filter.handler];
    liquid.registerFilter(name, {
      ...options,
      handler(value: unknown, ...args: unknown[]): unknown {
        const context: Context = this.context;
        if (context instanceof Reading) context.work.charge(filterCost(name, value, args));
        return handler.call(this, value, ...args);
      },
    });
  }
}

function filterCost(name: string, value: unknown, args: unknown[]): number {
  const input = args.reduce<number>((sum, arg) => sum + costOf(arg), costOf(value));
  // The format may come after a named argument, so all arguments count.
  if (name === 'date') return input + DATE_COST + textLength(args) * DATE_FORMAT_COST;
  if (name === 'sort') return input * Math.ceil(Math.log2(input + 1));
  if (ENCODES.has(name)) return input * ENCODE_FACTOR;
  if (!SEARCHES.has(name)) return input;
  // `replace` writes its second argument at each place that it finds.
  const written = name === 'replace' ? (textLength(value) * textLength(args[1])) / 16 : textLength(value);
  return input + searchCost(value, args[0]) + written;
}
