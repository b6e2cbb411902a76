import { readSingleStep } from './parse-steps.ts';
import { readWhen } from './parse-when.ts';
import { stepLabel, triggerSentence } from './sentence.ts';
import { readPredicate } from '../../../platform/predicate/parse.ts';
import { isObject, startParse } from '../../../platform/predicate/place.ts';
import { type AudienceNames, userClauseOf } from '../../../platform/predicate/sentence.ts';

/** More than a valid rule has. A document with more is refused in any case. */
const LABELS_MAX = 100;
const DEPTH_MAX = 6;

/**
 * Describes the parts of a document in words, by their paths: triggers, conditions and steps. Each part is read on its own, so that an
 * error in one part leaves the words of the others. Parts with errors have no label.
 */
export function labelsOf(document: unknown, names: AudienceNames): Record<string, string> {
  if (!isObject(document)) return {};
  const { when, only_if: onlyIf, goal, exits, steps } = document;
  const labels: [string, string | undefined][] = [
    ...[when].flat().map((trigger, i): [string, string | undefined] => {
      const [read] = readWhen(startParse('rule'), trigger) ?? [];
      return [`when.${i}`, read && triggerSentence(read, names)];
    }),
    ['only_if', clauseOf(onlyIf, names)],
    ['exits.when', clauseOf(isObject(exits) ? exits['when'] : undefined, names)],
    ['goal', clauseOf(goal, names)],
    ...stepLabels(steps, names, { path: 'steps', depth: 1 }),
  ];
  return Object.fromEntries(
    labels.slice(0, LABELS_MAX).filter((label): label is [string, string] => label[1] !== undefined),
  );
}

function clauseOf(value: unknown, names: AudienceNames): string | undefined {
  const predicate = value === undefined ? undefined : readPredicate(startParse('rule'), value);
  return predicate && userClauseOf(predicate, names);
}

function stepLabels(
  steps: unknown,
  names: AudienceNames,
  { path: listPath, depth }: { path: string; depth: number },
): [string, string | undefined][] {
  if (!Array.isArray(steps) || depth > DEPTH_MAX) return [];
  return steps.slice(0, LABELS_MAX).flatMap((value: unknown, i): [string, string | undefined][] => {
    if (!isObject(value)) return [];
    const path = `${listPath}.${i}`;
    const { then, else: otherwise, ...alone } = value;
    const step = readSingleStep(alone);
    const words = step?.kind === 'branch' ? userClauseOf(step.if, names) : step && stepLabel(step, names);
    return [
      [path, words],
      ...stepLabels(then, names, { path: `${path}.then`, depth: depth + 1 }),
      ...stepLabels(otherwise, names, { path: `${path}.else`, depth: depth + 1 }),
    ];
  });
}
