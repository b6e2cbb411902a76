import {
  CaseTag,
  type Context,
  type Emitter,
  IfTag,
  RawTag,
  type Template,
  Token,
  UnlessTag,
  Value,
} from 'liquidjs';
import { Reading } from './check-source.ts';
import { CHARS_PER_UNIT, costOf, PIECE_CHARS } from './render-work.ts';

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
    if (context instanceof Reading) context.work.charge(units);
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
  const given = argument.filters.flatMap(({ args }) =>
    args.map((arg) => (Array.isArray(arg) ? arg[1] : arg)),
  );
  return given.reduce((sum, token) => sum + (token?.size() ?? 0), operands);
}

/** Charges the comparisons of `case`, which compares its value with each `when` without an operator. */
function countComparisons(template: CaseTag): void {
  const [target, ...others] = template.arguments();
  if (!(target instanceof Value)) return;
  const evaluate = target.value.bind(target);
  target.value = function* (context): Generator<unknown, unknown, unknown> {
    const value = yield evaluate(context);
    if (context instanceof Reading) context.work.charge(costOf(value) * others.length);
    return value;
  };
}
