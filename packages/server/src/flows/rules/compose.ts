import type { NewId } from '../../base/ids.ts';
import { type Moved, newDraft } from '../../features/drafts/index.ts';
import type { Person } from '../../features/people/index.ts';
import type { ProgramLetter, Run } from '../../features/sequences/index.ts';
import {
  findShippedLetter,
  type LetterText,
  renderLetter,
  variablesFor,
} from '../../features/writing/index.ts';
import { autopilotPeriod } from '../autopilot.ts';
import type { Model } from '../models.ts';
import { zoneOfPerson } from './desk.ts';

export type Composing = { run: Run; letter: ProgramLetter; person: Person; model: Model };

/** Writes the letter that a run has come to, and holds it until its deadline. */
export function compose(
  { run, letter, person, model }: Composing,
  { now, newId }: { now: number; newId: NewId },
): Moved {
  const definition = model.rules.version(run.ruleId, run.version)?.definition;
  if (!definition) throw new Error(`version ${run.version} of rule ${run.ruleId} is not known`);
  const { projectId, userId } = person;
  const { content, facts, missing } = write({ run, letter, person, model });
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
    missing: missing[0] ?? null,
    mayHaveLeft: run.lostMs !== null,
    now,
  });
}

type Writing = Omit<Composing, 'run'> & { run: Pick<Run, 'anchor' | 'endsAt'> };

/** What the letter says to this person now. */
export function write({ run, letter, person, model }: Writing): ReturnType<typeof renderLetter> {
  const text = textOf(model, letter);
  if (!text) throw new Error(`there is no letter ${JSON.stringify(letter)}`);
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: run.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
  });
  return renderLetter(text, variables);
}

/** The letter of the step that a draft was made at; without a name where it belongs to that step alone. */
export function letterOf(
  model: Model,
  { ruleId, version, step }: { ruleId: string; version: number; step: number },
): { name: string | null; text: LetterText } | undefined {
  const instruction = model.programOf(ruleId, version)?.[step];
  if (instruction?.kind !== 'draft') return undefined;
  const text = textOf(model, instruction.letter);
  return text && { name: 'name' in instruction.letter ? instruction.letter.name : null, text };
}

/** A project's own letter of that name goes before the shipped one. */
function textOf({ letters }: Model, letter: ProgramLetter): LetterText | undefined {
  if (!('name' in letter)) return { ...letter, format: 'markdown' };
  return letters.get(letter.name) ?? findShippedLetter(letter.name);
}

function autopilotOf({ project, rules }: Model, { ruleId }: Run): number | null {
  const rule = rules.byId.get(ruleId);
  return rule ? autopilotPeriod(rule, project.settings.autopilotMs) : null;
}
