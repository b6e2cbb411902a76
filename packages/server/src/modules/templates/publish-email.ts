import { Fault } from '../../platform/fault.ts';
import { type Actor, countUntouched } from '../drafts/index.ts';
import { compile, listRulesInForce } from '../rules/index.ts';
import { discardUnpublished } from './unpublished.ts';
import { listTemplates, type TemplateSource } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { createTemplate, editTemplate, type WriteDeps, type WrittenTemplate } from './write-template.ts';

export type Publishing = {
  projectId: number;
  name: string;
  letter: TemplateSource;
  /** The version that was edited; null: the project had none of its own; undefined: not checked. */
  version: number | null | undefined;
  /** When the unpublished version that the member edited was saved; null: there was none. */
  seen: number | null;
  follow: boolean;
  actor: Actor;
};

/** Publishes a template. Its unpublished version is discarded, unless another member saved a different one since then. */
export async function publishLetter(deps: WriteDeps, wanted: Publishing): Promise<WrittenTemplate> {
  const { db } = deps;
  const { projectId, name, letter, version, seen, follow, actor } = wanted;
  const { format, subject, preheader, body } = letter;
  const document = { format, subject, preheader, body };
  const known = (await listTemplates(db, projectId)).find((one) => one.name === name);
  if (version !== undefined && (known?.version ?? null) !== version)
    throw writtenMeanwhile(name, known?.version ?? null);
  const written = known
    ? await editTemplate(deps, { projectId, reference: known.id, document, follow, actor })
    : await createTemplate(deps, { projectId, document: { ...document, name }, follow, actor });
  if (seen !== null) await discardUnpublished(db, { projectId, name, seen });
  return written;
}

function writtenMeanwhile(name: string, version: number | null): Fault {
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
  const places = (await listRulesInForce(tx, projectId, now)).flatMap(({ ruleId, version, definition }) =>
    compile(definition.steps).flatMap((instruction, step) =>
      instruction.kind === 'draft' && 'name' in instruction.letter && instruction.letter.name === name
        ? [{ ruleId, version, step }]
        : [],
    ),
  );
  return countUntouched(tx, { projectId, places });
}
