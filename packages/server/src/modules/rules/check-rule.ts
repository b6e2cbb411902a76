import { isDeepStrictEqual } from 'node:util';
import { checkWindows, loadModels } from '../audiences/index.ts';
import { countOfRule } from '../drafts/index.ts';
import {
  checkEmail,
  type TemplateText,
  listTemplates,
  type Renderer,
  shippedEmailNames,
} from '../rendering/index.ts';
import { labelsOf } from './definitions/labels.ts';
import { findRule, type WholeRule } from './definitions/load-rules.ts';
import { type Lint, lintRule } from './definitions/lint.ts';
import { type ParsedRule, parseRule } from './definitions/parse.ts';
import { documentOf } from './definitions/print.ts';
import type { Definition } from './definitions/rule.ts';
import { ruleSentence } from './definitions/sentence.ts';
import { countRunPositions } from './runs/runs-of-rule.ts';
import { listRuleNeeds } from './runs/rules-in-force.ts';
import { loadCheckContext, type RuleCheckContext } from './show-rules.ts';
import { beginCounting, findCounted } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault, type FieldFault } from '../../platform/fault.ts';
import { mentionsOf } from '../../platform/predicate/mentions.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';

/** Reads a document as a rule. Throws all of its faults at once. */
export function readRule(document: unknown): ParsedRule {
  const parsed = parseRule(document);
  if (parsed.ok) return parsed.rule;
  throw new Fault('validation_failed', { details: parsed.faults });
}

type WrittenRule = { projectId: number; definition: Definition; now: number };

/**
 * Checks that everything that a rule refers to exists. Called after the rule was written, with the project locked. From then on, events
 * that its conditions use without a window are counted forever.
 */
export async function checkRule(tx: Tx, { projectId, definition, now }: WrittenRule): Promise<void> {
  await checkReferences(tx, { projectId, definition });
  await checkWindows(tx, { projectId, now, field: 'rule', listRuleNeeds });
  await countNames(tx, projectId, definition);
}

/** Checks that the audiences and templates that a rule names exist. Writes nothing. */
export async function checkReferences(
  tx: Tx,
  { projectId, definition }: Omit<WrittenRule, 'now'>,
): Promise<void> {
  const audiences = new Set(
    ((await loadModels(tx, [projectId])).get(projectId)?.versions ?? []).map(({ audienceId }) => audienceId),
  );
  const templateNames = (await listTemplates(tx, projectId)).map(({ name }) => name);
  const emails = new Set([...shippedEmailNames(), ...templateNames]);
  const faults = [...audienceFaults(definition, audiences), ...templateFaults(definition, emails)];
  if (faults.length > 0) throw new Fault('validation_failed', { details: faults });
}

async function countNames(tx: Tx, projectId: number, definition: Definition): Promise<void> {
  const counted = (await findCounted(tx, [projectId])).get(projectId);
  const totals = new Set(
    conditionsOf(definition).flatMap(([, condition]) => [...mentionsOf(condition).totals]),
  );
  const names = [...totals].filter((name) => !counted?.has(name)).toSorted();
  if (names.length > 0) await beginCounting(tx, projectId, names);
}

function audienceFaults(definition: Definition, audienceIds: ReadonlySet<string>): FieldFault[] {
  const named = [
    ...definition.when.flatMap((trigger): [string, string][] =>
      trigger.kind === 'audience' ? [['when', trigger.audienceId]] : [],
    ),
    ...conditionsOf(definition).flatMap(([field, condition]) =>
      [...mentionsOf(condition).audiences].map((id): [string, string] => [field, id]),
    ),
  ];
  return named
    .filter(([, id]) => !audienceIds.has(id))
    .map(([field, id]) => ({
      message: `${field} refers to an audience that does not exist: ${JSON.stringify(id)}`,
      field,
    }));
}

/** All conditions of a rule, each with its path in the document. */
function conditionsOf({ onlyIf, exits, goal, steps }: Definition): [string, Predicate][] {
  const all: [string, Predicate | null][] = [
    ['only_if', onlyIf],
    ['exits.when', exits.when],
    ['goal', goal],
    ...stepPaths(steps, 'steps').flatMap(({ step, path }): [string, Predicate][] =>
      step.kind === 'branch' ? [[`${path}.branch.if`, step.if]] : [],
    ),
  ];
  return all.flatMap(([field, condition]): [string, Predicate][] => (condition ? [[field, condition]] : []));
}

/**
 * Renders each email that a rule contains once, as publishing does with a template. Called before the project is locked, because a
 * render may take seconds.
 */
export async function tryEmails(
  renderer: Renderer,
  { projectId, document }: { projectId: number; document: unknown },
): Promise<void> {
  // An update may leave the name out. A document with other faults is refused when it is read.
  const parsed = parseRule(isObject(document) ? { name: 'unnamed', ...document } : document);
  const faults = parsed.ok
    ? await emailFaults(renderer, { projectId, definition: parsed.rule.definition })
    : [];
  if (faults.length > 0) throw new Fault('validation_failed', { details: faults });
}

/** Ends with the first email that exceeds the limits, so that a rule of many such emails does not take the time of all. */
async function emailFaults(
  renderer: Renderer,
  { projectId, definition }: Omit<WrittenRule, 'now'>,
): Promise<FieldFault[]> {
  for (const { step, path } of stepPaths(definition.steps, 'steps')) {
    if (step.kind !== 'draft' || 'name' in step.email) continue;
    const email: TemplateText = { ...step.email, format: 'markdown' };
    try {
      await renderer.run('trial', email, { projectId });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'validation_failed') throw error;
      return error.details.map((fault) => within(`${path}.draft`, fault));
    }
  }
  return [];
}

function isObject(document: unknown): document is object {
  return typeof document === 'object' && document !== null && !Array.isArray(document);
}

function within(path: string, { message, field = 'body' }: FieldFault): FieldFault {
  const part = `${path}.${field}`;
  return { message: `${part}: ${message.replace(`${field}: `, '')}`, field: part };
}

function templateFaults({ steps }: Definition, templateNames: ReadonlySet<string>): FieldFault[] {
  return stepPaths(steps, 'steps').flatMap(({ step, path }) => {
    if (step.kind !== 'draft') return [];
    const { email } = step;
    const at = `${path}.draft`;
    if (!('name' in email))
      return checkEmail({ ...email, format: 'markdown' }).map((fault) => within(at, fault));
    if (templateNames.has(email.name)) return [];
    const names = [...templateNames].slice(0, NAMED_MAX).join(', ');
    const message = `${at} names a template that does not exist: ${JSON.stringify(email.name)}. Use ${names}, or write the email there as an object with subject and body`;
    return [{ message, field: at }];
  });
}

/** Maximum number of names in an error message. */
const NAMED_MAX = 50;

type Step = Definition['steps'][number];

function stepPaths(steps: Step[], within: string): { step: Step; path: string }[] {
  return steps.flatMap((step, i) => {
    const path = `${within}.${i}`;
    if (step.kind !== 'wait_for' && step.kind !== 'branch') return [{ step, path }];
    return [
      { step, path },
      ...stepPaths(step.then, `${path}.then`),
      ...stepPaths(step.otherwise, `${path}.else`),
    ];
  });
}

/** An unsaved rule in words, with its faults. A document that cannot be read has no sentence. */
type CheckedRule = {
  sentence: string | null;
  labels: Record<string, string>;
  faults: FieldFault[];
  lints: Lint[];
  /** Compared with the saved rule that the document edits. */
  isNewVersion: boolean;
  sentenceBefore: string | null;
  openUntouched: number;
  activeRuns: number;
};

type CheckQuery = { projectId: number; now: number; document: unknown; reference: string | null };

/** Reports everything that saving would refuse, except limits that are counted over the whole project. Writes nothing. */
export async function checkUnsavedRule(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  query: CheckQuery,
): Promise<CheckedRule> {
  const { projectId, now, document, reference } = query;
  const saved = reference === null ? null : await findRule(tx, { projectId, reference });
  const context = await loadCheckContext(tx, { projectId, now });
  const before = saved
    ? await beforeOf(tx, saved, context)
    : { sentenceBefore: null, openUntouched: 0, activeRuns: 0 };
  const parsed = parseRule(document);
  const labels = labelsOf(document, context.audienceName);
  if (!parsed.ok) return { ...EMPTY, ...before, labels, faults: parsed.faults };
  const { definition } = parsed.rule;
  const { audienceName, catalogue, events, isNewProject, isUsageFraction, topics } = context;
  return {
    ...before,
    labels,
    faults: [
      ...(await faultsOf(() => checkReferences(tx, { projectId, definition }))),
      ...(await emailFaults(renderer, { projectId, definition })),
    ],
    sentence: ruleSentence(definition, audienceName),
    lints: lintRule(definition, catalogue, { events, isNewProject, isUsageFraction, topics }),
    isNewVersion: !saved || !isDeepStrictEqual(documentOf(definition), documentOf(saved.definition)),
  };
}

const EMPTY = { sentence: null, lints: [], isNewVersion: false };

async function beforeOf(
  tx: Tx,
  { id: ruleId, definition }: WholeRule,
  { projectId, now, audienceName }: RuleCheckContext,
): Promise<Pick<CheckedRule, 'sentenceBefore' | 'openUntouched' | 'activeRuns'>> {
  const query = { projectId, ruleId, offReason: '', reasons: [], now };
  const { untouched } = await countOfRule(tx, query);
  const counts = await countRunPositions(tx, { projectId, ruleId });
  return {
    sentenceBefore: ruleSentence(definition, audienceName),
    openUntouched: untouched,
    activeRuns: counts.reduce((sum, { runs }) => sum + runs, 0),
  };
}

async function faultsOf(check: () => Promise<void>): Promise<FieldFault[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (error instanceof Fault && error.code === 'validation_failed') return error.details;
    throw error;
  }
}
