/** Reads about one user, including tables of other modules. */

import { plainList, textList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type Person = { projectId: number; userId: string };

/** Returns the id of the existing user right before this text, in byte order, to store a position without naming the erased user. */
export async function idBefore(tx: Tx, { projectId, userId }: Person): Promise<string | null> {
  const rows = await tx.query<{ external_user_id: string }>(
    `SELECT external_user_id FROM beckon.person WHERE project_id = $1 AND external_user_id < $2
     ORDER BY external_user_id DESC LIMIT 1`,
    [projectId, userId],
  );
  return rows[0]?.external_user_id ?? null;
}

export type NotedRow = {
  at: Date;
  id: string;
  kind: string;
  audience_id: string | null;
  detail: Record<string, unknown>;
};

/** Lists stream records about a user after a position, oldest first. Reads a table of the event stream. */
export function listNotedRows(
  tx: Tx,
  { projectId, userId, after, limit }: Person & { after: Pick<NotedRow, 'at' | 'id'>; limit: number },
): Promise<NotedRow[]> {
  return tx.query(
    `SELECT at, id, kind, audience_id, detail FROM beckon.activity
     WHERE project_id = $1 AND external_user_id = $2 AND at >= $3 AND (at, id) > ($3::timestamptz, $4::uuid)
     ORDER BY at, id LIMIT $5`,
    [projectId, userId, after.at, after.id, limit],
  );
}

export type BuriedRow = {
  seq: number;
  priority: string;
  kind: string;
  reason: string;
  accepted_at: Date;
  dead_lettered_at: Date;
  record: unknown;
};

/**
 * Lists the dead-lettered records about a user after a sequence number. Reads a table of the ingest queue, with all such records of the
 * project, because they are few.
 */
export function listBuriedRows(
  tx: Tx,
  { projectId, userId, after, limit }: Person & { after: number; limit: number },
): Promise<BuriedRow[]> {
  return tx.query(
    `SELECT seq, priority, kind, reason, accepted_at, dead_lettered_at, record FROM beckon.dead_letter
     WHERE project_id = $1 AND seq > $3 AND record ->> 'external_user_id' = $2 ORDER BY seq LIMIT $4`,
    [projectId, userId, after, limit],
  );
}

export function listEmails(
  tx: Tx,
  people: Person[],
): Promise<{ project_id: number; external_user_id: string; email: string }[]> {
  return tx.prepared({
    name: 'people.emails',
    text: `SELECT e.project_id, e.external_user_id, e.email FROM unnest($1::bigint[], $2::text[]) AS p(project_id, user_id)
           JOIN beckon.person_email e ON e.project_id = p.project_id AND e.external_user_id = p.user_id`,
    values: [
      plainList(people.map(({ projectId }) => projectId)),
      textList(people.map(({ userId }) => userId)),
    ],
  });
}

/** Lists the users with one of these addresses, given in lower case. */
export function listByAddress(
  tx: Tx,
  projectId: number,
  addresses: string[],
): Promise<{ external_user_id: string; email: string }[]> {
  return tx.prepared({
    name: 'people.by_address',
    text: `SELECT e.external_user_id, e.email FROM unnest($2::text[]) AS a(email)
           JOIN beckon.person_email e ON e.project_id = $1 AND e.email_lower = a.email`,
    values: [projectId, addresses],
  });
}

/**
 * Lists when imports created or changed users of this project, from a given time on. The users are not recorded. Reads a table of the event
 * stream.
 */
export async function listImports(tx: Tx, projectId: number, since: Date): Promise<number[]> {
  const rows = await tx.query<{ at: Date }>(
    `SELECT DISTINCT at FROM beckon.activity
     WHERE project_id = $1 AND kind = 'bulk_change' AND at >= $2
       AND (detail ->> 'users_created')::bigint + (detail ->> 'users_changed')::bigint > 0
     ORDER BY at`,
    [projectId, since],
  );
  return rows.map(({ at }) => at.getTime());
}

export type TraitChangeRow = { trait: string; at: Date; before: unknown; after: unknown };

/** Lists the last change of each trait among a user's newest thousand changes. Reads a table of the event stream. */
export function listTraitChanges(tx: Tx, { projectId, userId }: Person): Promise<TraitChangeRow[]> {
  return tx.query(
    `SELECT DISTINCT ON (t.key) t.key AS trait, c.at, t.value -> 0 AS before, t.value -> 1 AS after
     FROM (SELECT at, id, detail FROM beckon.activity
           WHERE project_id = $1 AND external_user_id = $2 AND kind IN ('user_created', 'user_changed')
           ORDER BY at DESC, id DESC LIMIT 1000) c
     CROSS JOIN LATERAL jsonb_each(c.detail -> 'traits') t
     ORDER BY t.key, c.at DESC, c.id DESC`,
    [projectId, userId],
  );
}
