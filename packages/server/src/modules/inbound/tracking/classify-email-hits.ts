import {
  type WhatHappened,
  type HitFacts,
  type KeptHit,
  SETTLE_AFTER_MS,
  judgeHits,
  type Verdict,
} from '../../outcomes/index.ts';
import type { DueLetter } from './hit-reads.ts';

export type SettledLetter = {
  judged: ({ number: number } & Verdict)[];
  happened: (WhatHappened & { occurredAt: number })[];
  /** When the next of its hits is due, or null if all are classified. */
  settleAt: number | null;
};

/** Classifies the due hits of an email with regard to all others, and returns the resulting outcomes. */
export function settleLetter(
  { sentAt, opens, urls }: Omit<DueLetter, 'messageId'>,
  hits: readonly KeptHit[],
  now: number,
): SettledLetter {
  const verdicts = judgeHits(hits, sentAt);
  const due = hits.flatMap((hit, at) => {
    const verdict = verdicts[at];
    return verdict && hit.bot === null && hit.at + SETTLE_AFTER_MS <= now ? [{ hit, verdict }] : [];
  });
  const later = hits.filter(({ bot, at }) => bot === null && at + SETTLE_AFTER_MS > now);
  const inTime = due.toSorted((a, b) => a.hit.at - b.hit.at || a.hit.number - b.hit.number);
  return {
    judged: due.map(({ hit, verdict }) => ({ number: hit.number, ...verdict })),
    happened: inTime.flatMap(({ hit, verdict }) => whatHappened(hit, verdict, { opens, urls })),
    settleAt: later.length === 0 ? null : Math.min(...later.map(({ at }) => at)) + SETTLE_AFTER_MS,
  };
}

type Happening = SettledLetter['happened'];

/** A human who follows a link has read the email, even if its images were not loaded. */
function whatHappened(
  { kind, link, at }: HitFacts,
  { bot, reason }: Verdict,
  { opens, urls }: Pick<DueLetter, 'opens' | 'urls'>,
): Happening {
  const occurredAt = at;
  if (kind === 'open') return [{ type: 'email.opened', bot, botReason: reason, occurredAt }];
  const url = link === null ? undefined : urls[link];
  if (kind === 'trap' || link === null || url === undefined) return [];
  const clicked = { type: 'email.clicked', bot, botReason: reason, link, url, occurredAt } as const;
  if (bot !== 'no' || !opens) return [clicked];
  return [{ type: 'email.opened', bot, botReason: 'click', occurredAt }, clicked];
}
