import type { ExcludedUsers, RuleEnrollment, RuleEnrollmentPreview } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import type { Enrollment } from './enrollment.ts';
import { REASONS } from '../definitions/rule.ts';
import type { EnrollmentPreview } from './preview-enrollment.ts';

export function shownEnrollment(enrollment: Enrollment): RuleEnrollment {
  const { id, state, startedAt, endedAt, members, processed, enrolled, excluded, cancelReason } = enrollment;
  return {
    id,
    state,
    started_at: iso(startedAt),
    ended_at: isoOrNull(endedAt),
    members,
    processed,
    enrolled,
    excluded: excludedUsers(Object.entries(excluded)),
    cancel_reason: cancelReason,
  };
}

export function shownEnrollmentPreview(preview: EnrollmentPreview): RuleEnrollmentPreview {
  const { audiences, members, evaluated, enrolled, first, excluded } = preview;
  return {
    audiences: audiences.map(({ id, name, isReady }) => ({ id, name, ready: isReady })),
    members,
    evaluated,
    would_enroll: enrolled,
    first: first.map(({ userId, name }) => ({ external_user_id: userId, name })),
    excluded: excludedUsers([...excluded]),
  };
}

function excludedUsers(counts: [string, number][]): ExcludedUsers[] {
  const words: Record<string, string> = REASONS;
  return counts
    .map(([reason, count]) => ({ reason, sentence: words[reason] ?? reason, count }))
    .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}
