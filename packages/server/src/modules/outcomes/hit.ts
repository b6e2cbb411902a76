import type { BotVerdict } from '@beckon/contract';

/** A request for something in an email: its pixel, one of its links, or the hidden link. */
export type Hit = LetterPlace & HitFacts;

export type LetterPlace = { projectId: number; messageId: string };

/**
 * The facts that classification uses. `signs` are derived from the request on arrival. `agent` and `remote` are deleted before the rest.
 */
export type HitFacts = {
  kind: 'open' | 'click' | 'trap';
  /** The link number of a click, otherwise null. */
  link: number | null;
  /** In milliseconds. */
  at: number;
  signs: readonly HitSign[];
  agent: string | null;
  remote: string | null;
};

export type HitSign = 'prefetch' | 'image_proxy' | 'bare_agent' | 'no_agent' | 'scanner' | 'bot';

/** A stored hit. `bot` is null until it is classified. */
export type KeptHit = HitFacts & { number: number; bot: BotVerdict | null };

/** The number of hits stored per email. Others are only counted. */
export const HITS_MAX = 100;
/** Hits are classified after this time, when everything that identifies a bot has happened. */
export const SETTLE_AFTER_MS = 10_000;

export type AdmittedHit = HitFacts & { number: number };
