import type { RunOfUser, WhyRule } from '@beckon/contract/dashboard';

/** Fate is the state of a rule for one user. The kinds exclude each other, so that a rule has one state. */
export type Fate =
  | { kind: 'waiting'; draft: WhyRule['drafts'][number] }
  | { kind: 'running'; run: RunOfUser }
  | { kind: 'sent'; at: string }
  | { kind: 'ended'; draft: WhyRule['drafts'][number] }
  | { kind: 'off' }
  | { kind: 'eligible'; at: string | null }
  | { kind: 'not_eligible'; sentence: string };

/**
 * An open draft comes first, then a run that continues, then a sent email, then the evaluation of now. If the user is not eligible, a draft
 * that ended without being sent explains more than the limit on enrollments.
 */
export function fateOf(explanation: WhyRule, runs: RunOfUser[] = []): Fate {
  const { rule, on: isOn, drafts, triggers, would_fire: wouldFire } = explanation;
  const open = drafts.find(({ ended_at: endedAt }) => endedAt === null);
  if (open) return { kind: 'waiting', draft: open };
  const run = runs.find(({ rule: name, state }) => name === rule.name && state !== 'ended');
  if (run) return { kind: 'running', run };
  const sent = drafts.find(({ state }) => state === 'sent');
  if (sent?.ended_at) return { kind: 'sent', at: sent.ended_at };
  if (!isOn) return { kind: 'off' };
  return wouldFire ? { kind: 'eligible', at: startOf(triggers) } : fateOfRefused(explanation);
}

function fateOfRefused({ drafts, triggers, decisions }: WhyRule): Fate {
  const ended = drafts.find(({ ended_at: endedAt }) => endedAt !== null);
  if (ended) return { kind: 'ended', draft: ended };
  const sentence = triggers[0]?.sentence ?? decisions[0]?.sentence ?? 'the rule has no trigger';
  return { kind: 'not_eligible', sentence };
}

/** The time of the first timer that would start the rule; null if an event would. */
function startOf(triggers: WhyRule['triggers']): string | null {
  return triggers.find(({ would_fire: wouldFire, is_set: isSet }) => wouldFire && isSet)?.at ?? null;
}
