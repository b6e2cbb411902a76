import type { RuleDocument } from '@beckon/contract/dashboard';
import { type Piece, pieceOf, stepKind, type StepKind, textOf, triggersOf } from './document.ts';
import { allSteps, BRANCHES, stepAt } from './flow-edits.ts';

/** The parts of a rule beside its steps that have their own form. */
export const PARTS = {
  when: 'Triggers',
  only_if: 'Condition',
  goal: 'Goal and exits',
  enrollment: 'Enrollment',
  sending: 'Sending',
  limits: 'Limits',
} as const;
export type Part = keyof typeof PARTS;

/** The short name of a kind, above the title of a step. */
export const KIND_NAMES: Record<StepKind, string> = {
  email: 'Email',
  inline: 'Email',
  wait: 'Wait',
  wait_until: 'Wait',
  wait_for: 'Wait for event',
  branch: 'Branch',
  end: 'End',
};

/** Words of the server for the parts of a document. The key is the part itself, so that a moved step keeps its words. */
export type Labels = ReadonlyMap<string, string>;

export function labelsOf(document: RuleDocument, labels: Record<string, string>): Labels {
  return new Map(
    Object.entries(labels).flatMap(([path, label]) => {
      const part = partAt(document, path);
      return part === undefined ? [] : [[keyOf(path, part), label] as const];
    }),
  );
}

function partAt(document: RuleDocument, path: string): unknown {
  if (path.startsWith('steps.')) return stepAt(document, path);
  if (path.startsWith('when.')) return triggersOf(document)[Number(path.slice('when.'.length))];
  return path === 'exits.when' ? pieceOf(document['exits'])['when'] : document[path];
}

function keyOf(path: string, part: unknown): string {
  if (path.startsWith('steps.')) return `step ${headOf(pieceOf(part))}`;
  return `${path.startsWith('when.') ? 'when' : 'condition'} ${JSON.stringify(part)}`;
}

/** A step without its branches, as text. */
function headOf(step: Piece): string {
  return JSON.stringify(step, (key, value: unknown) =>
    (BRANCHES as readonly string[]).includes(key) ? undefined : value,
  );
}

export function triggerTitle(trigger: Piece, labels: Labels): string {
  return capital(labels.get(keyOf('when.', trigger)) ?? 'Choose a trigger');
}

/** The clause of a condition; null: there is none. */
export function conditionWords(condition: unknown, labels: Labels): string | null {
  if (condition === undefined) return null;
  return labels.get(keyOf('condition', condition)) ?? 'set a condition';
}

export function stepTitle(step: Piece, labels: Labels): string {
  const label = labels.get(keyOf('steps.', step));
  const kind = stepKind(step);
  if (kind === 'email') return textOf(step['draft']) || 'Choose a template';
  if (kind === 'inline') return textOf(pieceOf(step['draft'])['subject']) || 'Write a subject';
  if (kind === 'branch') return label === undefined ? 'Set a condition' : `If ${label}`;
  if (kind === 'end') return 'The run ends here';
  return kind === null ? 'Edit this step as JSON' : capital(label ?? 'Set a time');
}

/** What an action on a step is about: `Email “welcome”`. */
export function stepName(step: Piece, labels: Labels): string {
  const kind = stepKind(step);
  const title = stepTitle(step, labels);
  if (kind === 'end') return 'End';
  return kind === 'email' || kind === 'inline' ? `Email “${title}”` : title;
}

/** `Wait 3 days` on an edge: a step that only passes time is no node of its own. */
export function isOnEdge(step: Piece): boolean {
  const kind = stepKind(step);
  return kind === 'wait' || kind === 'wait_until';
}

/** The events and conditions that end a run early. */
export function exitWords(document: RuleDocument, labels: Labels): string[] {
  const exits = pieceOf(document['exits']);
  const events = Array.isArray(exits['events']) ? exits['events'].map(String) : [];
  const when = conditionWords(exits['when'], labels);
  return [
    ...events.map((event) => `${event} happens`),
    ...(when === null ? [] : [when]),
    ...(exits['on_reply'] === false ? [] : ['the user replies']),
  ];
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Values of steps by their paths, found again by the content of the steps. Of equal steps, the first of one is the first of the other. */
export function byContent<T extends { path: string }>(
  document: RuleDocument,
  values: readonly T[],
): Map<string, T> {
  const byPath = new Map(values.map((value) => [value.path, value]));
  return new Map(
    contentKeys(document).flatMap(({ path, key }) => {
      const value = byPath.get(path);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** A key for each step that stays the same when the step moves. */
export function contentKeys(document: RuleDocument): { path: string; key: string }[] {
  const counts = new Map<string, number>();
  return allSteps(document).map(({ path, step }) => {
    const head = headOf(step);
    const count = counts.get(head) ?? 0;
    counts.set(head, count + 1);
    return { path, key: `${count} ${head}` };
  });
}

export type StepNumbers = {
  here: number;
  paused: number;
  passed: string;
  /** Runs that completed at the step: at an end. */
  completed: number;
  left: number;
  leftFor: Record<string, number>;
};

type Figures = {
  active: number;
  paused: number;
  passed: number;
  at_least: boolean;
  ended: Record<string, number>;
};

/** Runs that completed or reached the goal did not drop out. */
const NOT_DROPPED = new Set(['done', 'goal']);

export function stepNumbers({ active, paused, passed, at_least: isAtLeast, ended }: Figures): StepNumbers {
  const leftFor = Object.fromEntries(Object.entries(ended).filter(([reason]) => !NOT_DROPPED.has(reason)));
  return {
    here: active + paused,
    paused,
    passed: `${passed.toLocaleString('en-GB')}${isAtLeast ? '+' : ''}`,
    completed: ended['done'] ?? 0,
    left: Object.values(leftFor).reduce((sum, count) => sum + count, 0),
    leftFor,
  };
}
