import type { MembershipWrites } from '../audiences/index.ts';
import type { PersonId } from '../users/index.ts';
import type { MembershipEvaluation } from './evaluate-membership.ts';

export function noWrites(): MembershipWrites {
  return { joined: [], left: [], newTimers: [], staleTimers: [] };
}

/** `since` is the time of joining if it is not now, because the builder of a version may find an earlier one. */
export function addEvaluations(
  writes: MembershipWrites,
  { projectId, userId, evaluations, since }: PersonId & { evaluations: MembershipEvaluation[]; since: Date },
): void {
  for (const { version, move, timer, dueAt } of evaluations) {
    const key = { projectId, userId, versionId: version.versionId };
    if (move === 'joined') writes.joined.push({ ...key, since });
    if (move === 'left') writes.left.push(key);
    if (timer === 'set' && dueAt !== null) writes.newTimers.push({ ...key, at: new Date(dueAt) });
    if (timer === 'remove') writes.staleTimers.push(key);
  }
}
