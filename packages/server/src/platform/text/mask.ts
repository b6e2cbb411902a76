/**
 * Redacts secrets and personal data in the fields of a log line.
 *
 * Texts may come from another server, a failed statement or a library. Three filters apply one after another: fields by their
 * name, texts by their form, and the secrets of this installation by their value.
 */
export type Mask = (fields: object) => object;

/** A field with one of these names, at any depth, contains a secret or personal data. */
const SECRET_NAMES = new Set([
  'address',
  'authorization',
  'body',
  'code_challenge',
  'cookie',
  'email',
  'headers',
  'key',
  'passwd',
  'password',
  'properties',
  'rcptto',
  'recipient',
  'reply',
  'response',
  'secret',
  'subject',
  'text',
  'token',
  'traits',
]);
const MASKED = '[masked]';
const DEPTH_MAX = 6;
const ENTRIES_MAX = 100;
const TEXT_MAX_CHARS = 8_000;
/** Shorter ones would match in words that reveal nothing. */
const SECRET_MIN_CHARS = 8;

/** `secrets`: the values of this installation's secrets, in any form. */
export function createMask(secrets: readonly string[] = []): Mask {
  const secretSpellings = [...new Set(secrets.flatMap(spellings))]
    .filter((secret) => secret.length >= SECRET_MIN_CHARS)
    // The longest first, because one may begin with another.
    .toSorted((a, b) => b.length - a.length);
  const text = (value: string): string => maskText(value, secretSpellings);
  return (fields) => maskObject(fields, { text, depth: 0 }) as object;
}

/** A URL encodes a password, and a third party may repeat it as base64. */
function spellings(secret: string): string[] {
  const spelled = [secret, encodeURIComponent(secret)];
  try {
    spelled.push(decodeURIComponent(secret));
  } catch {
    // Not a valid URL encoding.
  }
  const base64 = spelled.map((spelling) => Buffer.from(spelling).toString('base64').replaceAll('=', ''));
  return [...spelled, ...base64];
}

const PATTERNS: [RegExp, string][] = [
  // An email address, also in its URL-encoded form.
  [/[\p{L}\p{N}._%+'-]{1,320}(?:@|%40)[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/gu, '[address]'],
  // smtp://user:password@host: the address pattern has already replaced the host, or the host is a name without a dot.
  [/(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/?#:@]*:[^\s/?#]+(?=@|\[address\]|$)/gi, '$1[masked]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [masked]'],
  [/\b(?:[srp]k|rk|pat|cli|whsec|bkn)_[\w+/=-]{6,}/g, '[masked]'],
  // The tokens in links of emails; see `crypto/email-token.ts`.
  [/\b[a-z2-7]{34}\.[a-z2-7]{16}\b/gi, MASKED],
  [
    /\b(password|passwd|secret|token|api[_-]?key|authorization|cookie)(["']?\s*[:=]\s*["']?)[^\s"'&,;]+/gi,
    '$1$2[masked]',
  ],
];
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Apart from ids, no plain value of ours is this long without a space, a dot or a slash. */
const LONG = /[A-Za-z0-9_-]{32,}/g;

function maskText(raw: string, secrets: readonly string[]): string {
  let text = raw.length > TEXT_MAX_CHARS ? `${raw.slice(0, TEXT_MAX_CHARS)}…` : raw;
  for (const secret of secrets) if (text.includes(secret)) text = text.replaceAll(secret, MASKED);
  for (const [pattern, instead] of PATTERNS) text = text.replace(pattern, instead);
  return text.replace(LONG, (run) => (run.replace(UUID, '').length >= LONG_WITHOUT_IDS ? MASKED : run));
}
/** Allows for `msg_` and similar prefixes of an id. */
const LONG_WITHOUT_IDS = 16;

type MaskContext = { text: (value: string) => string; depth: number };

function maskObject(value: unknown, context: MaskContext): unknown {
  if (typeof value === 'string') return context.text(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (context.depth >= DEPTH_MAX) return MASKED;
  const inside = { ...context, depth: context.depth + 1 };
  if (value instanceof Error) return maskError(value, inside);
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((item) => maskObject(item, inside));
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  const entries = Object.entries(value).slice(0, ENTRIES_MAX);
  return Object.fromEntries(
    entries.map(([name, entry]) => [
      name,
      SECRET_NAMES.has(name.toLowerCase()) && entry !== null ? MASKED : maskObject(entry, inside),
    ]),
  );
}

/** The fields of PostgreSQL and system errors that name an object of ours. They never include values (`detail`, `where`, `response` …). */
const ERROR_FIELDS = [
  'code',
  'errno',
  'syscall',
  'severity',
  'table',
  'column',
  'constraint',
  'routine',
  'status',
];

function maskError(error: Error, context: MaskContext): object {
  const facts: Record<string, unknown> = { type: error.name, message: messageOf(error, context.text) };
  for (const name of ERROR_FIELDS) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value === 'string' || typeof value === 'number') facts[name] = maskObject(value, context);
  }
  facts['stack'] = framesOf(error).map(context.text).join('\n');
  if (error instanceof AggregateError)
    facts['errors'] = error.errors.slice(0, ENTRIES_MAX).map((inner) => maskObject(inner, context));
  if (error.cause !== undefined) facts['cause'] = maskObject(error.cause, context);
  return facts;
}

/** PostgreSQL quotes a value that it could not read, and a parser quotes the text at an error, including the quotes in it. */
const FIRST_TO_LAST_QUOTE = /["'].*["']/s;
const OF_DATA = /^(?:22|23|P0|XX)\w{3}$/;
const FRAMES_MAX = 12;

function messageOf(error: Error, text: (value: string) => string): string {
  const code: unknown = Reflect.get(error, 'code');
  const quotes = error instanceof SyntaxError || (typeof code === 'string' && OF_DATA.test(code));
  return text(quotes ? error.message.replace(FIRST_TO_LAST_QUOTE, `"${MASKED}"`) : error.message);
}

/** Returns the stack frames without the message, which precedes them in the same text. */
function framesOf({ stack = '' }: Error): string[] {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => line.trim());
}
