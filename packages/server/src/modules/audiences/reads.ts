import type { PersonId } from '../users/index.ts';
import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { AudienceRow, EditionKey } from './store.ts';

/** Reads of this module's tables. */
export type CurrentRow = {
  project_id: number;
  edition: number;
  audience_id: string;
  name: string;
  state: 'building' | 'served';
  definition: unknown;
  members: number;
  people: number;
  built: number;
  built_to: string | null;
  audience_created_at: Date;
  audience_updated_at: Date;
};

/** Lists the editions being built or served of these projects. */
export function listCurrentRows(tx: Tx, projectIds: number[]): Promise<CurrentRow[]> {
  return tx.prepared({
    name: 'audiences.current',
    text: `SELECT e.project_id, e.edition, e.audience_id, a.name, e.state, e.definition, e.members, e.people, e.built,
             e.built_to, a.created_at AS audience_created_at, a.updated_at AS audience_updated_at
           FROM beckon.audience_edition e
           JOIN beckon.audience a ON a.project_id = e.project_id AND a.id = e.audience_id
           WHERE e.project_id = ANY ($1::bigint[]) AND e.state <> 'retired' ORDER BY e.project_id, e.edition`,
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

/** Counts users, up to the limit. Reads a table of the `people` module. */
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
  { limit, after }: { limit: number; after: { projectId: number; edition: number } | null },
): Promise<EditionKey[]> {
  return tx.prepared({
    name: 'audiences.unfinished',
    text: `SELECT project_id, edition FROM beckon.audience_edition
           WHERE state = $1 AND state <> 'served' AND (project_id, edition) > ($3::bigint, $4::bigint)
           ORDER BY project_id, edition LIMIT $2`,
    values: [state, limit, after?.projectId ?? 0, after?.edition ?? 0],
  });
}

export type StandingRow = { n: number; edition: number; since: Date | null; at: Date | null };

/** OFFSET 0 makes each user a probe of the primary keys. On tables that just grew, the planner would otherwise read them in full. */
const OF_MEMBER = `SELECT edition, since, NULL::timestamptz AS at FROM beckon.audience_member
  WHERE project_id = p.project_id AND external_user_id = p.external_user_id`;
const OF_DUE = `SELECT edition, NULL, at FROM beckon.audience_due
  WHERE project_id = p.project_id AND external_user_id = p.external_user_id`;

export function listStandingRows(tx: Tx, people: PersonId[], dues: boolean): Promise<StandingRow[]> {
  return tx.prepared({
    name: dues ? 'audiences.standings' : 'audiences.memberships',
    text: `SELECT p.n::int AS n, s.edition, s.since, s.at
           FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS p(project_id, external_user_id, n)
           CROSS JOIN LATERAL (${dues ? `${OF_MEMBER} UNION ALL ${OF_DUE}` : OF_MEMBER} OFFSET 0) s`,
    values: [people.map((person) => person.projectId), people.map((person) => person.userId)],
  });
}

export type AskedPlace = PersonId & { editions: number[] };

/** `members` is one text per user, because parsing twenty rows for each of a thousand users costs more than finding them. */
export type AskedMembersRow = { n: number; members: string };

const ASKED = `unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS p(project_id, external_user_id, editions, n)`;

function askedColumns(asked: AskedPlace[]): unknown[] {
  return [
    plainList(asked.map((one) => one.projectId)),
    asked.map((one) => one.userId),
    asked.map((one) => plainList(one.editions)),
  ];
}

export function listAskedMembers(tx: Tx, asked: AskedPlace[]): Promise<AskedMembersRow[]> {
  return tx.prepared({
    name: 'audiences.asked_members',
    text: `SELECT p.n::int AS n, m.members FROM ${ASKED}
           CROSS JOIN LATERAL (
             SELECT array_agg(m.edition)::text AS members FROM beckon.audience_member m
             WHERE m.project_id = p.project_id AND m.external_user_id = p.external_user_id AND m.edition = ANY (p.editions::bigint[])
           ) m WHERE m.members IS NOT NULL`,
    values: askedColumns(asked),
  });
}

export type AskedDuesRow = { n: number; dues: string; moments: string };

export function listAskedDues(tx: Tx, asked: AskedPlace[]): Promise<AskedDuesRow[]> {
  return tx.prepared({
    name: 'audiences.asked_dues',
    text: `SELECT p.n::int AS n, d.dues, d.moments FROM ${ASKED}
           CROSS JOIN LATERAL (
             SELECT array_agg(d.edition)::text AS dues, array_agg(date_part('epoch', d.at))::text AS moments FROM beckon.audience_due d
             WHERE d.project_id = p.project_id AND d.external_user_id = p.external_user_id AND d.edition = ANY (p.editions::bigint[])
           ) d WHERE d.dues IS NOT NULL`,
    values: askedColumns(asked),
  });
}

export function listSince(
  tx: Tx,
  { projectId, edition, users }: { projectId: number; edition: number; users: string[] },
): Promise<AudienceMemberRow[]> {
  return tx.query(
    `SELECT external_user_id, since FROM beckon.audience_member
     WHERE project_id = $1 AND edition = $2 AND external_user_id = ANY ($3::text[])`,
    [projectId, edition, users],
  );
}

export type AudienceMemberRow = { external_user_id: string; since: Date };

export function listMemberRows(
  tx: Tx,
  page: { projectId: number; edition: number; after: string | null; limit: number },
): Promise<AudienceMemberRow[]> {
  const { projectId, edition, after, limit } = page;
  return tx.query(
    `SELECT external_user_id, since FROM beckon.audience_member
     WHERE project_id = $1 AND edition + 0 = $2 AND ($3::text IS NULL OR external_user_id > $3)
     ORDER BY external_user_id LIMIT $4`,
    [projectId, edition, after, limit],
  );
}

/** A member of one of several audiences. A user in more than one is listed for the first. */
export type MemberOfRow = { external_user_id: string; edition: number; since: Date };

/** Lists those who were members by `until`, each once, by user id. */
export function listMembersOfRows(
  tx: Tx,
  page: { projectId: number; editions: number[]; until: Date; after: string | null; limit: number },
): Promise<MemberOfRow[]> {
  const { projectId, editions, until, after, limit } = page;
  return tx.query(
    `SELECT DISTINCT ON (m.external_user_id) m.external_user_id, e.edition, m.since
     FROM unnest($2::bigint[]) WITH ORDINALITY AS e(edition, place)
     CROSS JOIN LATERAL (
       SELECT external_user_id, since FROM beckon.audience_member
       WHERE project_id = $1 AND edition + 0 = e.edition AND since <= $3 AND ($4::text IS NULL OR external_user_id > $4)
       ORDER BY external_user_id LIMIT $5
     ) m
     ORDER BY m.external_user_id, e.place LIMIT $5`,
    [projectId, editions, until, after, limit],
  );
}

export async function countMembersOfRows(
  tx: Tx,
  { projectId, editions }: { projectId: number; editions: number[] },
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `SELECT count(DISTINCT external_user_id) AS count FROM beckon.audience_member
     WHERE project_id = $1 AND edition + 0 = ANY ($2::bigint[])`,
    [projectId, editions],
  );
  return rows[0]?.count ?? 0;
}

export type GrowthDayRow = { day: string; joined: number; departed: number; members: number };

/** Lists the days from `from` on and the last one before it. Days without a row have as many members as the day before. */
export function listDayRows(
  tx: Tx,
  { projectId, audienceId, from }: { projectId: number; audienceId: string; from: string },
): Promise<GrowthDayRow[]> {
  return tx.query(
    `SELECT day::text AS day, joined, departed, members FROM beckon.audience_day
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
    `SELECT d.audience_id, d.day::text AS day, d.joined, d.departed, d.members FROM beckon.audience a
     CROSS JOIN LATERAL (
       (SELECT * FROM beckon.audience_day x WHERE x.project_id = $1 AND x.audience_id = a.id AND x.day >= $2::date)
       UNION ALL
       (SELECT * FROM beckon.audience_day x WHERE x.project_id = $1 AND x.audience_id = a.id AND x.day < $2::date
        ORDER BY x.day DESC LIMIT 1)
     ) d WHERE a.project_id = $1 ORDER BY d.audience_id, d.day`,
    [projectId, from],
  );
}

export async function findFirstDue(tx: Tx, projectId: number): Promise<Date | null> {
  const rows = await tx.prepared<{ at: Date }>({
    name: 'audiences.first_due',
    text: `SELECT at FROM beckon.audience_due WHERE project_id = $1 ORDER BY at LIMIT 1`,
    values: [projectId],
  });
  return rows[0]?.at ?? null;
}

export type AudienceTimerRow = { external_user_id: string; edition: number; at: Date };

export function listDueRows(
  tx: Tx,
  { projectId, now, limit }: { projectId: number; now: Date; limit: number },
): Promise<AudienceTimerRow[]> {
  return tx.prepared({
    name: 'audiences.due_now',
    text: `SELECT external_user_id, edition, at FROM beckon.audience_due WHERE project_id = $1 AND at <= $2
           ORDER BY at LIMIT $3`,
    values: [projectId, now, limit],
  });
}

/** Lists those of these events that are not counted over all time yet. Reads a table of the `events` module. */
export async function listUncounted(tx: Tx, projectId: number, names: string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await tx.query<{ name: string }>(
    `SELECT name FROM unnest($2::text[]) AS asked(name) WHERE NOT EXISTS (
       SELECT FROM beckon.counted_event c WHERE c.project_id = $1 AND c.name = asked.name AND c.is_whole)
     ORDER BY name`,
    [projectId, names],
  );
  return rows.map((row) => row.name);
}
