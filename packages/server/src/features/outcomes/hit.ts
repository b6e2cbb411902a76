import type { BotVerdict } from '@beckon/contract';

/** One fetch of something that stands in a letter: its pixel, one of its links, or the link that nobody sees. */
export type Hit = LetterPlace & HitFacts;

export type LetterPlace = { projectId: number; messageId: string };

/** What a verdict rests on. `signs` are read from the request when it comes; who it was is forgotten before the rest. */
export type HitFacts = {
  kind: 'open' | 'click' | 'trap';
  /** The number of the link of a click; null for everything else. */
  link: number | null;
  /** Milliseconds. */
  at: number;
  signs: readonly HitSign[];
  agent: string | null;
  remote: string | null;
};

export type HitSign = 'prefetch' | 'image_proxy' | 'bare_agent' | 'no_agent' | 'scanner' | 'bot';

/** One that is kept. `bot` is null until its verdict. */
export type KeptHit = HitFacts & { number: number; bot: BotVerdict | null };

/** So many hits of a letter are kept; the others are only counted. */
export const HITS_MAX = 100;
/** What a hit was is said so long after it: by then whatever tells a machine has happened. */
export const SETTLE_AFTER_MS = 10_000;

export type AdmittedHit = HitFacts & { number: number };
