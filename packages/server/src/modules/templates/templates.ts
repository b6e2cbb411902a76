import type { Clock } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import { idMaker } from '../../platform/ids.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  type Publishable,
  listTemplateRows,
  toTemplate,
  type TemplateVersionRow,
  refused,
  type Template,
  type TemplateSource,
} from '../rendering/index.ts';
import { insertTemplate, insertVersion, listVersionRows, updateTemplate } from './store.ts';

type Deps = { tx: Tx; clock: Clock; projectId: number };
type PublishedTemplate = { template: Template; version: TemplateVersion };
type NewVersion = { email: Publishable; actor: string };

/** Creates a template and publishes its first version immediately. Requires the project lock. */
export async function createTemplate(
  deps: Deps,
  { name, email, actor }: NewVersion & { name: string },
): Promise<PublishedTemplate> {
  const { tx, clock, projectId } = deps;
  if ((await listTemplateRows(tx, projectId)).length >= TEMPLATES_MAX)
    throw refused([{ message: `A project can have at most ${TEMPLATES_MAX} templates` }]);
  const now = clock.now();
  const template = { id: idMaker(clock)(), name, version: 1, createdAt: now, updatedAt: now };
  const { id, version } = template;
  const [created_at, updated_at] = [new Date(now), new Date(now)];
  const isMade = await insertTemplate(tx, {
    project_id: projectId,
    id,
    name,
    version,
    created_at,
    updated_at,
  });
  if (!isMade) {
    const message = `name is taken: another template of the project has the name ${JSON.stringify(name)}`;
    throw refused([{ message, field: 'name' }]);
  }
  return { template, version: await addVersion(deps, template, { email, actor }) };
}

/** Adds a version and publishes it immediately, unless its content is the same. Requires the project lock. */
export async function editTemplate(
  deps: Deps,
  before: PublishedTemplate,
  { email, actor }: NewVersion,
): Promise<PublishedTemplate> {
  if (isSame(before.version, email)) return before;
  const { tx, clock, projectId } = deps;
  const template = { ...before.template, version: before.template.version + 1, updatedAt: clock.now() };
  const { id, version, updatedAt } = template;
  await updateTemplate(tx, { project_id: projectId, id, version, updated_at: new Date(updatedAt) });
  return { template, version: await addVersion(deps, template, { email, actor }) };
}

function isSame(version: TemplateVersion, email: Publishable): boolean {
  const keys = ['format', 'subject', 'preheader', 'body', 'html'] as const;
  return keys.every((key) => version[key] === email[key]);
}

async function addVersion(
  { tx, projectId }: Deps,
  { id, version, updatedAt }: Template,
  { email, actor }: NewVersion,
): Promise<TemplateVersion> {
  const { format, subject, preheader, body, html } = email;
  const row: TemplateVersionRow = {
    project_id: projectId,
    template_id: id,
    version,
    format,
    subject,
    preheader,
    body,
    html,
    created_at: new Date(updatedAt),
    created_by: actor,
  };
  await insertVersion(tx, row);
  return toVersion(row);
}

/** Finds a template by its id or its name. */
export async function findTemplate(
  tx: Tx,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<PublishedTemplate> {
  const trimmed = reference.trim();
  const rows = await listTemplateRows(tx, projectId);
  const row = rows.find(({ id, name }) => id === trimmed.toLowerCase() || name === trimmed);
  const [version] = row ? await listVersionRows(tx, { projectId, id: row.id, limit: 1 }) : [];
  if (row && version) return { template: toTemplate(row), version: toVersion(version) };
  const message = `The project has no template of its own with the ID or name ${JSON.stringify(reference)}. List the templates with: beckon templates list`;
  throw new Fault('not_found', { details: [{ message, field: 'template' }] });
}

const VERSIONS_SHOWN = 100;

/** Lists the versions, newest first. */
export async function listVersions(tx: Tx, projectId: number, id: string): Promise<TemplateVersion[]> {
  return (await listVersionRows(tx, { projectId, id, limit: VERSIONS_SHOWN })).map(toVersion);
}

function toVersion(row: TemplateVersionRow): TemplateVersion {
  const { version, format, subject, preheader, body, html } = row;
  return {
    version,
    format,
    subject,
    preheader,
    body,
    html,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by,
  };
}

/** An immutable version. `html`: the output of MJML with its variables. */
export type TemplateVersion = TemplateSource & {
  version: number;
  html: string | null;
  createdAt: number;
  createdBy: string;
};

/** All templates of a project are held in memory by every process that renders emails. */
const TEMPLATES_MAX = 200;
