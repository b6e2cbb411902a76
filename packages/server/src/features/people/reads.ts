import { plainList, type Tx } from '../../io/db/index.ts';

/** What is read about one person, and of sisters' tables what is noted about them. */
type Person = { projectId: number; userId: string };

/** The known person whose id comes right before this text, in the order of bytes. */
export async function findIdBefore(tx: Tx, { projectId, userId }: Person): Promise<string | null> {
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

/** Reads a table of the stream: what was noted about a person behind a place, the oldest first. */
export function listNotedRows(
  tx: Tx,
  { projectId, userId, after, limit }: Person & { after: Pick<NotedRow, 'at' | 'id'>; limit: number },
): Promise<NotedRow[]> {
  return tx.query(
    `SELECT at, id, kind, audience_id, detail FROM beckon.change
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

/** Reads a table of the inbox: the dead letters about a person behind a sequence. They are few, so it looks at all of the project's. */
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
    values: [plainList(people.map(({ projectId }) => projectId)), people.map(({ userId }) => userId)],
  });
}

/** Whoever has one of these addresses, in lower case. */
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

/** Reads a table of the stream: when imports made or changed people of this project, from a moment on. Who it was is kept nowhere. */
export async function listImports(tx: Tx, projectId: number, since: Date): Promise<number[]> {
  const rows = await tx.query<{ at: Date }>(
    `SELECT DISTINCT at FROM beckon.change
     WHERE project_id = $1 AND kind = 'bulk_change' AND at >= $2
       AND (detail ->> 'users_created')::bigint + (detail ->> 'users_changed')::bigint > 0
     ORDER BY at`,
    [projectId, since],
  );
  return rows.map(({ at }) => at.getTime());
}

export type TraitChangeRow = { trait: string; at: Date; before: unknown; after: unknown };

/** Reads a table of the stream: the last change of each trait among a person's newest thousand. */
export function listTraitChanges(tx: Tx, { projectId, userId }: Person): Promise<TraitChangeRow[]> {
  return tx.query(
    `SELECT DISTINCT ON (t.key) t.key AS trait, c.at, t.value -> 0 AS before, t.value -> 1 AS after
     FROM (SELECT at, id, detail FROM beckon.change
           WHERE project_id = $1 AND external_user_id = $2 AND kind IN ('user_created', 'user_changed')
           ORDER BY at DESC, id DESC LIMIT 1000) c
     CROSS JOIN LATERAL jsonb_each(c.detail -> 'traits') t
     ORDER BY t.key, c.at DESC, c.id DESC`,
    [projectId, userId],
  );
}

/** Users of a project in the order of their ids, with nothing of them but the address. */
export function listAddressed(
  tx: Tx,
  { projectId, after, limit }: { projectId: number; after: string | null; limit: number },
): Promise<{ userId: string; email: string | null }[]> {
  return tx.query(
    `SELECT p.external_user_id AS "userId", e.email FROM beckon.person p
     LEFT JOIN beckon.person_email e ON e.project_id = p.project_id AND e.external_user_id = p.external_user_id
     WHERE p.project_id = $1 AND ($2::text IS NULL OR p.external_user_id > $2) ORDER BY p.external_user_id LIMIT $3`,
    [projectId, after, limit],
  );
}
