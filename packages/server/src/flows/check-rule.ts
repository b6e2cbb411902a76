import { type FieldFault, Fault } from '../base/fault.ts';
import { mentionsOf, type Predicate } from '../base/predicate/index.ts';
import { loadModels } from '../features/audiences/index.ts';
import { beginCounting, findCounted } from '../features/events/index.ts';
import { type Definition, type ParsedRule, parseRule } from '../features/rules/index.ts';
import { checkLetter, listTemplates, shippedLetterNames } from '../features/writing/index.ts';
import type { Tx } from '../io/db/index.ts';
import { checkWindows } from './check-definition.ts';

/** A document as a rule, or a fault with all that is wrong with it. */
export function readRule(document: unknown): ParsedRule {
  const parsed = parseRule(document);
  if (parsed.ok) return parsed.rule;
  throw new Fault('validation_failed', { details: parsed.faults });
}

type Written = { projectId: number; definition: Definition; now: number };

/**
 * With the project's turn taken, after a rule was written: whatever it names is there. Events that its conditions ask about
 * without a window are counted for ever from now on.
 */
export async function checkRule(tx: Tx, { projectId, definition, now }: Written): Promise<void> {
  await checkReferences(tx, { projectId, definition });
  await checkWindows(tx, { projectId, now, field: 'rule' });
  await countNames(tx, projectId, definition);
}

/** The audiences and letters that a rule names are there; nothing is written. */
export async function checkReferences(
  tx: Tx,
  { projectId, definition }: Omit<Written, 'now'>,
): Promise<void> {
  const audiences = new Set(
    ((await loadModels(tx, [projectId])).get(projectId)?.editions ?? []).map(({ audienceId }) => audienceId),
  );
  const own = (await listTemplates(tx, projectId)).map(({ name }) => name);
  const letters = new Set([...shippedLetterNames(), ...own]);
  const faults = [...audienceFaults(definition, audiences), ...letterFaults(definition, letters)];
  if (faults.length > 0) throw new Fault('validation_failed', { details: faults });
}

async function countNames(tx: Tx, projectId: number, definition: Definition): Promise<void> {
  const known = (await findCounted(tx, [projectId])).get(projectId);
  const asked = new Set(conditionsOf(definition).flatMap(([, one]) => [...mentionsOf(one).totals]));
  const names = [...asked].filter((name) => !known?.has(name)).toSorted();
  if (names.length > 0) await beginCounting(tx, projectId, names);
}

function audienceFaults(definition: Definition, known: ReadonlySet<string>): FieldFault[] {
  const named = [
    ...definition.when.flatMap((trigger): [string, string][] =>
      trigger.kind === 'audience' ? [['when', trigger.audienceId]] : [],
    ),
    ...conditionsOf(definition).flatMap(([field, condition]) =>
      [...mentionsOf(condition).audiences].map((id): [string, string] => [field, id]),
    ),
  ];
  return named
    .filter(([, id]) => !known.has(id))
    .map(([field, id]) => ({
      message: `${field} refers to an audience that is not there: ${JSON.stringify(id)}`,
      field,
    }));
}

/** Everything that is asked about people, with its place in the rule. */
function conditionsOf({ onlyIf, exits, goal, steps }: Definition): [string, Predicate][] {
  const all: [string, Predicate | null][] = [
    ['only_if', onlyIf],
    ['exits.when', exits.when],
    ['goal', goal],
    ...placesOf(steps, 'steps').flatMap(({ step, place }): [string, Predicate][] =>
      step.kind === 'branch' ? [[`${place}.branch.if`, step.if]] : [],
    ),
  ];
  return all.flatMap(([field, condition]): [string, Predicate][] => (condition ? [[field, condition]] : []));
}

function letterFaults({ steps }: Definition, known: ReadonlySet<string>): FieldFault[] {
  return placesOf(steps, 'steps').flatMap(({ step, place }) => {
    if (step.kind !== 'draft') return [];
    const { letter } = step;
    const at = `${place}.draft`;
    if (!('name' in letter)) {
      return checkLetter({ ...letter, format: 'markdown' }).map(({ message, field }) => {
        const part = `${at}.${field}`;
        return { message: `${part}: ${message}`, field: part };
      });
    }
    if (known.has(letter.name)) return [];
    const names = [...known].slice(0, NAMED_MAX).join(', ');
    const message = `${at} names a letter that is not there: ${JSON.stringify(letter.name)}. There is ${names}; any other is written right there, as an object with subject and body`;
    return [{ message, field: at }];
  });
}

/** In a message. */
const NAMED_MAX = 50;

type Step = Definition['steps'][number];

function placesOf(steps: Step[], within: string): { step: Step; place: string }[] {
  return steps.flatMap((step, i) => {
    const place = `${within}.${i}`;
    if (step.kind !== 'wait_for' && step.kind !== 'branch') return [{ step, place }];
    return [
      { step, place },
      ...placesOf(step.then, `${place}.then`),
      ...placesOf(step.otherwise, `${place}.else`),
    ];
  });
}
