/** Builds an expression for texts from `normaliseReply`: short, in lower case, without addresses, hosts, links and ids. */
export const any = (...phrases: string[]): RegExp => new RegExp(phrases.join('|'), 'u');

/** The nouns that servers use for a recipient. */
export const WHO = String.raw`(?:users?|user ?names?|user ?ids?|recipients?|mail ?box(?:es)?|inbox|addresse?e?s?|accounts?|alias|person|subscriber|e-?mail|local[- ]?part|login|destination|customer|name)`;

/** Matches up to `max` words between two others, within a sentence. */
export const words = (max: number): string => String.raw`(?: [^\s.;]+){0,${max}}`;
