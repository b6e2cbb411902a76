import { Fault } from '../../platform/fault.ts';
import type { Actor } from '../drafts/index.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import { completed, readTemplate } from './parse-template.ts';
import { createTemplate as create, editTemplate as edit, findTemplate, removeTemplate } from './templates.ts';
import { findShippedLetter, type Template, type TemplateVersion, type Renderer } from '../rendering/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { letterNames, listRulesInForce, type RuleInForce } from '../rules/index.ts';
import { followLetter } from './follow-email.ts';

type Writable = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
export type WriteDeps = { db: Writable; renderer: Renderer };

/** `follow`: refreshes untouched open drafts too. */
type Writing = { projectId: number; document: unknown; follow: boolean; actor: Actor };

/** `drafts`: how many open drafts were refreshed. */
export type WrittenTemplate = { template: Template; version: TemplateVersion; drafts: number };

/** Creates a template of the project. One with the name of a shipped template replaces it in every rule that names it. */
export async function createTemplate({ db, renderer }: WriteDeps, wanted: Writing): Promise<WrittenTemplate> {
  const { projectId, document, actor } = wanted;
  const { name, ...written } = readTemplate(document);
  if (name === undefined)
    throw new Fault('validation_failed', { details: [{ message: 'name is required', field: 'name' }] });
  const shipped = findShippedLetter(name);
  const source = completed(written, shipped ? { ...shipped, format: 'markdown' } : null);
  const letter = await renderer.run('publishable', source, { projectId });
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await newModel(tx, projectId);
    const made = await create({ tx, clock: db.clock, projectId }, { name, letter, actor });
    const following = { projectId, name, now: db.clock.now(), actor };
    return { ...made, drafts: wanted.follow ? await followLetter(tx, following) : 0 };
  });
}

/** Creates and publishes a new version. Fields that the document leaves out stay as they are, and the name never changes. */
export async function editTemplate(
  { db, renderer }: WriteDeps,
  wanted: Writing & { reference: string },
): Promise<WrittenTemplate> {
  const { projectId, reference, document, actor } = wanted;
  const { name, ...written } = readTemplate(document);
  const seen = await findTemplate(db, { projectId, reference });
  if (name !== undefined && name !== seen.template.name) throw nameStays(seen.template.name);
  const source = completed(written, sourceOf(seen.version));
  const letter = await renderer.run('publishable', source, { projectId });
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const before = await findTemplate(tx, { projectId, reference: seen.template.id });
    if (before.template.version !== seen.template.version) throw writtenMeanwhile(before);
    const edited = await edit({ tx, clock: db.clock, projectId }, before, { letter, actor });
    if (edited === before) return { ...before, drafts: 0 };
    await newModel(tx, projectId);
    const following = { projectId, name: before.template.name, now: db.clock.now(), actor };
    return { ...edited, drafts: wanted.follow ? await followLetter(tx, following) : 0 };
  });
}

function sourceOf({ format, subject, preheader, body }: TemplateVersion) {
  return { format, subject, preheader, body };
}

function nameStays(name: string): Fault {
  const message = `name cannot change from ${JSON.stringify(name)}: rules refer to the template by it`;
  return new Fault('validation_failed', { details: [{ message, field: 'name' }] });
}

function writtenMeanwhile({
  template: { name, version },
  version: { createdBy },
}: Omit<WrittenTemplate, 'drafts'>) {
  const message = `${createdBy} published version ${version} of the template ${JSON.stringify(name)}. Load that version first`;
  return new Fault('conflict', { details: [{ message, field: 'template' }] });
}

/** Deletes a template, with the project locked. A shipped template of the same name takes its place; otherwise no rule may need it. */
export function deleteTemplate(
  db: Writable,
  wanted: { projectId: number; reference: string; actor: Actor },
): Promise<{ template: Template; drafts: number }> {
  const { projectId, actor } = wanted;
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const { template } = await findTemplate(tx, wanted);
    const now = db.clock.now();
    if (!findShippedLetter(template.name)) {
      const inForce = await listRulesInForce(tx, projectId, now);
      const naming = inForce.find(({ definition }) => letterNames(definition).has(template.name));
      if (naming) throw stillNamed(template, naming);
    }
    await removeTemplate(tx, projectId, template);
    await newModel(tx, projectId);
    return { template, drafts: await followLetter(tx, { projectId, name: template.name, now, actor }) };
  });
}

function stillNamed({ name }: Template, rule: RuleInForce): Fault {
  const [letter, naming] = [JSON.stringify(name), JSON.stringify(rule.name)];
  const where = rule.isPresent ? '' : ', in an older version with active runs';
  const message = `${letter} cannot be deleted: the rule ${naming} refers to it${where}`;
  return new Fault('validation_failed', { details: [{ message, field: 'template' }] });
}
