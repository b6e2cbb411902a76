import type { Tx } from '../../platform/db/statements.ts';
import type { TemplateRow, VersionRow } from '../rendering/index.ts';

/** Writes `template` and `template_version`. */

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

export async function insertVersion(tx: Tx, row: VersionRow): Promise<void> {
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

export async function deleteTemplateRows(tx: Tx, projectId: number, id: string): Promise<void> {
  await tx.query(`DELETE FROM beckon.template_version WHERE project_id = $1 AND template_id = $2`, [
    projectId,
    id,
  ]);
  await tx.query(`DELETE FROM beckon.template WHERE project_id = $1 AND id = $2`, [projectId, id]);
}

export type NewUnpublishedRow = Pick<
  VersionRow,
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

/** Inserts into `template_words`, where equal content is one row. */
export async function insertWords(
  tx: Tx,
  row: { project_id: number; id: string; letter: object; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.template_words (project_id, id, letter, at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id, id) DO UPDATE SET at = excluded.at`,
    [row.project_id, row.id, JSON.stringify(row.letter), row.at],
  );
}

export async function deleteWordsBefore(tx: Tx, projectId: number, before: Date): Promise<void> {
  await tx.query(`DELETE FROM beckon.template_words WHERE project_id = $1 AND at < $2`, [projectId, before]);
}
