import {
  CaseTag,
  type Emitter,
  evalQuotedToken,
  IfTag,
  Liquid,
  LiquidError,
  type Template,
  toValueSync,
  TypeGuards,
  UnlessTag,
  Value,
} from 'liquidjs';
import { recentMap } from '../../platform/async/recent-map.ts';
import { formatDate, type LocaleFormats } from './locale-formats.ts';
import {
  Address,
  encoded,
  LINK_PART,
  LINK_WHOLE,
  linkPart,
  linkWhole,
  encodeMarkdownLinks,
} from './liquid-links.ts';
import { countedOperators, countFilters, countSource } from './liquid-work.ts';
import './liquid-positions.ts';
import { cut, isBlank, printed } from './print-values.ts';
import { type Findings, LiquidCheckContext } from './check-source.ts';

/**
 * The Liquid of emails: few tags and filters, no files, no includes, no prototypes, and limits on everything. Values are escaped for the
 * part that contains them, and no filter undoes that.
 *
 * Liquid either ignores names without a value or stops at the first one. Here all of them are reported, except those that the email
 * handles: in a condition, and with a `default` anywhere among the filters.
 */

/** `capture` is not included: its content has been escaped, and would be escaped again when printed. */
const TAGS = ['assign', 'break', 'case', 'comment', 'continue', 'for', 'if', 'raw', 'unless', '#'];
const FILTERS = (
  'abs append at_least at_most capitalize ceil date default divided_by downcase first floor join last minus modulo ' +
  'number plus prepend remove replace reverse round size slice sort split strip times truncate truncatewords uniq ' +
  'upcase url_encode'
).split(' ');

export const SOURCE_MAX_CHARS = 100_000;
/** The maximum number of `{{` and `{%` in one part. */
const TAGS_MAX = 500;
/** Longer sources are cached too, but only a few, so that memory stays bounded. */
const LONG_CHARS = 20_000;
/** Parsing takes up to some tens of milliseconds per 100,000 characters. The render that needs it is charged for it. */
const PARSED_CHARS_PER_UNIT = 2;

/** An error and its position; line and column start at 1. */
type Flaw = { message: string; line: number; column: number };
type Parsed = { templates: Template[] } | { flaw: Flaw };

export const HOST_FIRST =
  'a variable in a link must be its whole beginning or come after the complete host, such as https://app.example.com/';
const START = { line: 1, column: 1 };
const engine = hardened();
const parsed = {
  line: { short: recentMap<Parsed>(500), long: recentMap<Parsed>(5) },
  markdown: { short: recentMap<Parsed>(500), long: recentMap<Parsed>(30) },
  html: { short: recentMap<Parsed>(500), long: recentMap<Parsed>(100) },
};

/** The syntax of a part. In URLs within Markdown, variables get the filter that they need there. */
export type Markup = 'line' | 'markdown' | 'html';

/** Parses a source, or returns it from the cache of recent ones. The templates of all projects are few and used repeatedly. */
export function parsePart(source: string, markup: Markup, findings?: Findings): Parsed {
  const remembered = parsed[markup][source.length > LONG_CHARS ? 'long' : 'short'];
  let entry = remembered.get(source);
  if (entry === undefined) {
    entry = markup === 'markdown' ? parseMarkdown(source) : parse(source);
    remembered.set(source, entry);
    findings?.noteParsed(source.length / PARSED_CHARS_PER_UNIT);
  }
  return entry;
}

/** Returns the text up to the first error, and that error. */
export function renderPart(
  templates: Template[],
  options: { findings: Findings; write: (value: unknown) => string; charsMax: number },
): { text: string; failure: string | null } {
  const { findings } = options;
  const reading = new LiquidCheckContext(engine, options);
  const page = new Page(options.charsMax);
  let failure: string | null = null;
  try {
    toValueSync(engine.renderer.renderTemplates(templates, reading, page));
  } catch (error) {
    // A user's traits may cause the error, so it is reported for this email only and stops nothing else.
    failure = messageOf(error);
  }
  for (const name of reading.unset) findings.noteMissing(name);
  return { text: page.buffer, failure };
}

class Page implements Emitter {
  buffer = '';
  readonly #charsMax: number;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  readonly write = (text: unknown): void => {
    if (typeof text !== 'string') return;
    const left = this.#charsMax - this.buffer.length;
    this.buffer += text.length <= left ? text : text.slice(0, left);
    if (text.length > left)
      throw new RangeError(`it is longer than ${this.#charsMax.toLocaleString('en-US')} characters`);
  };
}

function parse(source: string): Parsed {
  const tagCount = source.split(/\{[{%]/, TAGS_MAX + 2).length - 1;
  if (tagCount > TAGS_MAX)
    return { flaw: { message: `there are more than ${TAGS_MAX} places to fill in`, ...START } };
  try {
    const templates = engine.parse(source);
    prepare(templates);
    return { templates };
  } catch (error) {
    const [line, column] = LiquidError.is(error) ? error.token.getPosition() : [];
    return { flaw: { message: messageOf(error), line: line ?? START.line, column: column ?? START.column } };
  }
}

/** Parses the source unchanged first, so that errors have positions in it. */
function parseMarkdown(source: string): Parsed {
  const plain = parse(source);
  if ('flaw' in plain || !source.includes('{{')) return plain;
  const placed = encodeMarkdownLinks(source);
  if ('source' in placed) return placed.source === source ? plain : parse(placed.source);
  const before = source.slice(0, placed.at).split('\n');
  return {
    flaw: { message: HOST_FIRST, line: before.length, column: (before.at(-1) ?? '').length + 1 },
  };
}

/** Runs once per parsed template. */
function prepare(templates: Template[]): void {
  for (const template of templates) {
    countSource(template);
    const isTested = isCondition(template);
    for (const argument of template.arguments?.() ?? []) {
      if (!(argument instanceof Value)) continue;
      const defaults = argument.filters.filter((filter) => filter.name === 'default');
      if (isTested || defaults.length > 0) countComparison(argument, isTested || defaults.some(isNothing));
    }
    const children = template.children?.(false, true);
    if (children !== undefined) prepare(toValueSync(children) as Template[]);
  }
}

function isCondition(template: Template): boolean {
  return template instanceof IfTag || template instanceof UnlessTag || template instanceof CaseTag;
}

/** Returns whether the default is `""`, which allows a gap. */
function isNothing({ args }: Value['filters'][number]): boolean {
  return args.some((arg) => TypeGuards.isQuotedToken(arg) && evalQuotedToken(arg) === '');
}

function countComparison(value: Value, mayBeNothing: boolean): void {
  const evaluate = value.value.bind(value);
  value.value = function* (context): Generator<unknown, unknown, unknown> {
    if (!(context instanceof LiquidCheckContext)) return yield evaluate(context);
    const before = context.unset;
    context.unset = new Set();
    const result = yield evaluate(context);
    const unset = context.unset;
    context.unset = before;
    // A default without a value replaces nothing.
    if (!mayBeNothing && (result === undefined || result === null || result === ''))
      for (const name of unset) context.noteUnset(name);
    return result;
  };
}

function hardened(): Liquid {
  const liquid = new Liquid({
    templates: {},
    dynamicPartials: false,
    ownPropertyOnly: true,
    strictFilters: true,
    locale: 'en-US',
    parseLimit: SOURCE_MAX_CHARS,
    operators: countedOperators(),
    outputEscape(this: { context: unknown }, value: unknown) {
      if (value instanceof Address) return value.written;
      return this.context instanceof LiquidCheckContext ? this.context.written(value) : '';
    },
  });
  liquid.registerFilter('date', function (value: unknown, ...args: unknown[]) {
    if (!(this.context instanceof LiquidCheckContext)) return value;
    const { findings } = this.context;
    const format = args.find((arg) => !isNamed(arg));
    const formats = (): LocaleFormats => findings.formats(localeIn(args));
    return formatDate(value, format, { formats, zone: findings.zone }) ?? value;
  });
  liquid.registerFilter('number', function (value: unknown, ...args: unknown[]) {
    if (typeof value !== 'number' || !(this.context instanceof LiquidCheckContext)) return value;
    return this.context.findings.formats(localeIn(args)).number(value);
  });
  liquid.registerFilter('default', (value: unknown, fallback: unknown) =>
    value === false || isBlank(printed(value)) ? fallback : value,
  );
  // Encodes as Liquid does, but does not fail on half a surrogate pair.
  liquid.registerFilter('url_encode', (value: unknown) => encoded(printed(value)).replaceAll('%20', '+'));
  liquid.registerFilter(LINK_PART, linkPart);
  liquid.registerFilter(LINK_WHOLE, function (value: unknown, name: unknown, use: unknown) {
    const address = linkWhole(value, use);
    if (address === null && this.context instanceof LiquidCheckContext)
      this.context.findings.noteMissing(String(name));
    return address;
  });
  for (const name of Object.keys(liquid.tags)) if (!TAGS.includes(name)) delete liquid.tags[name];
  const filters = [...FILTERS, LINK_PART, LINK_WHOLE];
  for (const name of Object.keys(liquid.filters)) if (!filters.includes(name)) delete liquid.filters[name];
  countFilters(liquid);
  return liquid;
}

/** Liquid passes a named argument of a filter as a pair. */
function isNamed(arg: unknown): arg is [string, unknown] {
  return Array.isArray(arg) && arg.length === 2 && arg[0] === 'locale';
}

/** The argument `locale:` of `date` and `number`. */
function localeIn(args: unknown[]): unknown {
  return args.find(isNamed)?.[1];
}

/** Messages of Liquid quote the source, in any length. */
const MESSAGE_MAX_CHARS = 300;
const NAME_MAX_CHARS = 100;

/** Liquid describes the error well, but not what is allowed instead. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const filter = quoted(message, 'undefined filter: ', '');
  if (filter !== null) return `filter "${filter}" does not exist. Use one of ${FILTERS.join(', ')}`;
  const tag = quoted(message, 'tag "', '" not found');
  if (tag !== null) return `tag "${tag}" does not exist. Use one of ${TAGS.join(', ')}`;
  return cut(withoutPosition(message), MESSAGE_MAX_CHARS);
}

/** Returns the text that a message quotes between two others, or null for another message. */
function quoted(message: string, before: string, after: string): string | null {
  const text = withoutPosition(message);
  if (!text.startsWith(before) || !text.endsWith(after)) return null;
  return cut(text.slice(before.length, text.length - after.length), NAME_MAX_CHARS);
}

const POSITION_MAX_CHARS = 40;

/** Liquid appends the line and column, which are reported separately. */
function withoutPosition(message: string): string {
  const end = message.slice(-POSITION_MAX_CHARS);
  return message.slice(0, -POSITION_MAX_CHARS) + end.replace(/, line:\d+, col:\d+$/, '');
}
