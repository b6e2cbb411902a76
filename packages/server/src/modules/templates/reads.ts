import type { Tx } from '../../platform/db/statements.ts';
import type { VersionRow, TemplateSource } from '../rendering/index.ts';

const VERSION =
  'project_id, template_id, version, format, subject, preheader, body, html, created_at, created_by';

/** Lists the versions of one template, newest first. */
export function listVersionRows(
  tx: Tx,
  { projectId, id, limit }: { projectId: number; id: string; limit: number },
): Promise<VersionRow[]> {
  return tx.query(
    `SELECT ${VERSION} FROM beckon.template_version WHERE project_id = $1 AND template_id = $2
     ORDER BY version DESC LIMIT $3`,
    [projectId, id, limit],
  );
}

export type FilledRow = { key: string; filled: number };

/**
 * Counts how many users have a value in each trait, among the last `people` users of a project by id. Requested traits come first, then the
 * most frequent ones. The keys ` people` and ` email` count the users and those with an address. Reads tables of the people module.
 */
export function countFilled(
  tx: Tx,
  { projectId, people, asked, limit }: { projectId: number; people: number; asked: string[]; limit: number },
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
    [projectId, people, asked, limit],
  );
}

export type UnpublishedRow = Pick<VersionRow, 'format' | 'subject' | 'preheader' | 'body'> & {
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

export async function findWordsRow(
  tx: Tx,
  projectId: number,
  id: string,
): Promise<TemplateSource | undefined> {
  const rows = await tx.query<{ letter: TemplateSource }>(
    `SELECT letter FROM beckon.template_words WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  );
  return rows[0]?.letter;
}
