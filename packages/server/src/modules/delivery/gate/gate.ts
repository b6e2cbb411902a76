import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { printDuration } from '../../../platform/time/time-text.ts';
import { heldByCap } from '../../sending/index.ts';
import { quietUntil, releaseAt } from './quiet-hours.ts';
import type { Policy, GateFacts } from './facts.ts';

export type GateReason =
  | 'restore_unconfirmed'
  | 'paused'
  | 'rule_off'
  | 'suppressed'
  | 'topic_unsubscribed'
  | 'no_address'
  | 'domain_not_ready'
  | 'no_sender'
  | 'public_url'
  | 'quiet_hours'
  | 'frequency_cap'
  | 'frequency_cap_yielded'
  | 'throttle'
  | 'domain_throttle'
  | 'provider_throttle'
  | 'warmup';

/** `until`: when the gate is checked again, always later than now. Null if time alone does not open it. */
export type GateResult =
  | { passes: true }
  | { passes: false; reason: GateReason; until: number | null; detail: Record<string, unknown> };

/**
 * Decides whether an email may be sent now. This pure function is shared by the sender, approvals, the simulator and the backtest. Gates
 * are checked in this order, and the first that refuses is the reason. They hold emails and do not drop them. An approval is not among the
 * facts, because it opens no gate.
 */
export function gate(facts: GateFacts, policy: Policy, now: number): GateResult {
  for (const check of GATES) {
    const refusal = check(facts, policy, now);
    if (!refusal) continue;
    const until = refusal.until === null ? null : Math.max(refusal.until, now + 1);
    return { passes: false, ...refusal, until };
  }
  return { passes: true };
}

type GateRefusal = { reason: GateReason; until: number | null; detail: Record<string, unknown> };
type Gate = (facts: GateFacts, policy: Policy, now: number) => GateRefusal | null;

/** The email with the better claim may itself be held when its time comes, so a draft that yields is checked again. */
const YIELDS_FOR_MS = 5 * 60_000;

const restored: Gate = ({ isRestored }) =>
  isRestored ? { reason: 'restore_unconfirmed', until: null, detail: { restored: isRestored } } : null;

const pause: Gate = (_facts, { paused }) =>
  paused ? { reason: 'paused', until: null, detail: { paused } } : null;

const rule: Gate = ({ ruleIsOn }) =>
  ruleIsOn ? null : { reason: 'rule_off', until: null, detail: { rule_is_on: ruleIsOn } };

const suppression: Gate = ({ suppression: found }, _policy, now) => {
  if (!found || (found.until !== null && found.until <= now)) return null;
  const { reason, until, fromErased } = found;
  const detail = { suppression: reason, until: isoOrNull(until) };
  return { reason: 'suppressed', until, detail: fromErased ? { ...detail, from_erased_user: true } : detail };
};

const topic: Gate = ({ refusedTopic }) =>
  refusedTopic === null
    ? null
    : { reason: 'topic_unsubscribed', until: null, detail: { topic: refusedTopic } };

const address: Gate = (facts) =>
  facts.address === null ? { reason: 'no_address', until: null, detail: { address: null } } : null;

const domain: Gate = ({ domain: domainState }) =>
  domainState === 'pass'
    ? null
    : { reason: domainState.reason, until: null, detail: { domain: domainState.detail } };

const quietHours: Gate = ({ zone, draftId }, { quietHours: window }, now) => {
  const endsAt = window && quietUntil(now, zone, window);
  if (!window || endsAt === null) return null;
  const until = releaseAt(endsAt, draftId, { zone, window });
  const quiet_hours = `${window.start}-${window.end}`;
  return { reason: 'quiet_hours', until, detail: { quiet_hours, time_zone: zone, ends_at: iso(endsAt) } };
};

const cap: Gate = ({ counts, claimedAt }, { caps }, now) => {
  const held = counts && caps ? heldByCap(caps, claimedAt, now) : null;
  if (!held) return null;
  const { emails, windowMs } = held.cap;
  // Reports only the claim whose slot becomes free. A list of all claims would be long under a generous cap.
  const detail = { cap: `${emails}/${printDuration(windowMs)}`, slot_taken_at: iso(held.until - windowMs) };
  return { reason: 'frequency_cap', until: held.until, detail };
};

const yielding: Gate = ({ counts, yieldsTo }, { caps }, now) => {
  if (!counts || !caps || !yieldsTo) return null;
  const { id, deadlineAt } = yieldsTo;
  const detail = { yields_to: id, its_deadline: iso(deadlineAt) };
  return { reason: 'frequency_cap_yielded', until: Math.max(deadlineAt, now + YIELDS_FOR_MS), detail };
};

const throttle: Gate = ({ throttle: { remaining, nextAt } }, { throttle: limit }) => {
  if (!limit || remaining >= 1) return null;
  // Prints the rate as it is set: 10/s instead of 10/1s.
  const per = printDuration(limit.perMs).replace(/^1(?=[a-z])/, '');
  const detail = { throttle: `${limit.emails}/${per}`, next_at: iso(nextAt) };
  return { reason: 'throttle', until: nextAt, detail };
};

const domainThrottle: Gate = ({ domainLimit }) =>
  domainLimit && {
    reason: domainLimit.of === 'domain' ? 'domain_throttle' : 'provider_throttle',
    until: domainLimit.nextAt,
    detail: { [domainLimit.of]: domainLimit.name, next_at: iso(domainLimit.nextAt) },
  };

const warmup: Gate = (facts) =>
  facts.warmup === 'pass'
    ? null
    : { reason: 'warmup', until: facts.warmup.nextAt, detail: { next_at: iso(facts.warmup.nextAt) } };

const GATES: Gate[] = [
  restored,
  pause,
  rule,
  suppression,
  topic,
  address,
  domain,
  quietHours,
  cap,
  yielding,
  throttle,
  domainThrottle,
  warmup,
];
