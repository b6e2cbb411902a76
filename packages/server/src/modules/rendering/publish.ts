import { analyzeSync, type Template } from 'liquidjs';
import { compileEmail } from './compile-email.ts';
import { type Markup, parsePart, SOURCE_MAX_CHARS } from './liquid.ts';
import { markupOf } from './render.ts';
import { EMAIL_PARTS, type EmailPart, type TemplateText, refused, type TemplateSource } from './template.ts';
import type { FieldFault } from '../../platform/fault.ts';

/** An email that can be rendered, with the output of its MJML. Otherwise a fault with all errors is thrown. */
export type Publishable = TemplateSource & { html: string | null };

/** Call it before taking the project lock, because compiling takes a while. */
export async function publishable(source: TemplateSource): Promise<Publishable> {
  const { format, ...text } = source;
  const faults = checkEmail({ ...text, format: format === 'mjml' ? 'html' : 'markdown' });
  if (faults.length > 0) throw refused(faults.map(withField));
  if (format === 'markdown') return { ...source, html: null };
  const compiled = await compileEmail(text.body);
  if ('html' in compiled) return { ...source, html: compiled.html };
  throw refused(compiled.flaws.map((message) => ({ message: `body: ${message}`, field: 'body' })));
}

function withField({ message, field }: FieldFault): FieldFault {
  return field === undefined || message.startsWith(`the ${field} `)
    ? { message, ...(field === undefined ? {} : { field }) }
    : { message: `${field}: ${message}`, field };
}

const LINE_MAX_CHARS = 1_000;
/** The names below each root. Null: any name, because they come from users and events. */
const NAMES: Record<string, string[] | null> = {
  user: null,
  event: null,
  project: ['name'],
  run: ['ends_at'],
};

/** The unsubscribe URL in a page with its own layout. It is not a variable, but the place for the recipient's link. */
const UNSUBSCRIBE_NAME = 'unsubscribe_url';

/** Checks an email before it is stored. The result is empty if it can be rendered. The field is the part with the error. */
export function checkEmail(email: TemplateText): FieldFault[] {
  return EMAIL_PARTS.flatMap((part) =>
    faultsOf(email[part], part, markupOf(email, part)).map((message) => ({ message, field: part })),
  );
}

function faultsOf(source: string, part: EmailPart, markup: Markup): string[] {
  const charsMax = part === 'body' ? SOURCE_MAX_CHARS : LINE_MAX_CHARS;
  if (source.length > charsMax) {
    return [
      `the ${part} has ${source.length} characters; at most ${charsMax.toLocaleString('en-US')} are allowed`,
    ];
  }
  if (part !== 'preheader' && source.trim() === '') return [`the ${part} must not be empty`];
  if (!source.isWellFormed() || /[^\P{Cc}\r\n\t]/u.test(source))
    return [`the ${part} has control characters in it`];
  if (part !== 'body' && /[\r\n]/.test(source)) return [`the ${part} must be a single line`];
  const parsed = parsePart(source, markup);
  if ('templates' in parsed) return unknownNames(parsed.templates, markup);
  const { line, column, message } = parsed.flaw;
  return [`line ${line}, column ${column}: ${message}`];
}

/** Reports names that can never have a value, because they would be missing in every email. */
function unknownNames(templates: Template[], markup: Markup): string[] {
  const found = Object.values(analyzeSync(templates, { partials: false }).globals).flat();
  return found.flatMap(({ segments: [root, name], location }) => {
    const below = typeof root === 'string' && Object.hasOwn(NAMES, root) ? NAMES[root] : undefined;
    const at = `line ${location.row}, column ${location.col}`;
    if (root === UNSUBSCRIBE_NAME && markup === 'html') return [];
    if (below === undefined) return [`${at}: "${String(root)}" is unknown. Use ${list(Object.keys(NAMES))}`];
    if (below === null && name === undefined) {
      return [`${at}: "${String(root)}" needs a field, such as ${String(root)}.name`];
    }
    if (below === null || typeof name !== 'string' || below.includes(name)) return [];
    return [
      `${at}: "${String(root)}.${name}" is unknown. Use ${list(below.map((variable) => `${String(root)}.${variable}`))}`,
    ];
  });
}

function list(words: string[]): string {
  return words.join(', ');
}
