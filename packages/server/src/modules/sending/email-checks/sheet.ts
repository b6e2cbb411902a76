/**
 * The simple rules of a style sheet: those whose selectors are tags, classes and ids, nested or not. Mail clients support little more.
 * Everything else is ignored. The sheet is read once from start to end, up to a limit.
 */
export type Sheet = {
  rules: SheetRule[];
  /** It defines its own appearance in dark mode. */
  knowsDark: boolean;
  /** It allows the client to use a dark background. */
  hasDarkGround: boolean;
  imports: boolean;
};

export type SheetRule = {
  /** From the outermost element to the element itself. */
  path: Compound[];
  declarations: Declaration[];
  specificity: number;
  isDark: boolean;
};

export type Compound = { tag: string | null; id: string | null; classes: string[] };
export type Declaration = { property: string; value: string; isImportant: boolean };

const CSS_MAX_CHARS = 64 * 1024;
const RULES_MAX = 1_000;
const DECLARATIONS_MAX = 50;
const VALUE_MAX_CHARS = 300;

export function parseSheet(text: string): Sheet {
  const css = withoutComments(text.slice(0, CSS_MAX_CHARS));
  const sheet: Sheet = { rules: [], knowsDark: false, hasDarkGround: false, imports: false };
  readBlocks(css, { sheet, isDark: false });
  return sheet;
}

export function parseDeclarations(text: string): Declaration[] {
  return splitOutside(text.slice(0, CSS_MAX_CHARS), ';')
    .slice(0, DECLARATIONS_MAX)
    .flatMap((part) => {
      const colon = part.indexOf(':');
      if (colon < 0) return [];
      const property = part.slice(0, colon).trim().toLowerCase();
      const whole = part
        .slice(colon + 1)
        .slice(0, VALUE_MAX_CHARS)
        .trim();
      const value = whole.replace(/!\s*important$/i, '').trimEnd();
      return [{ property, value, isImportant: value !== whole }];
    });
}

type SheetContext = { sheet: Sheet; isDark: boolean };

function readBlocks(css: string, context: SheetContext): void {
  let at = 0;
  while (at < css.length && context.sheet.rules.length < RULES_MAX) {
    const open = css.indexOf('{', at);
    const head = skipStatements(css.slice(at, open < 0 ? css.length : open), context.sheet);
    if (open < 0) return;
    const close = closingBrace(css, open);
    const body = css.slice(open + 1, close);
    if (head.startsWith('@')) readAtRule(head.toLowerCase(), body, context);
    else addRules(head, body, context);
    at = close + 1;
  }
}

/** Skips the statements before a block. Statements such as an import end at a semicolon. */
function skipStatements(text: string, sheet: Sheet): string {
  const start = text.lastIndexOf(';') + 1;
  if (/@import/i.test(text.slice(0, start))) sheet.imports = true;
  return text.slice(start).trim();
}

/** Reads only media rules for all screens and for dark mode, because a narrow screen changes no colors. Deeper nesting is ignored. */
function readAtRule(head: string, body: string, context: SheetContext): void {
  if (context.isDark || !head.startsWith('@media')) return;
  if (/prefers-color-scheme\s*:\s*dark/.test(head)) {
    context.sheet.knowsDark = true;
    readBlocks(body, { ...context, isDark: true });
  }
}

function addRules(head: string, body: string, { sheet, isDark }: SheetContext): void {
  const declarations = parseDeclarations(body);
  if (declarations.some(isDarkScheme)) {
    sheet.knowsDark = true;
    sheet.hasDarkGround = true;
  }
  for (const selector of head.split(',').slice(0, RULES_MAX)) {
    const path = parseSelector(selector);
    if (path === undefined || sheet.rules.length >= RULES_MAX) continue;
    const specificity = path.reduce((sum, compound) => sum + weigh(compound), 0);
    sheet.rules.push({ path, declarations, specificity, isDark });
  }
}

function isDarkScheme({ property, value }: Declaration): boolean {
  return /^(?:supported-)?color-schemes?$/.test(property) && /\bdark\b/i.test(value);
}

const PATH_MAX = 6;
const COMPOUND = /^(\*|[a-z][a-z0-9]*)?((?:[.#][\w-]+){0,6})$/i;

function parseSelector(selector: string): Compound[] | undefined {
  if (selector.length > VALUE_MAX_CHARS) return undefined;
  const words = selector.replaceAll('>', ' ').trim().split(/\s+/);
  const path = words.map(parseCompound);
  const isPlain = path.every((compound) => compound !== undefined);
  return isPlain && path.length <= PATH_MAX ? path : undefined;
}

function parseCompound(text: string): Compound | undefined {
  const [matched, tag, marks = ''] = COMPOUND.exec(text) ?? [];
  if (matched === undefined || matched === '') return undefined;
  const parts = marks.match(/[.#][\w-]+/g) ?? [];
  const named = (sign: string): string[] =>
    parts.filter((part) => part.startsWith(sign)).map((part) => part.slice(1));
  return {
    tag: tag === undefined || tag === '*' ? null : tag.toLowerCase(),
    id: named('#')[0] ?? null,
    classes: named('.'),
  };
}

function weigh({ tag, id, classes }: Compound): number {
  return (id === null ? 0 : 10_000) + classes.length * 100 + (tag === null ? 0 : 1);
}

function withoutComments(css: string): string {
  const kept: string[] = [];
  let at = 0;
  while (at < css.length) {
    const open = css.indexOf('/*', at);
    kept.push(css.slice(at, open < 0 ? css.length : open));
    if (open < 0) break;
    const close = css.indexOf('*/', open + 2);
    at = close < 0 ? css.length : close + 2;
  }
  // HTML comment marks, which hid a sheet from browsers of the 1990s, are not part of it.
  return kept.join(' ').replaceAll('<!--', ' ').replaceAll('-->', ' ');
}

/** Returns the end of the block that begins here, or the end of the text if it is not closed. */
function closingBrace(css: string, open: number): number {
  let depth = 0;
  for (let at = open; at < css.length; at += 1) {
    if (css[at] === '{') depth += 1;
    if (css[at] !== '}') continue;
    depth -= 1;
    if (depth === 0) return at;
  }
  return css.length;
}

/** Splits at a character, except within brackets or quotes, as in `url(data:image/png;base64,…)`. */
function splitOutside(text: string, sign: string): string[] {
  const parts: string[] = [];
  let [from, depth, quote] = [0, 0, ''];
  for (let at = 0; at < text.length; at += 1) {
    const here = text[at] ?? '';
    if (quote !== '') quote = here === quote ? '' : quote;
    else if (here === '"' || here === "'") quote = here;
    else if (here === '(') depth += 1;
    else if (here === ')') depth = Math.max(0, depth - 1);
    else if (here === sign && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
