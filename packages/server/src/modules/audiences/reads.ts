/** Reads of this module's tables, and of two tables of the users module. */

import type { AudienceMember } from '@beckon/contract/dashboard';
import type { PersonId } from '../users/index.ts';
import { plainList, textList } from '../../platform/db/list.ts';
import { readAs } from '../../platform/db/read-as.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { AudienceRow, AudienceVersionKeyRow } from './store.ts';

export type CurrentRow = {
  project_id: number;
  version_id: number;
  audience_id: string;
  name: string;
  state: 'building' | 'served';
  definition: unknown;
  members: number;
  users: number;
  built: number;
  built_to: string | null;
  audience_created_at: Date;
  audience_updated_at: Date;
};

/** Lists the versions being built or served of these projects. */
export function listCurrentRows(tx: Tx, projectIds: number[]): Promise<CurrentRow[]> {
  return tx.prepared({
    name: 'audiences.current',
    text: `SELECT e.project_id, e.version_id, e.audience_id, a.name, e.state, e.definition, e.members, e.users, e.built,
             e.built_to, a.created_at AS audience_created_at, a.updated_at AS audience_updated_at
           FROM beckon.audience_version e
           JOIN beckon.audience a ON a.project_id = e.project_id AND a.id = e.audience_id
           WHERE e.project_id = ANY ($1::bigint[]) AND e.state <> 'retired' ORDER BY e.project_id, e.version_id`,
    values: [projectIds],
  });
}

export function listAudienceRows(
  tx: Tx,
  { projectId, id, name }: { projectId: number; id: string | null; name: string },
): Promise<AudienceRow[]> {
  const text = `SELECT project_id, id, name, created_at, updated_at FROM beckon.audience WHERE project_id = $1 AND (id = $2 OR name = $3)`;
  return tx.query(text, [projectId, id, name]);
}

/** Counts users, up to the limit. Reads a table of the users module. */
export async function countPeople(tx: Tx, projectId: number, limit: number): Promise<number> {
  const rows = await tx.query<{ people: number }>(
    `SELECT count(*) AS people FROM (SELECT 1 FROM beckon.person WHERE project_id = $1 LIMIT $2) p`,
    [projectId, limit],
  );
  return rows[0]?.people ?? 0;
}

export function listUnfinished(
  tx: Tx,
  state: 'building' | 'retired',
  { limit, after }: { limit: number; after: { projectId: number; versionId: number } | null },
): Promise<AudienceVersionKeyRow[]> {
  return tx.prepared({
    name: 'audiences.unfinished',
    text: `SELECT project_id, version_id FROM beckon.audience_version
           WHERE state = $1 AND state <> 'served' AND (project_id, version_id) > ($3::bigint, $4::bigint)
           ORDER BY project_id, version_id LIMIT $2`,
    values: [state, limit, after?.projectId ?? 0, after?.versionId ?? 0],
  });
}

/** Returns a row if a version of any project is being built. The second condition is that of the partial index. */
export const BUILDS_DUE = `SELECT 1 FROM beckon.audience_version WHERE state = 'building' AND state <> 'served'`;

export type StoredMembershipRow = { n: number; version_id: number; since: Date | null; at: Date | null };

/** OFFSET 0 makes each user a probe of the primary keys. On tables that just grew, the planner would otherwise read them in full. */
const OF_MEMBER = `SELECT version_id, since, NULL::timestamptz AS at FROM beckon.audience_member
  WHERE project_id = p.project_id AND external_user_id = p.external_user_id`;
const OF_TIMER = `SELECT version_id, NULL, at FROM beckon.audience_timer
  WHERE project_id = p.project_id AND external_user_id = p.external_user_id`;

export function listMembershipRows(
  tx: Tx,
  people: PersonId[],
  withTimers: boolean,
): Promise<StoredMembershipRow[]> {
  return tx.prepared({
    name: withTimers ? 'audiences.memberships_and_timers' : 'audiences.memberships',
    text: `SELECT p.n::int AS n, s.version_id, s.since, s.at
           FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS p(project_id, external_user_id, n)
           CROSS JOIN LATERAL (${withTimers ? `${OF_MEMBER} UNION ALL ${OF_TIMER}` : OF_MEMBER} OFFSET 0) s`,
    values: [people.map((person) => person.projectId), people.map((person) => person.userId)],
  });
}

/** `versionIds`: an array parameter, because most users of a batch have the same. */
export type VersionLookup = PersonId & { versionIds: string };

/** `members` is one text per user, because parsing twenty rows for each of a thousand users costs more than finding them. */
export type MemberVersionsRow = { n: number; members: string };

const LOOKUPS = `unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS p(project_id, external_user_id, version_ids, n)`;

function lookupColumns(lookups: VersionLookup[]): unknown[] {
  return [
    plainList(lookups.map((lookup) => lookup.projectId)),
    textList(lookups.map((lookup) => lookup.userId)),
    textList(lookups.map((lookup) => lookup.versionIds)),
  ];
}

export function listMemberVersions(tx: Tx, lookups: VersionLookup[]): Promise<MemberVersionsRow[]> {
  return tx.prepared({
    name: 'audiences.member_versions',
    text: `SELECT p.n::int AS n, m.members FROM ${LOOKUPS}
           CROSS JOIN LATERAL (
             SELECT array_agg(m.version_id)::text AS members FROM beckon.audience_member m
             WHERE m.project_id = p.project_id AND m.external_user_id = p.external_user_id AND m.version_id = ANY (p.version_ids::bigint[])
           ) m WHERE m.members IS NOT NULL`,
    values: lookupColumns(lookups),
  });
}

export type VersionTimersRow = { n: number; versions: string; moments: string };

export function listVersionTimers(tx: Tx, lookups: VersionLookup[]): Promise<VersionTimersRow[]> {
  return tx.prepared({
    name: 'audiences.version_timers',
    text: `SELECT p.n::int AS n, d.versions, d.moments FROM ${LOOKUPS}
           CROSS JOIN LATERAL (
             SELECT array_agg(d.version_id)::text AS versions, array_agg(date_part('epoch', d.at))::text AS moments FROM beckon.audience_timer d
             WHERE d.project_id = p.project_id AND d.external_user_id = p.external_user_id AND d.version_id = ANY (p.version_ids::bigint[])
           ) d WHERE d.versions IS NOT NULL`,
    values: lookupColumns(lookups),
  });
}

export type MovedRow = { external_user_id: string; is_member: boolean };

/** Lists the users after `after` and up to `upTo` who are a member of exactly one of the two versions. */
export function listMovedRows(
  tx: Tx,
  query: { projectId: number; versionId: number; servedId: number | null; after: string; upTo: string },
): Promise<MovedRow[]> {
  const { projectId, versionId, servedId, after, upTo } = query;
  return tx.query(
    `SELECT external_user_id, bool_or(version_id = $2) AS is_member FROM beckon.audience_member
     WHERE project_id = $1 AND external_user_id > $4 AND external_user_id <= $5 AND version_id IN ($2, $3)
     GROUP BY external_user_id HAVING count(*) = 1 ORDER BY external_user_id`,
    [projectId, versionId, servedId, after, upTo],
  );
}

export function listMemberRows(
  tx: Tx,
  page: { projectId: number; versionId: number; after: string | null; limit: number },
): Promise<AudienceMember[]> {
  const { projectId, versionId, after, limit } = page;
  return readAs(
    tx,
    `SELECT external_user_id, since FROM beckon.audience_member
     WHERE project_id = $1 AND version_id + 0 = $2 AND external_user_id > $3
     ORDER BY external_user_id LIMIT $4`,
    // A condition with an alternative would read the whole index up to this user.
    [projectId, versionId, after ?? '', limit],
  );
}

export type GrowthDayRow = { day: string; joined: number; left_count: number; members: number };

/** Lists the days from `from` on and the last one before it. Days without a row have as many members as the day before. */
export function listDayRows(
  tx: Tx,
  { projectId, audienceId, from }: { projectId: number; audienceId: string; from: string },
): Promise<GrowthDayRow[]> {
  return tx.query(
    `SELECT day::text AS day, joined, left_count, members FROM beckon.audience_day
     WHERE project_id = $1 AND audience_id = $2 AND day >= coalesce(
       (SELECT max(day) FROM beckon.audience_day WHERE project_id = $1 AND audience_id = $2 AND day < $3::date), $3::date)
     ORDER BY day`,
    [projectId, audienceId, from],
  );
}

/** Lists the days of all audiences of a project, with the last day before `from` of each. */
export function listAllDayRows(
  tx: Tx,
  { projectId, from }: { projectId: number; from: string },
): Promise<(GrowthDayRow & { audience_id: string })[]> {
  return tx.query(
    `SELECT d.audience_id, d.day::text AS day, d.joined, d.left_count, d.members FROM beckon.audience a
     CROSS JOIN LATERAL (
       (SELECT * FROM beckon.audience_day x WHERE x.project_id = $1 AND x.audience_id = a.id AND x.day >= $2::date)
       UNION ALL
       (SELECT * FROM beckon.audience_day x WHERE x.project_id = $1 AND x.audience_id = a.id AND x.day < $2::date
        ORDER BY x.day DESC LIMIT 1)
     ) d WHERE a.project_id = $1 ORDER BY d.audience_id, d.day`,
    [projectId, from],
  );
}

/** Lists those of these events that are not counted over all time yet. Reads a table of the users module. */
export async function listUncounted(tx: Tx, projectId: number, names: string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await tx.query<{ name: string }>(
    `SELECT name FROM unnest($2::text[]) AS q(name) WHERE NOT EXISTS (
       SELECT FROM beckon.counted_event c WHERE c.project_id = $1 AND c.name = q.name AND c.is_whole)
     ORDER BY name`,
    [projectId, names],
  );
  return rows.map((row) => row.name);
}
