import type { Tx } from '../../platform/db/statements.ts';
import { Fault, type FieldFault } from '../../platform/fault.ts';

/** An email as stored. All three parts are Liquid, and `body` is also Markdown or HTML. */
export type TemplateText = { subject: string; preheader: string; body: string; format: 'markdown' | 'html' };
export type EmailPart = 'subject' | 'preheader' | 'body';
export const EMAIL_PARTS = ['subject', 'preheader', 'body'] as const satisfies EmailPart[];

/** An email as written, in Markdown or MJML. */
export type TemplateSource = Omit<TemplateText, 'format'> & { format: 'markdown' | 'mjml' };

/** A named email. `version` is the published one, which is the newest. Times are in milliseconds. */
export type Template = { id: string; name: string; version: number; createdAt: number; updatedAt: number };

/** Returns the content to render. */
export function emailOfVersion({
  subject,
  preheader,
  body,
  html,
}: Omit<TemplateSource, 'format'> & { html: string | null }): TemplateText {
  return html === null
    ? { subject, preheader, body, format: 'markdown' }
    : { subject, preheader, body: html, format: 'html' };
}

export function refused(details: FieldFault[]): Fault {
  return new Fault('validation_failed', { details });
}

/** Reads `template` and `template_version`. */
export type TemplateRow = {
  project_id: number;
  id: string;
  name: string;
  version: number;
  created_at: Date;
  updated_at: Date;
};

export type TemplateVersionRow = {
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

const TEMPLATE = 'project_id, id, name, version, created_at, updated_at';

/** Lists the templates by name. */
export function listTemplateRows(tx: Tx, projectId: number): Promise<TemplateRow[]> {
  return tx.query(`SELECT ${TEMPLATE} FROM beckon.template WHERE project_id = $1 ORDER BY name`, [projectId]);
}

/** Lists the templates by name. */
export async function listTemplates(tx: Tx, projectId: number): Promise<Template[]> {
  return (await listTemplateRows(tx, projectId)).map(toTemplate);
}

export function toTemplate(row: TemplateRow): Template {
  const { id, name, version } = row;
  return { id, name, version, createdAt: row.created_at.getTime(), updatedAt: row.updated_at.getTime() };
}

type PublishedRow = Pick<
  TemplateVersionRow,
  'project_id' | 'format' | 'subject' | 'preheader' | 'body' | 'html'
> & {
  name: string;
};

/** Lists the published versions of these projects. */
function listPublishedRows(tx: Tx, projectIds: number[]): Promise<PublishedRow[]> {
  return tx.query(
    `SELECT t.project_id, t.name, v.format, v.subject, v.preheader, v.body, v.html FROM beckon.template t
     JOIN beckon.template_version v ON v.project_id = t.project_id AND v.template_id = t.id AND v.version = t.version
     WHERE t.project_id = ANY ($1::bigint[])`,
    [projectIds],
  );
}

/** Loads the projects' own emails by project and name, in their published version. */
export async function loadEmails(
  tx: Tx,
  projectIds: number[],
): Promise<Map<number, Map<string, TemplateText>>> {
  const emails = new Map<number, Map<string, TemplateText>>();
  for (const row of await listPublishedRows(tx, projectIds)) {
    const projectEmails = emails.get(row.project_id) ?? new Map<string, TemplateText>();
    emails.set(row.project_id, projectEmails.set(row.name, emailOfVersion(row)));
  }
  return emails;
}
