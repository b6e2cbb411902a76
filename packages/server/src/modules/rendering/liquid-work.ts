import {
  CaseTag,
  type Context,
  defaultOperators,
  type Emitter,
  IfTag,
  type Liquid,
  RawTag,
  type Template,
  Token,
  UnlessTag,
  Value,
} from 'liquidjs';
import { LiquidCheckContext } from './check-source.ts';
import { LINK_PART } from './liquid-links.ts';
import { CHARS_PER_UNIT, costOf, PIECE_CHARS, searchCost, textLength } from './render-work.ts';

/** Charges comparisons and reads by the length of what they may walk through. Liquid itself counts only the memory that filters use. */

/** Filters that search for one text in another. */
const SEARCHES: ReadonlySet<string> = new Set(['remove', 'replace', 'split']);
/** Filters that encode each character separately, at up to 0.1 µs. */
const ENCODES: ReadonlySet<string> = new Set(['url_encode', LINK_PART]);
const ENCODE_FACTOR = 4;
/** Formatting a date takes about 10 µs, and twice as long in a process that formats its first ones. */
const DATE_COST = 60;
/** A name of a month takes up to 2.4 µs, and its code `%B` has two characters. */
const DATE_FORMAT_COST = 10;

/** The operators of Liquid, each charged by the length of both sides. */
export function countedOperators(): typeof defaultOperators {
  return Object.fromEntries(
    Object.entries(defaultOperators).map(([name, operator]) => {
      const apply = operator as (...operands: unknown[]) => ReturnType<typeof operator>;
      const counted = (...operands: unknown[]): ReturnType<typeof operator> => {
        const context = operands.at(-1);
        if (context instanceof LiquidCheckContext) context.work.charge(operatorCost(name, operands));
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
        if (context instanceof LiquidCheckContext) context.work.charge(filterCost(name, value, args));
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

/**
 * Charges each piece of a template for the length of its source at every render. A literal, key or name is evaluated at most once per
 * render of its piece, so this bounds them all, whatever Liquid does with them. Values that Liquid computes from them are charged where
 * they are computed. Short pieces have no extra work: the cost of a piece covers their source.
 */
export function countSource(template: Template): void {
  if (template instanceof CaseTag) countComparisons(template);
  const chars = sourceChars(template);
  if (chars <= PIECE_CHARS) return;
  const units = (chars - PIECE_CHARS) / CHARS_PER_UNIT;
  const render = template.render.bind(template);
  template.render = (context: Context, emitter: Emitter): unknown => {
    if (context instanceof LiquidCheckContext) context.work.charge(units);
    return render(context, emitter);
  };
}

/**
 * Returns the length of the source that one render may read. The conditions of `elsif` and `when` are tags of their own, and belong to
 * their block.
 */
function sourceChars(template: Template): number {
  if (template instanceof IfTag || template instanceof UnlessTag || template instanceof CaseTag)
    return [...template.arguments()].reduce((sum, argument) => sum + argumentChars(argument), 0);
  if (template instanceof RawTag) return tokensOf(template).reduce((sum, token) => sum + token.size(), 0);
  return template.token.size();
}

function tokensOf(raw: RawTag): Token[] {
  const tokens: unknown = Reflect.get(raw, 'tokens');
  return Array.isArray(tokens) ? tokens.filter((token) => token instanceof Token) : [];
}

function argumentChars(argument: Value | Token): number {
  if (argument instanceof Token) return argument.size();
  const operands = argument.initial.postfix.reduce((sum, token) => sum + token.size(), 0);
  const args = argument.filters.flatMap(({ args }) => args.map((arg) => (Array.isArray(arg) ? arg[1] : arg)));
  return args.reduce((sum, token) => sum + (token?.size() ?? 0), operands);
}

/** Charges the comparisons of `case`, which compares its value with each `when` without an operator. */
function countComparisons(template: CaseTag): void {
  const [target, ...others] = template.arguments();
  if (!(target instanceof Value)) return;
  const evaluate = target.value.bind(target);
  target.value = function* (context): Generator<unknown, unknown, unknown> {
    const value = yield evaluate(context);
    if (context instanceof LiquidCheckContext) context.work.charge(costOf(value) * others.length);
    return value;
  };
}
