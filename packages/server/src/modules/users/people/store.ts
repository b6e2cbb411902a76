/** Reads and writes `person`, `person_email` and `erasure`. */

import { jsonList, jsonListSql, momentList, plainList, textList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type PersonRowKey = { project_id: number; external_user_id: string };

export type PersonRow = {
  project_id: number;
  external_user_id: string;
  name: string | null;
  plan: string | null;
  signup_date: string | null;
  company: string | null;
  role: string | null;
  traits: Record<string, unknown>;
  /** Numbers are read several times faster than dates, and a batch reads a thousand users. */
  first_seen_ms: number;
  last_seen_ms: number;
  suppressed_seq: number | null;
  normal_seq: number | null;
  live_seq: number | null;
  triggers_live_ms: number | null;
  written_seq: { traits?: Record<string, number>; email?: number } | null;
  email: string | null;
};

const PERSON = `p.project_id, p.external_user_id, p.name, p.plan, p.signup_date, p.company, p.role, p.traits,
  date_part('epoch', p.first_seen_at) * 1000 AS first_seen_ms, date_part('epoch', p.last_seen_at) * 1000 AS last_seen_ms,
  p.suppressed_seq, p.normal_seq, p.live_seq, date_part('epoch', p.triggers_live_since) * 1000 AS triggers_live_ms, p.written_seq`;
const EMAIL = `LEFT JOIN beckon.person_email e ON e.project_id = p.project_id AND e.external_user_id = p.external_user_id`;

const FIND = `FROM unnest($1::bigint[], $2::text[]) AS k(project_id, user_id)
  JOIN beckon.person p ON p.project_id = k.project_id AND p.external_user_id = k.user_id`;

export function findPeopleRows(tx: Tx, keys: PersonRowKey[], emails: boolean): Promise<PersonRow[]> {
  return tx.prepared({
    name: emails ? 'people.find_reachable' : 'people.find',
    text: emails ? `SELECT ${PERSON}, e.email ${FIND} ${EMAIL}` : `SELECT ${PERSON}, NULL AS email ${FIND}`,
    values: [plainList(keys.map((key) => key.project_id)), textList(keys.map((key) => key.external_user_id))],
  });
}

/** Lists the next users of a project by id. A condition with an alternative would read all users up to the last one again. */
export function listPeopleRows(
  tx: Tx,
  { projectId, after, limit }: { projectId: number; after: string | null; limit: number },
): Promise<PersonRow[]> {
  return tx.prepared({
    name: 'people.list',
    text: `SELECT ${PERSON}, e.email FROM beckon.person p ${EMAIL}
           WHERE p.project_id = $1 AND p.external_user_id > $2 ORDER BY p.external_user_id LIMIT $3`,
    values: [projectId, after ?? '', limit],
  });
}

/** Counts the users of a project with an id after `after`, up to the limit. */
export async function countPeopleAfter(
  tx: Tx,
  { projectId, after, limit }: { projectId: number; after: string; limit: number },
): Promise<number> {
  const [row] = await tx.prepared<{ people: number }>({
    name: 'people.count_after',
    text: `SELECT count(*) AS people FROM (
             SELECT 1 FROM beckon.person WHERE project_id = $1 AND external_user_id > $2 ORDER BY external_user_id LIMIT $3
           ) p`,
    values: [projectId, after, limit],
  });
  return row?.people ?? 0;
}

export type PersonWrite = Omit<
  PersonRow,
  'traits' | 'written_seq' | 'email' | 'first_seen_ms' | 'last_seen_ms' | 'triggers_live_ms'
> & {
  first_seen_at: number;
  last_seen_at: number;
  triggers_live_since: number | null;
  /** JSON text. */
  traits: string;
  written_seq: string | null;
};

export async function upsertPeopleRows(tx: Tx, rows: PersonWrite[]): Promise<void> {
  await tx.prepared({
    name: 'people.upsert',
    text: `INSERT INTO beckon.person (project_id, external_user_id, name, plan, signup_date, company, role, traits, first_seen_at, last_seen_at,
             suppressed_seq, normal_seq, live_seq, triggers_live_since, written_seq)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], ${jsonListSql('$8')},
             $9::timestamptz[], $10::timestamptz[], $11::bigint[], $12::bigint[], $13::bigint[], $14::timestamptz[], $15::jsonb[])
           ON CONFLICT (project_id, external_user_id) DO UPDATE SET
             name = excluded.name, plan = excluded.plan, signup_date = excluded.signup_date, company = excluded.company, role = excluded.role,
             traits = excluded.traits, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
             suppressed_seq = excluded.suppressed_seq, normal_seq = excluded.normal_seq, live_seq = excluded.live_seq,
             triggers_live_since = excluded.triggers_live_since, written_seq = excluded.written_seq`,
    values: [
      plainList(rows.map((row) => row.project_id)),
      textList(rows.map((row) => row.external_user_id)),
      textList(rows.map((row) => row.name)),
      textList(rows.map((row) => row.plan)),
      textList(rows.map((row) => row.signup_date)),
      textList(rows.map((row) => row.company)),
      textList(rows.map((row) => row.role)),
      jsonList(rows.map((row) => row.traits)),
      momentList(rows.map((row) => row.first_seen_at)),
      momentList(rows.map((row) => row.last_seen_at)),
      plainList(rows.map((row) => row.suppressed_seq)),
      plainList(rows.map((row) => row.normal_seq)),
      plainList(rows.map((row) => row.live_seq)),
      momentList(rows.map((row) => row.triggers_live_since)),
      textList(rows.map((row) => row.written_seq)),
    ],
  });
}

export type EmailRow = PersonRowKey & { email: string };

export async function upsertEmails(tx: Tx, rows: EmailRow[]): Promise<void> {
  await tx.prepared({
    name: 'people.email',
    text: `INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
           ON CONFLICT (project_id, external_user_id) DO UPDATE SET email = excluded.email, email_lower = excluded.email_lower`,
    values: [
      plainList(rows.map((row) => row.project_id)),
      textList(rows.map((row) => row.external_user_id)),
      textList(rows.map((row) => row.email)),
      textList(rows.map((row) => row.email.toLowerCase())),
    ],
  });
}

export type LiftRow = { seq: number; accepted_at: Date };

/**
 * Finds the first normal event of a user after a sequence number. Reads the table `event`. Because it is rare, it may
 * read all events of the user.
 */
export async function findFirstNormal(
  tx: Tx,
  { projectId, userId, afterSeq }: { projectId: number; userId: string; afterSeq: number },
): Promise<LiftRow | undefined> {
  const rows = await tx.query<LiftRow>(
    `SELECT seq, accepted_at FROM beckon.event
     WHERE project_id = $1 AND external_user_id = $2 AND seq > $3 AND NOT suppressed ORDER BY seq LIMIT 1`,
    [projectId, userId, afterSeq],
  );
  return rows[0];
}

export type ErasureRow = PersonRowKey & { seq: number };

export function listErasures(tx: Tx, projectIds: number[]): Promise<ErasureRow[]> {
  return tx.prepared({
    name: 'people.erasures',
    text: `SELECT project_id, external_user_id, seq FROM beckon.erasure WHERE project_id = ANY ($1::bigint[])`,
    values: [projectIds],
  });
}

export async function insertErasure(tx: Tx, row: ErasureRow & { erased_at: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.erasure (project_id, external_user_id, seq, erased_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, external_user_id) DO UPDATE SET seq = excluded.seq, erased_at = excluded.erased_at`,
    [row.project_id, row.external_user_id, row.seq, row.erased_at],
  );
}

/**
 * Deletes erasures that no waiting record of any priority precedes, and with them the last trace of a user id. They are no longer needed.
 * Requires the project lock.
 */
export async function forgetErasures(tx: Tx, projectId: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.erasure WHERE project_id = $1
       AND seq <= (SELECT coalesce(min(seq + applied), 9223372036854775807) FROM beckon.ingest_queue WHERE project_id = $1) RETURNING 1 AS gone`,
    [projectId],
  );
  return rows.length;
}

export async function deletePersonRows(
  tx: Tx,
  projectId: number,
  userId: string,
): Promise<{ person: number; person_email: number }> {
  const where = `WHERE project_id = $1 AND external_user_id = $2 RETURNING 1 AS gone`;
  const people = await tx.query(`DELETE FROM beckon.person ${where}`, [projectId, userId]);
  const emails = await tx.query(`DELETE FROM beckon.person_email ${where}`, [projectId, userId]);
  return { person: people.length, person_email: emails.length };
}

/**
 * Deletes write sequences before this sequence number, because no older record is waiting. Handles at most `limit` users and returns their
 * number.
 */
export async function clearWritten(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: number; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `UPDATE beckon.person SET written_seq = NULL
     WHERE project_id = $1 AND external_user_id = ANY (ARRAY(
       SELECT p.external_user_id FROM beckon.person p WHERE p.project_id = $1 AND p.written_seq IS NOT NULL AND $2 > (
         SELECT max(seq) FROM (
           SELECT t.value::bigint AS seq FROM jsonb_each_text(coalesce(p.written_seq -> 'traits', '{}')) AS t
           UNION ALL SELECT coalesce((p.written_seq ->> 'email')::bigint, 0)
         ) written
       ) LIMIT $3
     )) RETURNING 1 AS cleared`,
    [projectId, before, limit],
  );
  return rows.length;
}
