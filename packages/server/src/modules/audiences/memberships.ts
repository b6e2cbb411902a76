import type { PersonId } from '../users/index.ts';
import type { MembershipEvaluation } from './evaluate-membership.ts';
import type { Edition } from './model.ts';
import {
  findFirstDue,
  listAskedDues,
  listAskedMembers,
  listDueRows,
  listSince,
  listStandingRows,
} from './reads.ts';
import {
  deleteDues,
  deleteMembers,
  deletePersonDues,
  deletePersonMembers,
  type EditionKey,
  insertMembers,
  updateCounts,
  upsertDays,
  upsertDues,
} from './store.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A `Standing` with the time of joining. */
type FullStanding = { members: Map<number, Date>; dues: Map<number, number> };

/** Returns the stored state of each of these users, in their order. They may belong to several projects. */
export async function findStandings(
  tx: Tx,
  people: PersonId[],
  { dues }: { dues: boolean } = { dues: true },
): Promise<FullStanding[]> {
  const standings = people.map((): FullStanding => ({ members: new Map(), dues: new Map() }));
  if (people.length === 0) return standings;
  for (const { n, edition, since, at } of await listStandingRows(tx, people, dues)) {
    const standing = standings[n - 1];
    if (since) standing?.members.set(edition, since);
    if (at) standing?.dues.set(edition, at.getTime());
  }
  return standings;
}

export type AskedPerson = PersonId & { editions: Edition[] };

/** Returns in which of these editions, and of those they refer to, each user is a member, in the given order. */
export async function findAskedMembers(tx: Tx, asked: AskedPerson[]): Promise<Set<number>[]> {
  const members = asked.map(() => new Set<number>());
  const places = asked.map(({ projectId, userId, editions }) => ({
    projectId,
    userId,
    editions: withReferences(editions),
  }));
  if (places.length === 0) return members;
  for (const row of await listAskedMembers(tx, places)) members[row.n - 1] = new Set(numbersIn(row.members));
  return members;
}

/** Returns the timers stored for these editions and those they refer to, in milliseconds, in the given order. */
export async function findAskedDues(tx: Tx, asked: AskedPerson[]): Promise<Map<number, number>[]> {
  const found = asked.map(() => new Map<number, number>());
  const places = asked.flatMap(({ projectId, userId, editions }, n) => {
    // An edition that time cannot change has no timers, nor do those it refers to.
    const timed = withReferences(editions.filter((edition) => edition.timed));
    return timed.length > 0 ? [{ n, projectId, userId, editions: timed }] : [];
  });
  if (places.length === 0) return found;
  for (const row of await listAskedDues(tx, places)) {
    const seconds = numbersIn(row.moments);
    const dues = found[places[row.n - 1]?.n ?? 0];
    for (const [i, edition] of numbersIn(row.dues).entries())
      dues?.set(edition, Math.round((seconds[i] ?? 0) * 1_000));
  }
  return found;
}

/** Parses an array in PostgreSQL's text format. */
function numbersIn(array: string): number[] {
  return array.slice(1, -1).split(',').map(Number);
}

function withReferences(editions: Edition[]): number[] {
  const numbers = new Set<number>();
  for (const { edition, references } of editions) {
    numbers.add(edition);
    for (const reference of references.values()) numbers.add(reference);
  }
  return [...numbers];
}

/** Returns the joining time of those of these users who are members of the edition. */
export async function findSince(
  tx: Tx,
  wanted: { projectId: number; edition: number; users: string[] },
): Promise<Map<string, Date>> {
  const rows = await listSince(tx, wanted);
  return new Map(rows.map(({ external_user_id, since }) => [external_user_id, since]));
}

type Place = PersonId & { edition: number };

/** Pending writes of many results. Each list has each pair of user and edition at most once. */
export type StandingWrites = {
  joined: (Place & { since: Date })[];
  left: Place[];
  due: (Place & { at: Date })[];
  notDue: Place[];
};

export function noWrites(): StandingWrites {
  return { joined: [], left: [], due: [], notDue: [] };
}

/** `since` is the time of joining if it is not now, because the builder of an edition may find an earlier one. */
export function addVerdicts(
  writes: StandingWrites,
  { projectId, userId, verdicts, since }: PersonId & { verdicts: MembershipEvaluation[]; since: Date },
): void {
  for (const { edition, move, due, dueAt } of verdicts) {
    const place = { projectId, userId, edition: edition.edition };
    if (move === 'joined') writes.joined.push({ ...place, since });
    if (move === 'left') writes.left.push(place);
    if (due === 'set' && dueAt !== null) writes.due.push({ ...place, at: new Date(dueAt) });
    if (due === 'remove') writes.notDue.push(place);
  }
}

/** Writes the changes and updates the counts by the rows that really changed. Requires the locks of all their projects. */
export async function writeStandings(tx: Tx, writes: StandingWrites, now: Date): Promise<void> {
  const left = writes.left.length > 0 ? await deleteMembers(tx, inOrder(writes.left)) : [];
  const joined = writes.joined.length > 0 ? await insertMembers(tx, inOrder(writes.joined)) : [];
  await countMoves(tx, { joined, left, now });
  if (writes.notDue.length > 0) await deleteDues(tx, inOrder(writes.notDue));
  if (writes.due.length > 0) await upsertDues(tx, inOrder(writes.due));
}

type Erased = { members: number; dues: number };

/** Removes the memberships and timers of a user. Requires the project lock. */
export async function eraseStandings(
  tx: Tx,
  { projectId, userId, now }: PersonId & { now: Date },
): Promise<Erased> {
  const left = await deletePersonMembers(tx, { projectId, userId });
  await countMoves(tx, { joined: [], left, now });
  const dues = await deletePersonDues(tx, { projectId, userId });
  return { members: left.length, dues: dues.length };
}

type Moves = { joined: EditionKey[]; left: EditionKey[]; now: Date };
type Count = EditionKey & { joined: number; left: number };

/** Updates the member count of each edition and, for the edition that readers see, the growth of the day. */
async function countMoves(tx: Tx, { joined, left, now }: Moves): Promise<void> {
  const counts = new Map<string, Count>();
  const count = ({ project_id, edition }: EditionKey, way: 'joined' | 'left'): void => {
    const key = `${project_id} ${edition}`;
    const known = counts.get(key) ?? { project_id, edition, joined: 0, left: 0 };
    known[way] += 1;
    counts.set(key, known);
  };
  for (const row of joined) count(row, 'joined');
  for (const row of left) count(row, 'left');
  if (counts.size === 0) return;
  const rows = [...counts.values()].map((one) => ({ ...one, delta: one.joined - one.left }));
  const counted = await updateCounts(tx, rows);
  const days = counted
    .filter(({ state }) => state === 'served')
    .map(({ project_id, edition, audience_id, members }) => {
      const moved = counts.get(`${project_id} ${edition}`);
      return { project_id, audience_id, members, joined: moved?.joined ?? 0, departed: moved?.left ?? 0 };
    });
  if (days.length > 0) await upsertDays(tx, days, dayOf(now));
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Sorts the rows. All writers of several rows use this order, which avoids deadlocks. */
function inOrder<T extends Place>(places: T[]): T[] {
  return places.toSorted(
    (a, b) =>
      a.projectId - b.projectId ||
      (a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : a.edition - b.edition),
  );
}

export type Due = { userId: string; edition: number; at: Date };

/** Returns the earliest time at which a user has to be evaluated again. */
export function nextDueAt(tx: Tx, projectId: number): Promise<Date | null> {
  return findFirstDue(tx, projectId);
}

/** Lists the timers that are due, the longest overdue first. This includes timers of retired editions, which are only removed. */
export async function listDueNow(
  tx: Tx,
  wanted: { projectId: number; now: Date; limit: number },
): Promise<Due[]> {
  const rows = await listDueRows(tx, wanted);
  return rows.map(({ external_user_id, edition, at }) => ({ userId: external_user_id, edition, at }));
}
