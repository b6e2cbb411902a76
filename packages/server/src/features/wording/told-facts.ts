import { parseInstant } from '../../base/instant.ts';

/**
 * What a model is told of a person. Only what the letter itself reads, and of that only what is plainly a value: a name, a
 * plan, a number, a day. Whoever signs up may write a whole letter to the model into their name; such a value is not told at
 * all, and none of its words may come back.
 */
export type ToldFacts = {
  told: Record<string, string | number | boolean>;
  /** Texts that were not told. */
  withheld: string[];
};

const FACTS_MAX = 20;
const VALUE_MAX_CHARS = 200;
const NAME_MAX_CHARS = 100;
/** Longer ones are prose. */
const PLAIN_MAX_CHARS = 60;
const PLAIN_MAX_WORDS = 5;
const ITEMS_MAX = 5;
const WITHHELD_MAX_CHARS = 10_000;

export function tellFacts(facts: Record<string, unknown>): ToldFacts {
  const told: ToldFacts['told'] = {};
  const withheld: string[] = [];
  const zone = typeof facts.zone === 'string' ? facts.zone : null;
  for (const [name, value] of Object.entries(facts)) {
    if (name === 'zone' || name === 'locale' || name.length > NAME_MAX_CHARS || value === null) continue;
    const written = writtenValue(value, zone);
    if (written === null || Object.keys(told).length >= FACTS_MAX) withheld.push(...textsIn(value));
    else told[name] = written;
  }
  return { told, withheld };
}

/** Null for what a model is not told. */
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

/** A day as a reader would be told it; a moment where the letter says in whose zone, or else it is no day of anybody's. */
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

/** What is in a name is letters, figures and a little between them. */
const PLAIN = /^[\p{L}\p{M}\p{N} .,'’&+_()-]+$/u;
const EMAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;
const LIKE_DOMAIN = /[\p{L}\p{N}]\.\p{L}{2,}/u;
/** What asks, promises or gives away, in a place where a name should be. */
const SUSPICIOUS =
  /\b(?:ignore|disregard|forget|instead|instruct\w*|system|prompt|assistant|above|previous|write|say|reply|respond|answer|output|repeat|print|tell|include|mention|click|visit|buy|pay|call|send|please|must|you|your|discount\w*|refund\w*|guarantee\w*|legal\w*|coupon\w*|voucher\w*|percent|off|http\w*|www|dot|canary|secret)\b/i;

function plainText(text: string): string | null {
  const known = text.trim();
  if (EMAIL.test(known) && known.length <= PLAIN_MAX_CHARS) return known;
  const isShort = known.length <= PLAIN_MAX_CHARS && known.split(/[\s_]+/).length <= PLAIN_MAX_WORDS;
  if (!isShort || !PLAIN.test(known) || known !== known.normalize('NFKC')) return null;
  return LIKE_DOMAIN.test(known) || SUSPICIOUS.test(known.replaceAll('_', ' ')) ? null : known;
}

function textsIn(value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined ? [] : [text.slice(0, WITHHELD_MAX_CHARS)];
}
