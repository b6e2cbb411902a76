import type { NewId } from '../../../platform/ids.ts';
import { type Draft, type DraftChange, newDraft } from '../../drafts/index.ts';
import type { Person } from '../../users/index.ts';
import type { ProgramEmail } from '../runs/program.ts';
import type { Run } from '../runs/run.ts';
import {
  findShippedEmail,
  type TemplateText,
  personFactsChanged,
  variablesFor,
  type RenderedContent,
  renderContent,
  type ContentToRender,
} from '../../rendering/index.ts';
import { autopilotPeriod } from '../definitions/rule.ts';
import type { Model } from '../project-model.ts';
import type { BatchRendering } from './batch-rendering.ts';
import { localeOfPerson, zoneOfPerson } from './recipient.ts';

export type DraftSource = { run: Run; email: ProgramEmail; person: Person; model: Model };

/** Drafts the email that a run has reached, with its deadline. */
export function compose(
  { run, email, person, model }: DraftSource,
  { now, newId, rendering }: { now: number; newId: NewId; rendering: BatchRendering },
): DraftChange {
  const definition = model.rules.version(run.ruleId, run.version)?.definition;
  if (!definition) throw new Error(`version ${run.version} of rule ${run.ruleId} is not known`);
  const { projectId, userId } = person;
  const written = writeWithin(rendering, { run, email, person, model });
  const { content, facts } = written;
  return newDraft({
    projectId,
    id: newId(),
    ruleId: run.ruleId,
    version: run.version,
    runId: run.id,
    step: run.step,
    userId,
    key: run.key,
    content,
    facts,
    priority: definition.priority,
    counts: definition.counts,
    autopilotMs: autopilotOf(model, run),
    endsAt: run.endsAt,
    expiresAfterMs: definition.expiresAfterMs,
    hasAddress: person.email !== null,
    ...gapOf(written),
    mayHaveLeft: run.lostMs !== null,
    now,
  });
}

/** Returns what a draft would be held for: the part that took too much work, or else the first missing value. */
export function gapOf({ missing, failed }: Pick<RenderedContent, 'missing' | 'failed'>): {
  missing: string | null;
  isFailed: boolean;
} {
  return { missing: failed ?? missing[0] ?? null, isFailed: failed !== null };
}

/** Returns true if a fact that the draft uses has changed for its user. */
export function isOutdated(draft: Pick<Draft, 'facts'>, person: Person, model: Model): boolean {
  if (Object.keys(draft.facts).length === 0) return false;
  const variables = variablesFor({
    person,
    // Event properties do not change.
    anchor: { name: '', properties: {}, occurredAt: 0 },
    endsAt: null,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  return personFactsChanged(draft.facts, variables).length > 0;
}

type RenderSource = Omit<DraftSource, 'run'> & { run: Pick<Run, 'anchor' | 'endsAt'> };

/** Renders the template with the present facts of the user. */
export function write(source: RenderSource): RenderedContent {
  const { email, variables } = contentToRender(source);
  return renderContent(email, variables);
}

/** Renders like `write`, within the limits of a batch. */
export function writeWithin(rendering: BatchRendering, source: RenderSource): RenderedContent {
  const { email, person, model } = source;
  const text = textOf(model, email);
  if (!text) throw new Error(`there is no template ${JSON.stringify(email)}`);
  const item = { email: 'name' in email ? text : email, person };
  return rendering.render(item, () => write(source));
}

/** Returns the input of `write`, for rendering in another thread. */
export function contentToRender({ run, email, person, model }: RenderSource): ContentToRender {
  const text = textOf(model, email);
  if (!text) throw new Error(`there is no template ${JSON.stringify(email)}`);
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: run.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  return { email: text, variables };
}

/** Returns the text of the step that a draft was made at. `name` is null if the text belongs to that step alone. */
export function draftTemplate(
  model: Model,
  { ruleId, version, step }: { ruleId: string; version: number; step: number },
): { name: string | null; text: TemplateText } | undefined {
  const instruction = model.programOf(ruleId, version)?.[step];
  if (instruction?.kind !== 'draft') return undefined;
  const text = textOf(model, instruction.email);
  return text && { name: 'name' in instruction.email ? instruction.email.name : null, text };
}

/** A project's own template takes precedence over the shipped one with the same name. */
function textOf({ emails }: Model, email: ProgramEmail): TemplateText | undefined {
  if (!('name' in email)) return { ...email, format: 'markdown' };
  return emails.get(email.name) ?? findShippedEmail(email.name);
}

function autopilotOf({ project, rules }: Model, { ruleId }: Run): number | null {
  const rule = rules.byId.get(ruleId);
  return rule ? autopilotPeriod(rule, project.settings.autopilotMs) : null;
}
