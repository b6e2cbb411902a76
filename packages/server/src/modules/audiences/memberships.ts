import type { PersonId } from '../users/index.ts';
import type { AudienceVersion } from './model.ts';
import { listVersionTimers, listMemberVersions, listMembershipRows } from './reads.ts';
import {
  deleteMemberTimers,
  deleteMembers,
  deletePersonTimers,
  deletePersonMembers,
  type AudienceVersionKeyRow,
  insertMembers,
  updateCounts,
  upsertDays,
  upsertMemberTimers,
} from './store.ts';
import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** A `MembershipState` with the time of joining. */
type StoredMembership = { members: Map<number, Date>; timers: Map<number, number> };

/** Returns the stored state of each of these users, in their order. They may belong to several projects. */
export async function findMemberships(
  tx: Tx,
  people: PersonId[],
  { withTimers }: { withTimers: boolean } = { withTimers: true },
): Promise<StoredMembership[]> {
  const memberships = people.map((): StoredMembership => ({ members: new Map(), timers: new Map() }));
  if (people.length === 0) return memberships;
  for (const { n, version_id: versionId, since, at } of await listMembershipRows(tx, people, withTimers)) {
    const membership = memberships[n - 1];
    if (since) membership?.members.set(versionId, since);
    if (at) membership?.timers.set(versionId, at.getTime());
  }
  return memberships;
}

export type PersonVersions = PersonId & { versions: readonly AudienceVersion[] };

/** Returns in which of these versions, and of those they refer to, each user is a member, in the given order. */
export async function findMemberVersions(tx: Tx, people: PersonVersions[]): Promise<Set<number>[]> {
  const members = people.map(() => new Set<number>());
  const versionIdsOf = rememberByList(withReferences);
  const lookups = people.map(({ projectId, userId, versions }) => ({
    projectId,
    userId,
    versionIds: versionIdsOf(versions),
  }));
  if (lookups.length === 0) return members;
  for (const row of await listMemberVersions(tx, lookups))
    members[row.n - 1] = new Set(numbersIn(row.members));
  return members;
}

/** Returns the timers stored for these versions and those they refer to, in milliseconds, in the given order. */
export async function findVersionTimers(tx: Tx, people: PersonVersions[]): Promise<Map<number, number>[]> {
  const found = people.map(() => new Map<number, number>());
  // A version that time cannot change has no timers, nor do those it refers to.
  const timedOf = rememberByList((versions) => withReferences(versions.filter((version) => version.timed)));
  const lookups = people.flatMap(({ projectId, userId, versions }, n) => {
    const timed = timedOf(versions);
    return timed !== NO_VERSIONS ? [{ n, projectId, userId, versionIds: timed }] : [];
  });
  if (lookups.length === 0) return found;
  for (const row of await listVersionTimers(tx, lookups)) {
    const seconds = numbersIn(row.moments);
    const timers = found[lookups[row.n - 1]?.n ?? 0];
    for (const [i, versionId] of numbersIn(row.versions).entries())
      timers?.set(versionId, Math.round((seconds[i] ?? 0) * 1_000));
  }
  return found;
}

/** Parses an array in PostgreSQL's text format. */
function numbersIn(array: string): number[] {
  return array.slice(1, -1).split(',').map(Number);
}

type VersionList = readonly AudienceVersion[];

/** Computes once for each list. Most users of a batch have the same list of versions. */
function rememberByList(compute: (versions: VersionList) => string): (versions: VersionList) => string {
  const known = new Map<VersionList, string>();
  return (versions) => {
    let result = known.get(versions);
    if (result === undefined) known.set(versions, (result = compute(versions)));
    return result;
  };
}

/** Returns the numbers of these versions and of those they refer to, as an array parameter. */
function withReferences(versions: VersionList): string {
  const numbers = new Set<number>();
  for (const { versionId, references } of versions) {
    numbers.add(versionId);
    for (const reference of references.values()) numbers.add(reference);
  }
  return plainList([...numbers]);
}

const NO_VERSIONS = plainList([]);

type MemberKey = PersonId & { versionId: number };

/** Pending writes of many results. Each list has each pair of user and version at most once. */
export type MembershipWrites = {
  joined: (MemberKey & { since: Date })[];
  left: MemberKey[];
  newTimers: (MemberKey & { at: Date })[];
  staleTimers: MemberKey[];
};

/** Writes the changes and updates the counts by the rows that really changed. Requires the locks of all their projects. */
export async function writeMemberships(tx: Tx, writes: MembershipWrites, now: Date): Promise<void> {
  const left = writes.left.length > 0 ? await deleteMembers(tx, inOrder(writes.left)) : [];
  const joined = writes.joined.length > 0 ? await insertMembers(tx, inOrder(writes.joined)) : [];
  await countMoves(tx, { joined, left, now });
  if (writes.staleTimers.length > 0) await deleteMemberTimers(tx, inOrder(writes.staleTimers));
  if (writes.newTimers.length > 0) await upsertMemberTimers(tx, inOrder(writes.newTimers));
}

type ErasedCounts = { members: number; timers: number };

/** Removes the memberships and timers of a user. Requires the project lock. */
export async function eraseMemberships(
  tx: Tx,
  { projectId, userId, now }: PersonId & { now: Date },
): Promise<ErasedCounts> {
  const left = await deletePersonMembers(tx, { projectId, userId });
  await countMoves(tx, { joined: [], left, now });
  const timers = await deletePersonTimers(tx, { projectId, userId });
  return { members: left.length, timers: timers.length };
}

type Moves = { joined: AudienceVersionKeyRow[]; left: AudienceVersionKeyRow[]; now: Date };
type Count = AudienceVersionKeyRow & { joined: number; left: number };

/** Updates the member count of each version and, for the version that readers see, the growth of the day. */
async function countMoves(tx: Tx, { joined, left, now }: Moves): Promise<void> {
  const counts = new Map<string, Count>();
  const count = (
    { project_id, version_id: versionId }: AudienceVersionKeyRow,
    direction: 'joined' | 'left',
  ): void => {
    const key = `${project_id} ${versionId}`;
    const entry = counts.get(key) ?? { project_id, version_id: versionId, joined: 0, left: 0 };
    entry[direction] += 1;
    counts.set(key, entry);
  };
  for (const row of joined) count(row, 'joined');
  for (const row of left) count(row, 'left');
  if (counts.size === 0) return;
  const rows = [...counts.values()].map((entry) => ({ ...entry, delta: entry.joined - entry.left }));
  const counted = await updateCounts(tx, rows);
  const days = counted
    .filter(({ state }) => state === 'served')
    .map(({ project_id, version_id: versionId, audience_id, members }) => {
      const change = counts.get(`${project_id} ${versionId}`);
      return { project_id, audience_id, members, joined: change?.joined ?? 0, left_count: change?.left ?? 0 };
    });
  if (days.length > 0) await upsertDays(tx, days, dayOf(now));
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Sorts the rows. All writers of several rows use this order, which avoids deadlocks. */
function inOrder<T extends MemberKey>(keys: T[]): T[] {
  return keys.toSorted(
    (a, b) =>
      a.projectId - b.projectId ||
      (a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : a.versionId - b.versionId),
  );
}
