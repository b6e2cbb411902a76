/** Phrases are asked of texts whose addresses, hosts, links and ids are gone (`normaliseReply`), so in lower case and short. */
export const any = (...phrases: string[]): RegExp => new RegExp(phrases.join('|'), 'u');

/** Whom a letter is for, in the words that servers have for it. */
export const WHO = String.raw`(?:users?|user ?names?|user ?ids?|recipients?|mail ?box(?:es)?|inbox|addresse?e?s?|accounts?|alias|person|subscriber|e-?mail|local[- ]?part|login|destination|customer|name)`;

/** Up to so many words between two others, within a sentence. */
export const words = (max: number): string => String.raw`(?: [^\s.;]+){0,${max}}`;
