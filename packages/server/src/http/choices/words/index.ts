import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { nl } from './nl.ts';
import { pt } from './pt.ts';

export type { Words } from './words.ts';

/** Another language is another file and a line here. */
export const LANGUAGES = { en, de, fr, es, nl, pt, it, ja, ar };
export type Language = keyof typeof LANGUAGES;
