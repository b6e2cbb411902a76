import type { Actor } from '../drafts/index.ts';
import {
  findShippedEmail,
  listTemplates,
  refused,
  type Renderer,
  type Template,
  type TemplateSource,
} from '../rendering/index.ts';
import { compile, listRulesInForce, type RuleInForce } from '../rules/index.ts';
import { followEmail } from './follow-email.ts';
import {
  createTemplate as create,
  editTemplate as edit,
  findTemplate,
  type TemplateVersion,
} from './templates.ts';
import { removeTemplate } from './store.ts';
import { discardUnpublished } from './unpublished.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault, type FieldFault } from '../../platform/fault.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import { emailNames } from './email-names.ts';

type Writable = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
type WriteDeps = { db: Writable; renderer: Renderer };

/** `follow`: refreshes untouched open drafts too. */
type WriteTemplateInput = { projectId: number; document: unknown; follow: boolean; actor: Actor };

/** `drafts`: how many open drafts were refreshed. */
type WrittenTemplate = { template: Template; version: TemplateVersion; drafts: number };

/** Creates a template of the project. One with the name of a shipped template replaces it in every rule that names it. */
export async function createTemplate(
  { db, renderer }: WriteDeps,
  input: WriteTemplateInput,
): Promise<WrittenTemplate> {
  const { projectId, document, actor } = input;
  const { name, ...written } = readTemplate(document);
  if (name === undefined)
    throw new Fault('validation_failed', { details: [{ message: 'name is required', field: 'name' }] });
  const shipped = findShippedEmail(name);
  const source = completed(written, shipped ? { ...shipped, format: 'markdown' } : null);
  const email = await renderer.run('publishable', source, { projectId });
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await incrementModel(tx, projectId);
    const made = await create({ tx, clock: db.clock, projectId }, { name, email, actor });
    const followInput = { projectId, name, now: db.clock.now(), actor };
    return { ...made, drafts: input.follow ? await followEmail(tx, followInput) : 0 };
  });
}

/** Creates and publishes a new version. Fields that the document leaves out stay as they are, and the name never changes. */
export async function editTemplate(
  { db, renderer }: WriteDeps,
  input: WriteTemplateInput & { reference: string },
): Promise<WrittenTemplate> {
  const { projectId, reference, document, actor } = input;
  const { name, ...written } = readTemplate(document);
  const seen = await findTemplate(db, { projectId, reference });
  if (name !== undefined && name !== seen.template.name) throw nameStays(seen.template.name);
  const source = completed(written, sourceOf(seen.version));
  const email = await renderer.run('publishable', source, { projectId });
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const before = await findTemplate(tx, { projectId, reference: seen.template.id });
    if (before.template.version !== seen.template.version) throw changedSinceRead(before);
    const edited = await edit({ tx, clock: db.clock, projectId }, before, { email, actor });
    if (edited === before) return { ...before, drafts: 0 };
    await incrementModel(tx, projectId);
    const followInput = { projectId, name: before.template.name, now: db.clock.now(), actor };
    return { ...edited, drafts: input.follow ? await followEmail(tx, followInput) : 0 };
  });
}

function sourceOf({ format, subject, preheader, body }: TemplateVersion) {
  return { format, subject, preheader, body };
}

function nameStays(name: string): Fault {
  const message = `name cannot change from ${JSON.stringify(name)}: rules refer to the template by it`;
  return new Fault('validation_failed', { details: [{ message, field: 'name' }] });
}

function changedSinceRead({
  template: { name, version },
  version: { createdBy },
}: Omit<WrittenTemplate, 'drafts'>) {
  const message = `${createdBy} published version ${version} of the template ${JSON.stringify(name)}. Load that version first`;
  return new Fault('conflict', { details: [{ message, field: 'template' }] });
}

/** Deletes a template, with the project locked. A shipped template of the same name takes its place; otherwise no rule may need it. */
export function deleteTemplate(
  db: Writable,
  input: { projectId: number; reference: string; actor: Actor },
): Promise<{ template: Template; drafts: number }> {
  const { projectId, actor } = input;
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const { template } = await findTemplate(tx, input);
    const now = db.clock.now();
    if (!findShippedEmail(template.name)) {
      const inForce = await listRulesInForce(tx, projectId, now);
      const naming = inForce.find(({ definition }) => emailNames(definition).has(template.name));
      if (naming) throw stillNamed(template, naming);
    }
    await removeTemplate(tx, projectId, template.id);
    await incrementModel(tx, projectId);
    return { template, drafts: await followEmail(tx, { projectId, name: template.name, now, actor }) };
  });
}

function stillNamed({ name }: Template, rule: RuleInForce): Fault {
  const [email, naming] = [JSON.stringify(name), JSON.stringify(rule.name)];
  const where = rule.isPresent ? '' : ', in an older version with active runs';
  const message = `${email} cannot be deleted: the rule ${naming} refers to it${where}`;
  return new Fault('validation_failed', { details: [{ message, field: 'template' }] });
}

export type PublishInput = {
  projectId: number;
  name: string;
  email: TemplateSource;
  /** The version that was edited; null: the project had none of its own; undefined: not checked. */
  version: number | null | undefined;
  /** When the unpublished version that the member edited was saved; null: there was none. */
  seen: number | null;
  follow: boolean;
  actor: Actor;
};

/** Publishes a template. Its unpublished version is discarded, unless another member saved a different one since then. */
export async function publishEmail(deps: WriteDeps, input: PublishInput): Promise<WrittenTemplate> {
  const { db } = deps;
  const { projectId, name, email, version, seen, follow, actor } = input;
  const { format, subject, preheader, body } = email;
  const document = { format, subject, preheader, body };
  const existing = (await listTemplates(db, projectId)).find((template) => template.name === name);
  if (version !== undefined && (existing?.version ?? null) !== version)
    throw publishedSinceRead(name, existing?.version ?? null);
  const written = existing
    ? await editTemplate(deps, { projectId, reference: existing.id, document, follow, actor })
    : await createTemplate(deps, { projectId, document: { ...document, name }, follow, actor });
  if (seen !== null) await discardUnpublished(db, { projectId, name, seen });
  return written;
}

function publishedSinceRead(name: string, version: number | null): Fault {
  const template = `the template ${JSON.stringify(name)}`;
  const message =
    version === null
      ? `Another member deleted ${template}. Publish it as a new template`
      : `Another member published version ${version} of ${template}. Load that version first`;
  return new Fault('conflict', { details: [{ message, field: 'template' }] });
}

/** Counts the untouched open drafts of this template, which would be refreshed. */
export async function countFollowing(
  tx: Tx,
  { projectId, name, now }: { projectId: number; name: string; now: number },
): Promise<number> {
  const steps = (await listRulesInForce(tx, projectId, now)).flatMap(({ ruleId, version, definition }) =>
    compile(definition.steps).flatMap((instruction, step) =>
      instruction.kind === 'draft' && 'name' in instruction.email && instruction.email.name === name
        ? [{ ruleId, version, step }]
        : [],
    ),
  );
  return countUntouched(tx, { projectId, steps });
}

/** The input of `template create` and `template update`. */
type TemplatePatch = Partial<TemplateSource> & { name?: string };

const NAME_MAX_CHARS = 100;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEYS = ['name', 'format', 'subject', 'preheader', 'body'] as const;
const FORMATS: readonly unknown[] = ['markdown', 'mjml'];

/** Reads a template part by part, or throws a fault with all errors. A part that was left out is missing in the result. */
export function readTemplate(document: unknown): TemplatePatch {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw refused([{ message: `A template is an object with ${KEYS.join(', ')}` }]);
  const faults = Object.entries(document).flatMap(([key, value]) => faultsOf(key, value));
  if (faults.length > 0) throw refused(faults);
  const written = document as TemplatePatch;
  return written.name === undefined ? written : { ...written, name: written.name.trim() };
}

/** Fills in parts that were left out, from the current template or with defaults. */
export function completed(written: TemplatePatch, current: TemplateSource | null): TemplateSource {
  const { format, subject, preheader, body } = { ...current, ...written };
  if (subject === undefined || body === undefined) {
    throw refused([
      ...(subject === undefined ? [{ message: 'subject is required', field: 'subject' }] : []),
      ...(body === undefined ? [{ message: 'body is required', field: 'body' }] : []),
    ]);
  }
  return { format: format ?? 'markdown', subject, preheader: preheader ?? '', body };
}

function faultsOf(key: string, value: unknown): FieldFault[] {
  const keys: readonly string[] = KEYS;
  if (!keys.includes(key)) return [{ message: `${key} is unknown here. Use ${KEYS.join(', ')}`, field: key }];
  if (key === 'format')
    return FORMATS.includes(value) ? [] : [{ message: 'format must be markdown or mjml', field: key }];
  if (typeof value !== 'string') return [{ message: `${key} must be a string`, field: key }];
  return key === 'name' ? nameFaults(value.trim()) : [];
}

/** Applies the same rules as names of emails in a rule. */
function nameFaults(name: string): FieldFault[] {
  const isFit =
    name.length >= 1 && name.length <= NAME_MAX_CHARS && name.isWellFormed() && !/\p{Cc}/u.test(name);
  if (!isFit) {
    const message = `name must be a string of 1 to ${NAME_MAX_CHARS} characters, without control characters`;
    return [{ message, field: 'name' }];
  }
  return ID.test(name) ? [{ message: 'name must not look like an id', field: 'name' }] : [];
}

/**
 * Counts the open drafts of these steps of these versions without an edit or approval. A new template version is rendered for these. Reads
 * a table of the drafts module.
 */
async function countUntouched(
  tx: Tx,
  { projectId, steps }: { projectId: number; steps: { ruleId: string; version: number; step: number }[] },
): Promise<number> {
  const rows = await tx.query<{ untouched: number }>(
    `SELECT count(*) AS untouched FROM unnest($2::uuid[], $3::integer[], $4::integer[]) AS p(rule_id, version, step)
     JOIN beckon.draft d ON d.project_id = $1 AND d.rule_id = p.rule_id AND d.version = p.version AND d.step = p.step
     WHERE d.ended_at IS NULL AND d.state <> 'sending' AND NOT d.is_edited
       AND 'approved' NOT IN (d.state, coalesce(d.resume_state, ''))`,
    [
      projectId,
      steps.map((step) => step.ruleId),
      steps.map((step) => step.version),
      steps.map((step) => step.step),
    ],
  );
  return rows[0]?.untouched ?? 0;
}
