import {
  type Due,
  listDueNow,
  nextDueAt,
  type StandingWrites,
  writeStandings,
} from '../../features/audiences/index.ts';
import { findPeople } from '../../features/people/index.ts';
import { addChanges } from '../../features/stream/index.ts';
import { dueNext, holdDue, takeFreeTurns } from '../../features/turns/index.ts';
import type { BatchDeps } from './batch.ts';
import { transitionRows } from './changes.ts';
import { type Answered, askAudiences, type Asked, transitionsOf, writesOf } from './members.ts';
import type { Model } from './models.ts';
import { inSession } from './session.ts';

/** `lateMs`: for how long the first of them was due. */
export type DueDone = { people: number; moves: number; lateMs: number };

const NOTHING: DueDone = { people: 0, moves: 0, lateMs: 0 };
const DUE_AT_ONCE_MAX = 500;

/**
 * Asks again about the people for whom time alone may have changed an answer, the longest overdue first. The place is
 * held before it is asked what comes next, so that nobody's moment is lost between the two.
 */
export function digestDue(deps: BatchDeps, projectId: number): Promise<DueDone> {
  return inSession(deps.db, async (tx) => {
    const [turn] = await takeFreeTurns(tx, [projectId]);
    if (!turn) return NOTHING;
    await holdDue(tx, projectId);
    const now = deps.db.clock.now();
    const at = new Date(now);
    const dues = await listDueNow(tx, { projectId, now: at, limit: DUE_AT_ONCE_MAX });
    const model = (await deps.models.of(tx, [turn])).get(projectId);
    if (!model) return NOTHING;
    const users = [...new Set(dues.map(({ userId }) => userId))];
    const people = await findPeople(
      tx,
      users.map((userId) => ({ projectId, userId })),
    );
    const byUser = Map.groupBy(dues, ({ userId }) => userId);
    const asked = people.map((person): Asked => ({
      person,
      model,
      fired: true,
      editions: editionsOf(model, byUser.get(person.userId) ?? []),
    }));
    const answered = await askAudiences(tx, asked, { now });
    const writes = writesOf(answered, now);
    writes.notDue.push(...unanswered(dues, answered, projectId));
    const transitions = transitionsOf(answered);
    await writeStandings(tx, writes, at);
    await addChanges(tx, transitionRows(transitions, 'time', { at, newId: deps.newId }));
    await dueNext(tx, projectId, await nextDueAt(tx, projectId));
    await tx.commit();
    return {
      people: users.length,
      moves: transitions.length,
      lateMs: Math.max(0, now - (dues[0]?.at.getTime() ?? now)),
    };
  });
}

/**
 * In the order of the model, with those that they refer to: whose moment is the same, and whose answer must be new before
 * theirs can be.
 */
function editionsOf(model: Model, dues: Due[]): Asked['editions'] {
  const wanted = new Set<number>();
  const add = (number: number): void => {
    if (wanted.has(number)) return;
    wanted.add(number);
    for (const reference of model.audiences.byNumber.get(number)?.references ?? []) add(reference);
  };
  for (const { edition } of dues) add(edition);
  return model.audiences.editions.filter(({ edition }) => wanted.has(edition));
}

/** A moment that nobody answers for, of an edition that is retired or a person who is gone, goes. */
function unanswered(dues: Due[], answered: Answered[], projectId: number): StandingWrites['notDue'] {
  const done = new Set(
    answered.flatMap(({ person, verdicts }) =>
      verdicts.map(({ edition }) => `${edition.edition} ${person.userId}`),
    ),
  );
  return dues
    .filter(({ edition, userId }) => !done.has(`${edition} ${userId}`))
    .map(({ edition, userId }) => ({ projectId, edition, userId }));
}
