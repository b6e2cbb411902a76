/** The compiled `html`, or the errors in words for the author. */
export type Compiled = { html: string } | { flaws: { message: string; line: number | null }[] };

/**
 * Compiles MJML. The compiler is loaded when a MJML template is first saved, because no other process needs it. It reads no files and
 * fetches no URLs.
 */
export async function compileMjml(source: string): Promise<Compiled> {
  const { default: mjml2html } = await import('mjml');
  try {
    const { html } = await mjml2html(source, {
      validationLevel: 'strict',
      keepComments: false,
      ignoreIncludes: true,
      fonts: {},
    });
    return { html: squeezed(html) };
  } catch (error) {
    return { flaws: flawsOf(error) };
  }
}

/** Removes indentation, which is half of the compiler's output. Between tags a line break becomes a space where it is visible. */
function squeezed(html: string): string {
  if (/<(?:pre|textarea)\b/i.test(html)) return html;
  return html
    .replace(/(?<![ \t])[ \t]*\n\s*/g, '\n')
    .replace(/<(\w+)\n/g, '<$1 ')
    .replace(/"\n>/g, '">')
    .trim();
}

type Listed = { errors?: { line?: number; message?: string; tagName?: string }[] };

function flawsOf(error: unknown): { message: string; line: number | null }[] {
  const listed = (error as Listed).errors ?? [];
  if (listed.length === 0)
    return [{ message: error instanceof Error ? error.message : String(error), line: null }];
  return listed.map(({ line, message, tagName }) => ({
    message: `${tagName === undefined ? '' : `${tagName}: `}${message ?? 'cannot be read'}`,
    line: line ?? null,
  }));
}

/**
 * The compiler compares each rule of `mj-style inline="inline"`, and each selector of `mj-html-attributes`, with every element. 2,300 rules
 * and 3,500 elements take 5 seconds. A page with 100 rules and 500 elements has a quarter of this limit.
 */
const INLINE_WORK_MAX = 200_000;

/** Checks the inline styles of a source before compiling. Returns the error, or null. */
export function inlineStylesFlaw(source: string): string | null {
  const rules = countInlineRules(source) + countOf(source, '<mj-selector');
  const elements = countOf(source, '<');
  if (rules * elements <= INLINE_WORK_MAX) return null;
  const [has, most] = [rules * elements, INLINE_WORK_MAX].map((count) => count.toLocaleString('en-US'));
  return `its inline styles have ${rules} selectors for ${elements} elements, a product of ${has}; at most ${most} is allowed. Move rules to an mj-style without inline, or use mj-class`;
}

/**
 * Compile time grows with the square of the number of sections: 250 with text execute 5 million blocks of code, and 500 execute 20 million.
 * A section compiles to at least 640 characters of HTML, so more of them exceed the largest body anyway.
 */
const SECTIONS_MAX = 200;

/** Checks the number of sections before compiling. Returns the error, or null. */
export function sectionsFlaw(source: string): string | null {
  const text = source.toLowerCase();
  const sections = countOf(text, '<mj-section') + countOf(text, '<mj-wrapper') + countOf(text, '<mj-hero');
  if (sections <= SECTIONS_MAX) return null;
  const has = sections.toLocaleString('en-US');
  return `it has ${has} sections and wrappers; at most ${SECTIONS_MAX} are allowed. Put more content into one section`;
}

/** MJML itself needs nine levels. The compiler recurses for each, and a thousand of them exceed its stack. */
const DEPTH_MAX = 32;
const MJML_TAG = /<(\/?)(mj[a-z-]*)(?![a-z-])([^<>]*)>/g;

/** Checks the nesting of elements before compiling. Returns the error, or null. */
export function nestingFlaw(source: string): string | null {
  const open: string[] = [];
  const counts = new Map<string, number>();
  for (const [, slash, name = '', rest = ''] of source.toLowerCase().matchAll(MJML_TAG)) {
    const count = counts.get(name) ?? 0;
    if (slash === '/') {
      // An end tag closes everything that was opened within its element.
      const closed = count === 0 ? [] : open.splice(open.lastIndexOf(name));
      for (const each of closed) counts.set(each, (counts.get(each) ?? 1) - 1);
    } else if (!rest.endsWith('/')) {
      counts.set(name, count + 1);
      open.push(name);
    }
    if (open.length > DEPTH_MAX) return `MJML elements may be nested at most ${DEPTH_MAX} levels deep`;
  }
  return null;
}

/** Counts selectors by the characters that end or separate them, in one pass. */
function countInlineRules(source: string): number {
  const text = source.toLowerCase();
  let rules = 0;
  for (let at = text.indexOf(STYLE); at !== -1; at = text.indexOf(STYLE, at + STYLE.length)) {
    const open = text.indexOf('>', at);
    if (open === -1) break;
    const close = text.indexOf('</mj-style', open);
    const end = close === -1 ? text.length : close;
    const rest = text.slice(open, end);
    if (text.slice(at, open).includes('inline')) rules += countOf(rest, '{') + countOf(rest, ',');
    at = end - STYLE.length;
  }
  return rules;
}

const STYLE = '<mj-style';

function countOf(text: string, sign: string): number {
  return text.split(sign).length - 1;
}
