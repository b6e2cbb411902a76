import { daysIn, type DayMention } from './claims.ts';
import type { ModelFacts } from './facts.ts';

/** The evidence for what a model wrote: the words of the email's author, and the facts given to the model. */
export type AiDraftingEvidence = {
  /** The author's own words, in lower case. */
  authorText: string;
  /** All words of both, in lower case. */
  words: ReadonlySet<string>;
  numbers: ReadonlySet<string>;
  days: DayMention[];
  /** URLs, email addresses and domains, whole and in lower case. */
  addresses: ReadonlySet<string>;
  withheld: ReadonlySet<string>;
  factNames: ReadonlySet<string>;
  linkIds: ReadonlySet<string>;
  /** The length of the author's email. */
  chars: number;
};

export type EvidenceInput = ModelFacts & { sourceText: string; linkIds: string[] };

/** Shorter words occur by chance. */
const WITHHELD_WORD_MIN_CHARS = 4;

export function evidenceOf({ allowed, withheld, sourceText, linkIds }: EvidenceInput): AiDraftingEvidence {
  const normalized = sourceText.normalize('NFKC');
  const values = Object.values(allowed);
  const texts = [normalized, ...values.map(String)];
  const words = new Set(texts.flatMap(wordsOf).flatMap(formsOf));
  const numbers = new Set([
    ...texts.flatMap(numbersIn),
    ...values.flatMap((value) => (typeof value === 'number' ? roundedOf(value) : [])),
  ]);
  const strange = withheld
    .flatMap((text) => wordsOf(text.normalize('NFKC')))
    .map((word) => word.toLowerCase());
  return {
    authorText: normalized.toLowerCase(),
    words,
    numbers,
    days: texts.flatMap(daysIn),
    addresses: new Set(texts.flatMap(linkableTextsIn)),
    withheld: new Set(strange.filter((word) => word.length >= WITHHELD_WORD_MIN_CHARS && !words.has(word))),
    factNames: new Set(Object.keys(allowed)),
    linkIds: new Set(linkIds),
    chars: sourceText.length,
  };
}

/** Returns the forms in which an email would write a number: 87.4 may also be written as 87. */
function roundedOf(value: number): string[] {
  return [value, Math.floor(value), Math.round(value), Number(value.toFixed(2))].map(String);
}

export const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

export function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** Returns a word, and the word without its ending. */
export function formsOf(word: string): string[] {
  const lower = word.toLowerCase().replaceAll('’', "'");
  const bare = lower.replace(/'\p{L}+$/u, '');
  return [...new Set([lower, bare, bare.replace(/s$/, '')])];
}

const NUMBER = /\d+(?:[.,'\u00A0\u202F](?=\d)\d+)*/g;
const GROUPED = /^\d{1,3}(?:[,'\u00A0\u202F]\d{3})+(?:\.\d+)?$/;

/** Normalizes numbers for comparison: 1,000 is 1000, and 3,5 is 3.5. */
export function numbersIn(text: string): string[] {
  return (text.match(NUMBER) ?? []).map((number) => {
    const plain = GROUPED.test(number) ? number.replace(/[,'\u00A0\u202F]/g, '') : number.replace(',', '.');
    const value = Number(plain);
    return Number.isNaN(value) ? number : String(value);
  });
}

const ADDRESS =
  /(?<![^\s<>()[\]"',;:])[^\s<>()[\]"',;:]*(?:@[^\s<>()[\]"',;:]+|[\p{L}\p{N}]\.\p{L}{2,}[^\s<>()[\]"',;:]*)/gu;

/** Returns text from which a mail client might make a link. */
export function linkableTextsIn(text: string): string[] {
  return (text.match(ADDRESS) ?? []).map((address) => address.toLowerCase().replace(/(?<![.!?])[.!?]+$/, ''));
}
