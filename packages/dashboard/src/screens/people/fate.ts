import type { WhyRule } from '@beckon/contract/dashboard';

/** What a rule did, does or would do for a user. The kinds exclude each other, so that a rule has one answer. */
export type Fate =
  | { kind: 'waiting'; draft: WhyRule['drafts'][number] }
  | { kind: 'sent'; at: string }
  | { kind: 'off' }
  | { kind: 'eligible'; at: string | null }
  | { kind: 'not_eligible'; sentence: string };

/** An open draft comes first, then a sent email. Without either, the evaluation of now decides. */
export function fateOf({ on: isOn, drafts, triggers, would_fire: wouldFire, decisions }: WhyRule): Fate {
  const open = drafts.find(({ ended_at: endedAt }) => endedAt === null);
  if (open) return { kind: 'waiting', draft: open };
  const sent = drafts.find(({ state }) => state === 'sent');
  if (sent?.ended_at) return { kind: 'sent', at: sent.ended_at };
  if (!isOn) return { kind: 'off' };
  if (wouldFire) {
    const starting = triggers.filter((trigger) => trigger.would_fire);
    return { kind: 'eligible', at: starting.find(({ is_set: isSet }) => isSet)?.at ?? null };
  }
  const sentence = triggers[0]?.sentence ?? decisions[0]?.sentence ?? 'the rule has no trigger';
  return { kind: 'not_eligible', sentence };
}
