import { daysIn, type ToldDay } from './dates.ts';
import type { ToldFacts } from './told-facts.ts';

/** What bears out what a model wrote: the words that the letter's author wrote, and the facts that the model was told. */
export type Evidence = {
  /** The author's own, in lower case. */
  own: string;
  /** All words of both, in lower case. */
  words: ReadonlySet<string>;
  numbers: ReadonlySet<string>;
  days: ToldDay[];
  /** Addresses and domains, whole and in lower case. */
  places: ReadonlySet<string>;
  withheld: ReadonlySet<string>;
  factNames: ReadonlySet<string>;
  linkIds: ReadonlySet<string>;
  /** How long the author's letter is. */
  chars: number;
};

export type EvidenceOf = ToldFacts & { ownText: string; linkIds: string[] };

/** Shorter ones come up by themselves. */
const WITHHELD_WORD_MIN_CHARS = 4;

export function evidenceOf({ told, withheld, ownText, linkIds }: EvidenceOf): Evidence {
  const own = ownText.normalize('NFKC');
  const values = Object.values(told);
  const texts = [own, ...values.map(String)];
  const words = new Set(texts.flatMap(wordsOf).flatMap(formsOf));
  const numbers = new Set([
    ...texts.flatMap(numbersIn),
    ...values.flatMap((value) => (typeof value === 'number' ? roundedOf(value) : [])),
  ]);
  const strange = withheld
    .flatMap((text) => wordsOf(text.normalize('NFKC')))
    .map((word) => word.toLowerCase());
  return {
    own: own.toLowerCase(),
    words,
    numbers,
    days: texts.flatMap(daysIn),
    places: new Set(texts.flatMap(placesIn)),
    withheld: new Set(strange.filter((word) => word.length >= WITHHELD_WORD_MIN_CHARS && !words.has(word))),
    factNames: new Set(Object.keys(told)),
    linkIds: new Set(linkIds),
    chars: ownText.length,
  };
}

/** As a letter would say it: 87.4 is 87 of a hundred, too. */
function roundedOf(value: number): string[] {
  return [value, Math.floor(value), Math.round(value), Number(value.toFixed(2))].map(String);
}

export const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

export function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** A word, and what it is without its ending. */
export function formsOf(word: string): string[] {
  const known = word.toLowerCase().replaceAll('’', "'");
  const bare = known.replace(/'\p{L}+$/u, '');
  return [...new Set([known, bare, bare.replace(/s$/, '')])];
}

const NUMBER = /\d+(?:[.,'\u00A0\u202F](?=\d)\d+)*/g;
const GROUPED = /^\d{1,3}(?:[,'\u00A0\u202F]\d{3})+(?:\.\d+)?$/;

/** Numbers as one writes them to compare them: 1,000 is 1000, and 3,5 is 3.5. */
export function numbersIn(text: string): string[] {
  return (text.match(NUMBER) ?? []).map((number) => {
    const plain = GROUPED.test(number) ? number.replace(/[,'\u00A0\u202F]/g, '') : number.replace(',', '.');
    const value = Number(plain);
    return Number.isNaN(value) ? number : String(value);
  });
}

const PLACE =
  /(?<![^\s<>()[\]"',;:])[^\s<>()[\]"',;:]*(?:@[^\s<>()[\]"',;:]+|[\p{L}\p{N}]\.\p{L}{2,}[^\s<>()[\]"',;:]*)/gu;

/** What a mail program might make a link of. */
export function placesIn(text: string): string[] {
  return (text.match(PLACE) ?? []).map((place) => place.toLowerCase().replace(/(?<![.!?])[.!?]+$/, ''));
}
