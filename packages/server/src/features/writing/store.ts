import type { Tx } from '../../io/db/index.ts';

/** What is written to `template` and `template_version`; `reads.ts` reads them. */
export type TemplateRow = {
  project_id: number;
  id: string;
  name: string;
  version: number;
  created_at: Date;
  updated_at: Date;
};

export type VersionRow = {
  project_id: number;
  template_id: string;
  version: number;
  format: 'markdown' | 'mjml';
  subject: string;
  preheader: string;
  body: string;
  html: string | null;
  created_at: Date;
  created_by: string;
};

/** False where another one has the name. */
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
