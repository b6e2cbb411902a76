import { type Context, defaultOperators, type Liquid } from 'liquidjs';
import { Address } from './link-filters.ts';
import { Reading } from './reading.ts';
import { costOf, searchCost } from './render-work.ts';

/** Liquid counts the memory that filters use, but no comparison and no reading. Here each is charged by what it may walk through. */

/** Filters that look for one text in another. */
const SEARCHES: ReadonlySet<string> = new Set(['remove', 'replace', 'split']);
/** Turning a moment into words takes some 10 µs. */
const DATE_COST = 20;

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
  return name === 'contains' ? both + searchCost(left, right) : both;
}

/** Each filter is charged by the length of what it is given, before it runs. */
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
  const given = args.reduce<number>((sum, arg) => sum + costOf(arg), costOf(value));
  if (name === 'date') return given + DATE_COST + lengthOf(args[0]);
  if (name === 'sort') return given * Math.ceil(Math.log2(given + 1));
  if (!SEARCHES.has(name)) return given;
  // Each place that is found is written anew.
  const written = name === 'replace' ? (lengthOf(value) * lengthOf(args[1])) / 16 : lengthOf(value);
  return given + searchCost(value, args[0]) + written;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : value instanceof Address ? value.written.length : 1;
}
