import { type Person, type PersonChange, isSuppressed } from '../users/index.ts';
import type { AppliedRecords } from './apply-records.ts';
import type { Transition } from './evaluate-audiences.ts';
import type { ActivityRow } from '../ingest/index.ts';
import { hasTraitChange, traitChanges } from './merge-person.ts';

export type ActivityOptions = { at: Date; newId: () => string };

/**
 * Yields the changes of a live batch: one row per changed user, and one per audience join or leave. A batch may change 8 MB of traits, so
 * each row is serialized only when it is read.
 */
export function* liveChanges(
  applied: AppliedRecords,
  transitions: Transition[],
  options: ActivityOptions,
): Iterable<ActivityRow> {
  for (const { person, change } of applied.people.values()) {
    const row = personRow(person, change, options);
    if (row) yield row;
  }
  yield* transitionRows(transitions, 'live', options);
}

function personRow(person: Person, change: PersonChange, { at, newId }: ActivityOptions): ActivityRow | null {
  const traits = traitChanges(person, change);
  const detail = {
    ...(Object.keys(traits).length > 0 && { traits }),
    // The address itself stays in its own table.
    ...(change.emailChanged && { email: 'changed' }),
    ...(change.watermarkMoved && { suppressed: isSuppressed(person) }),
  };
  if (!change.isNew && Object.keys(detail).length === 0) return null;
  return {
    projectId: person.projectId,
    at,
    id: newId(),
    kind: change.isNew ? 'user_created' : 'user_changed',
    userId: person.userId,
    audienceId: null,
    detail: JSON.stringify(detail),
  };
}

/**
 * Returns true if `personRow` writes a row for a known user. A batch may have 255,000 traits, so the search ends at the first changed one.
 */
function isChanged(person: Person, change: PersonChange): boolean {
  return change.emailChanged || change.watermarkMoved || hasTraitChange(person, change);
}

export function transitionRows(
  transitions: Transition[],
  by: 'live' | 'time',
  { at, newId }: ActivityOptions,
): ActivityRow[] {
  return transitions.map(({ projectId, userId, audienceId, move }) => ({
    projectId,
    at,
    id: newId(),
    kind: move === 'joined' ? 'audience_joined' : 'audience_left',
    userId,
    audienceId,
    detail: JSON.stringify({ by }),
  }));
}

/** Returns the summary of a bulk batch: one row per project, or no row if everything was already known. */
export function bulkChanges(
  applied: AppliedRecords,
  transitions: Transition[],
  options: ActivityOptions,
): ActivityRow[] {
  const sums = new Map<number, Sums>();
  const sumsOf = (projectId: number): Sums => {
    const existing = sums.get(projectId) ?? { ...NOTHING };
    sums.set(projectId, existing);
    return existing;
  };
  for (const { person, change } of applied.people.values()) {
    if (change.isNew) sumsOf(person.projectId).users_created += 1;
    else if (isChanged(person, change)) sumsOf(person.projectId).users_changed += 1;
  }
  for (const event of applied.events) sumsOf(event.projectId).events += 1;
  for (const { projectId, move } of transitions) sumsOf(projectId)[move] += 1;
  return [...sums].map(([projectId, detail]) => ({
    projectId,
    at: options.at,
    id: options.newId(),
    kind: 'bulk_change',
    userId: null,
    audienceId: null,
    detail: JSON.stringify(detail),
  }));
}

type Sums = { users_created: number; users_changed: number; events: number; joined: number; left: number };
const NOTHING: Sums = { users_created: 0, users_changed: 0, events: 0, joined: 0, left: 0 };
