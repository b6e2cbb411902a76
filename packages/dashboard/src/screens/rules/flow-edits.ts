/** Edits of the steps of a rule at a path such as `steps.2.then.0`. Every edit returns a new document, and keeps it well-formed. */

import type { RuleDocument } from '@beckon/contract/dashboard';
import { type Piece, piecesOf, stepKind, type StepKind } from './document.ts';

/** Nested lists of steps. */
export const LEVELS_MAX = 5;
export const STEPS_MAX = 50;
export const BRANCHES = ['then', 'else'] as const;
export type Branch = (typeof BRANCHES)[number];

/** A list of steps by its path, such as `steps` or `steps.2.then`, and a position in it. */
type Position = { list: string; index: number };

export function positionOf(path: string): Position {
  const at = path.lastIndexOf('.');
  return { list: path.slice(0, at), index: Number(path.slice(at + 1)) };
}

function pathOf({ list, index }: Position): string {
  return `${list}.${index}`;
}

/** The step that contains a list, and the branch that the list is; null for the list of the rule itself. */
function forkOf(list: string): { path: string; branch: Branch } | null {
  if (list === 'steps') return null;
  const at = list.lastIndexOf('.');
  return { path: list.slice(0, at), branch: list.slice(at + 1) === 'then' ? 'then' : 'else' };
}

/** The level of a list: 1 for the steps of the rule. */
export function levelOf(list: string): number {
  return list.split('.').filter((part) => part === 'then' || part === 'else').length + 1;
}

export function stepsAt(document: RuleDocument, list: string): Piece[] {
  const fork = forkOf(list);
  return piecesOf(fork === null ? document['steps'] : stepAt(document, fork.path)?.[fork.branch]);
}

export function stepAt(document: RuleDocument, path: string): Piece | undefined {
  const { list, index } = positionOf(path);
  return stepsAt(document, list)[index];
}

function withSteps(document: RuleDocument, list: string, steps: Piece[]): RuleDocument {
  const fork = forkOf(list);
  if (fork === null) return { ...document, steps };
  const step = stepAt(document, fork.path);
  return step === undefined ? document : replaceStep(document, fork.path, { ...step, [fork.branch]: steps });
}

export function replaceStep(document: RuleDocument, path: string, step: Piece): RuleDocument {
  const { list, index } = positionOf(path);
  const steps = stepsAt(document, list);
  return index < steps.length ? withSteps(document, list, steps.with(index, step)) : document;
}

export function isFork(step: Piece): boolean {
  const kind = stepKind(step);
  return kind === 'branch' || kind === 'wait_for';
}

function isEnd(step: Piece | undefined): boolean {
  return step !== undefined && stepKind(step) === 'end';
}

/** How many levels a step takes: 1, or more if it contains lists. */
function heightOf(step: Piece): number {
  if (!isFork(step)) return 1;
  const inner = BRANCHES.flatMap((branch) => piecesOf(step[branch]).map(heightOf));
  return 1 + Math.max(1, ...inner);
}

/** Every step of the document with its path, in reading order. */
export function allSteps(document: RuleDocument): { path: string; step: Piece }[] {
  const below = (list: string, steps: Piece[]): { path: string; step: Piece }[] =>
    steps.flatMap((step, index) => {
      const path = pathOf({ list, index });
      const inner = BRANCHES.flatMap((branch) => below(`${path}.${branch}`, piecesOf(step[branch])));
      return [{ path, step }, ...(isFork(step) ? inner : [])];
    });
  return below('steps', piecesOf(document['steps']));
}

/** Whether a list may have a step of this kind: nothing follows an end, and branches are not nested deeper than the limit. */
export function mayHold(list: string, kind: StepKind, isLast: boolean): boolean {
  if (kind === 'end') return isLast;
  return (kind !== 'branch' && kind !== 'wait_for') || levelOf(list) < LEVELS_MAX;
}

export function isFull(document: RuleDocument): boolean {
  return allSteps(document).length >= STEPS_MAX;
}

function canInsert(document: RuleDocument, { list, index }: Position, kind: StepKind): boolean {
  const steps = stepsAt(document, list);
  if (index < 0 || index > steps.length || isEnd(steps[index - 1]) || isFull(document)) return false;
  return mayHold(list, kind, index === steps.length);
}

/** Inserts a step before the one at this path, or after the last one. */
export function insertStep(document: RuleDocument, path: string, step: Piece): RuleDocument {
  const position = positionOf(path);
  const kind = stepKind(step);
  if (kind !== null && !canInsert(document, position, kind)) return document;
  return putStep(document, position, step);
}

function putStep(document: RuleDocument, { list, index }: Position, step: Piece): RuleDocument {
  return withSteps(document, list, stepsAt(document, list).toSpliced(index, 0, step));
}

export function deleteStep(document: RuleDocument, path: string): RuleDocument {
  const { list, index } = positionOf(path);
  return withSteps(document, list, stepsAt(document, list).toSpliced(index, 1));
}

/** The path of the step that gets the focus after the one at this path was deleted; null: its list is empty. */
export function afterDeletion(document: RuleDocument, path: string): string | null {
  const { list, index } = positionOf(path);
  const count = stepsAt(document, list).length;
  return count === 0 ? null : pathOf({ list, index: Math.min(index, count - 1) });
}

/**
 * Moves a step one place up or down in reading order: over its neighbor, into a branch, or out of it. Moving it back restores the document.
 * An end stays the last step of its list. Null: the step cannot move further.
 */
export function moveStep(
  document: RuleDocument,
  path: string,
  by: -1 | 1,
): { document: RuleDocument; path: string } | null {
  const step = stepAt(document, path);
  if (step === undefined || isEnd(step)) return null;
  const to = by < 0 ? placeAbove(document, path, step) : placeBelow(document, path, step);
  if (to === null) return null;
  const without = deleteStep(document, path);
  return { document: putStep(without, to, step), path: pathOf(to) };
}

/** The new position, in the document without the step. */
function placeAbove(document: RuleDocument, path: string, step: Piece): Position | null {
  const { list, index } = positionOf(path);
  const before = stepsAt(document, list)[index - 1];
  if (before !== undefined) {
    const position = { list, index: index - 1 };
    return canEnter(step, before, list) ? endOf(document, `${pathOf(position)}.else`) : position;
  }
  const fork = forkOf(list);
  if (fork === null) return null;
  return fork.branch === 'else' ? endOf(document, `${fork.path}.then`) : positionOf(fork.path);
}

function placeBelow(document: RuleDocument, path: string, step: Piece): Position | null {
  const { list, index } = positionOf(path);
  const after = stepsAt(document, list)[index + 1];
  if (after !== undefined && !isEnd(after)) {
    // Without the step, the next one is at its index.
    return canEnter(step, after, list) ? { list: `${path}.then`, index: 0 } : { list, index: index + 1 };
  }
  const fork = forkOf(list);
  if (fork === null) return null;
  if (fork.branch === 'then') return { list: `${fork.path}.else`, index: 0 };
  const { list: outer, index: forkIndex } = positionOf(fork.path);
  return { list: outer, index: forkIndex + 1 };
}

function canEnter(step: Piece, fork: Piece, list: string): boolean {
  return isFork(fork) && levelOf(list) + heightOf(step) <= LEVELS_MAX;
}

/** The position after the last step, or before an end. */
function endOf(document: RuleDocument, list: string): Position {
  const steps = stepsAt(document, list);
  return { list, index: isEnd(steps.at(-1)) ? steps.length - 1 : steps.length };
}
