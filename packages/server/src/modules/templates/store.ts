import type { TemplateRow, TemplateSource, TemplateVersionRow } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Reads and writes `template`, `template_version`, `template_unpublished` and `template_preview`. */

/** Returns false if another template has the name. */
export async function insertTemplate(tx: Tx, row: TemplateRow): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.template (project_id, id, name, version, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project_id, name) DO NOTHING RETURNING 1`,
    [row.project_id, row.id, row.name, row.version, row.created_at, row.updated_at],
  );
  return rows.length > 0;
}

export async function updateTemplate(tx: Tx, row: Omit<TemplateRow, 'created_at' | 'name'>): Promise<void> {
  await tx.query(
    `UPDATE beckon.template SET version = $3, updated_at = $4 WHERE project_id = $1 AND id = $2`,
    [row.project_id, row.id, row.version, row.updated_at],
  );
}

export async function insertVersion(tx: Tx, row: TemplateVersionRow): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.template_version
       (project_id, template_id, version, format, subject, preheader, body, html, created_at, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      row.project_id,
      row.template_id,
      row.version,
      row.format,
      row.subject,
      row.preheader,
      row.body,
      row.html,
      row.created_at,
      row.created_by,
    ],
  );
}

/** Deletes a template with all its versions. Requires the project lock. */
export async function removeTemplate(tx: Tx, projectId: number, id: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.template_version WHERE project_id = $1 AND template_id = $2`, [
    projectId,
    id,
  ]);
  await tx.query(`DELETE FROM beckon.template WHERE project_id = $1 AND id = $2`, [projectId, id]);
}

type NewUnpublishedRow = Pick<
  TemplateVersionRow,
  'project_id' | 'format' | 'subject' | 'preheader' | 'body'
> & {
  name: string;
  saved_at: Date;
  saved_by: string;
};

/**
 * Writes `template_unpublished`, replacing the row saved at `over`. If `over` is null, there must be no row. Returns false if another row
 * exists.
 */
export async function writeUnpublished(tx: Tx, row: NewUnpublishedRow, over: Date | null): Promise<boolean> {
  const { project_id, name, format, subject, preheader, body, saved_at, saved_by } = row;
  const values = [project_id, name, format, subject, preheader, body, saved_at, saved_by];
  const rows =
    over === null
      ? await tx.query(
          `INSERT INTO beckon.template_unpublished (project_id, name, format, subject, preheader, body, saved_at, saved_by)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (project_id, name) DO NOTHING RETURNING 1`,
          values,
        )
      : await tx.query(
          `UPDATE beckon.template_unpublished SET format = $3, subject = $4, preheader = $5, body = $6, saved_at = $7, saved_by = $8
           WHERE project_id = $1 AND name = $2 AND saved_at = $9 RETURNING 1`,
          [...values, over],
        );
  return rows.length > 0;
}

/** Deletes the row; with `savedAt`, only if it was saved at that time. */
export async function deleteUnpublishedRow(
  tx: Tx,
  { projectId, name, savedAt }: { projectId: number; name: string; savedAt: Date | null },
): Promise<void> {
  await tx.query(
    `DELETE FROM beckon.template_unpublished
     WHERE project_id = $1 AND name = $2 AND ($3::timestamptz IS NULL OR saved_at = $3)`,
    [projectId, name, savedAt],
  );
}

/** Inserts into `template_preview`, where equal content is one row. */
export async function insertPreview(
  tx: Tx,
  row: { project_id: number; id: string; content: object; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.template_preview (project_id, id, content, at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, id) DO UPDATE SET at = excluded.at`,
    [row.project_id, row.id, JSON.stringify(row.content), row.at],
  );
}

export async function deletePreviewsBefore(tx: Tx, projectId: number, before: Date): Promise<void> {
  await tx.query(`DELETE FROM beckon.template_preview WHERE project_id = $1 AND at < $2`, [
    projectId,
    before,
  ]);
}

const VERSION =
  'project_id, template_id, version, format, subject, preheader, body, html, created_at, created_by';

/** Lists the versions of one template, newest first. */
export function listVersionRows(
  tx: Tx,
  { projectId, id, limit }: { projectId: number; id: string; limit: number },
): Promise<TemplateVersionRow[]> {
  return tx.query(
    `SELECT ${VERSION} FROM beckon.template_version WHERE project_id = $1 AND template_id = $2
     ORDER BY version DESC LIMIT $3`,
    [projectId, id, limit],
  );
}

type FilledRow = { key: string; filled: number };

/**
 * Counts how many users have a value in each trait, among the last `people` users of a project by id. Requested traits come first, then the
 * most frequent ones. The keys ` people` and ` email` count the users and those with an address. Reads tables of the users module.
 */
export function countFilled(
  tx: Tx,
  { projectId, people, keys, limit }: { projectId: number; people: number; keys: string[]; limit: number },
): Promise<FilledRow[]> {
  return tx.query(
    `WITH p AS MATERIALIZED (
       SELECT external_user_id, name, plan, signup_date, company, role, traits FROM beckon.person
       WHERE project_id = $1 ORDER BY external_user_id DESC LIMIT $2
     ), filled AS (
       SELECT t.key FROM p CROSS JOIN LATERAL jsonb_each(p.traits) AS t(key, value)
       WHERE t.value <> 'null'::jsonb AND t.value <> '""'::jsonb
       UNION ALL
       SELECT t.key FROM p CROSS JOIN LATERAL (VALUES ('name', p.name), ('plan', p.plan), ('signupDate', p.signup_date),
         ('company', p.company), ('role', p.role)) AS t(key, value) WHERE t.value <> ''
       UNION ALL
       SELECT ' email' FROM p JOIN beckon.person_email e ON e.project_id = $1 AND e.external_user_id = p.external_user_id
       UNION ALL
       SELECT ' people' FROM p
     )
     SELECT key, count(*)::int AS filled FROM filled GROUP BY key
     ORDER BY key NOT IN (' people', ' email'), key <> ALL ($3::text[]), count(*) DESC, key LIMIT $4`,
    [projectId, people, keys, limit],
  );
}

export type UnpublishedRow = Pick<TemplateVersionRow, 'format' | 'subject' | 'preheader' | 'body'> & {
  name: string;
  saved_at: Date;
  saved_by: string;
};

/** Lists the templates by name. */
export function listUnpublishedRows(tx: Tx, projectId: number): Promise<UnpublishedRow[]> {
  return tx.query(
    `SELECT name, format, subject, preheader, body, saved_at, saved_by FROM beckon.template_unpublished
     WHERE project_id = $1 ORDER BY name`,
    [projectId],
  );
}

export async function findPreview(
  tx: Tx,
  projectId: number,
  id: string,
): Promise<TemplateSource | undefined> {
  const rows = await tx.query<{ content: TemplateSource }>(
    `SELECT content FROM beckon.template_preview WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  );
  return rows[0]?.content;
}
