import { parseInstant } from '../../../platform/time/time-text.ts';

/**
 * The facts about a user that a model gets. These are only values that the email itself reads, and only plain ones such as a name, a plan,
 * a number or a day. A person who signs up can write instructions for the model into their name. Such a value is withheld, and none of its
 * words may occur in the answer.
 */
export type ModelFacts = {
  allowed: Record<string, string | number | boolean>;
  /** Texts that were withheld. */
  withheld: string[];
};

const FACTS_MAX = 20;
const VALUE_MAX_CHARS = 200;
const NAME_MAX_CHARS = 100;
/** Longer texts are prose. */
const PLAIN_MAX_CHARS = 60;
const PLAIN_MAX_WORDS = 5;
const ITEMS_MAX = 5;
const WITHHELD_MAX_CHARS = 10_000;

export function selectFacts(facts: Record<string, unknown>): ModelFacts {
  const allowed: ModelFacts['allowed'] = {};
  const withheld: string[] = [];
  const zone = typeof facts.zone === 'string' ? facts.zone : null;
  for (const [name, value] of Object.entries(facts)) {
    if (name === 'zone' || name === 'locale' || name.length > NAME_MAX_CHARS || value === null) continue;
    const written = writtenValue(value, zone);
    if (written === null || Object.keys(allowed).length >= FACTS_MAX) withheld.push(...textsIn(value));
    else allowed[name] = written;
  }
  return { allowed, withheld };
}

/** Returns null for a value that is withheld from the model. */
function writtenValue(value: unknown, zone: string | null): string | number | boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string') return dayIn(value, zone) ?? plainText(value);
  if (!Array.isArray(value) || value.length > ITEMS_MAX) return null;
  const items = value.map((item: unknown) => (typeof item === 'string' ? plainText(item) : null));
  return items.length > 0 && items.every((item) => item !== null)
    ? items.join(', ').slice(0, VALUE_MAX_CHARS)
    : null;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT/;

/** Returns the day as a reader would see it. A time has a day only if the email's time zone is known. */
function dayIn(text: string, zone: string | null): string | null {
  if (!DATE.test(text) && (!INSTANT.test(text) || zone === null)) return null;
  const ms = parseInstant(text);
  if (Number.isNaN(ms)) return null;
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(
    DATE.test(text) ? 'UTC' : (zone ?? 'UTC'),
  );
  const [weekday, month] = [
    local.toLocaleString('en-GB', { weekday: 'long' }),
    local.toLocaleString('en-GB', { month: 'long' }),
  ];
  return `${weekday}, ${local.day} ${month} ${local.year}`;
}

/** A name consists of letters, digits and a few separators. */
const PLAIN = /^[\p{L}\p{M}\p{N} .,'’&+_()-]+$/u;
const EMAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;
const LIKE_DOMAIN = /[\p{L}\p{N}]\.\p{L}{2,}/u;
/** Words of requests, promises or disclosures, where a name is expected. */
const SUSPICIOUS =
  /\b(?:ignore|disregard|forget|instead|instruct\w*|system|prompt|assistant|above|previous|write|say|reply|respond|answer|output|repeat|print|tell|include|mention|click|visit|buy|pay|call|send|please|must|you|your|discount\w*|refund\w*|guarantee\w*|legal\w*|coupon\w*|voucher\w*|percent|off|http\w*|www|dot|canary|secret)\b/i;

function plainText(text: string): string | null {
  const trimmed = text.trim();
  if (EMAIL.test(trimmed) && trimmed.length <= PLAIN_MAX_CHARS) return trimmed;
  const isShort = trimmed.length <= PLAIN_MAX_CHARS && trimmed.split(/[\s_]+/).length <= PLAIN_MAX_WORDS;
  if (!isShort || !PLAIN.test(trimmed) || trimmed !== trimmed.normalize('NFKC')) return null;
  return LIKE_DOMAIN.test(trimmed) || SUSPICIOUS.test(trimmed.replaceAll('_', ' ')) ? null : trimmed;
}

function textsIn(value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined ? [] : [text.slice(0, WITHHELD_MAX_CHARS)];
}
