import { useMemo } from 'react';
import type { RuleDetails, RuleDocument, RuleFlow } from '@beckon/contract/dashboard';
import type { Flow, Reach } from './flow-context.ts';
import { allSteps, isFull } from './flow-edits.ts';
import {
  byContent,
  contentKeys,
  type Labels,
  labelsOf,
  type Part,
  stepNumbers,
  type StepNumbers,
} from './flow-words.ts';
import type { Checked } from './use-checked.ts';

/** The counts of a backtest, and the document that it was run with. */
export type Overlay = { document: RuleDocument; steps: ({ path: string } & Reach)[] };

type Data = {
  document: RuleDocument;
  rule: RuleDetails | null;
  flow: RuleFlow | undefined;
  checking: Checked;
  overlay: Overlay | null;
};

/** The figures and errors of each node. They stay the same objects while nothing in them changes, so that typing does not render every node. */
export function useFlowData(data: Data): Pick<Flow, 'numbers' | 'reach' | 'faulty' | 'isFull'> {
  const { document, checking, overlay } = data;
  const numbers = useStable(numbersOf(data));
  const reach = useStable(overlay && reachOf(document, overlay));
  const faults = checking.checked?.faults ?? [];
  const faulty = useStable([...new Set(faults.map(({ field = '' }) => partOf(field, document)))]);
  const full = isFull(document);
  return useMemo(
    () => ({
      numbers: new Map(numbers),
      reach: reach && new Map(reach),
      faulty: new Set(faulty),
      isFull: full,
    }),
    [numbers, reach, faulty, full],
  );
}

function useStable<T>(value: T): T {
  const text = JSON.stringify(value);
  // The text stands for the value.
  return useMemo(() => JSON.parse(text) as T, [text]);
}

/** The words of the saved rule, and those of the latest check. */
export function useLabels(checking: Checked, rule: RuleDetails | null, flow: RuleFlow | undefined): Labels {
  const { checked } = checking;
  return useMemo(
    () =>
      new Map([
        ...(rule && flow ? labelsOf(rule.definition, flow.labels) : []),
        ...(checked ? labelsOf(checked.document, checked.labels) : []),
      ]),
    [checked, rule, flow],
  );
}

function numbersOf({ document, rule, flow }: Data): [string, StepNumbers][] {
  if (!rule || !flow || flow.version !== rule.version) return [];
  const figures = byContent(rule.definition, flow.steps);
  return contentKeys(document).flatMap(({ path, key }) => {
    const figure = figures.get(key);
    return figure ? [[path, stepNumbers(figure)] as [string, StepNumbers]] : [];
  });
}

function reachOf(document: RuleDocument, overlay: Overlay): [string, Reach][] {
  const steps = byContent(overlay.document, overlay.steps);
  return contentKeys(document).flatMap(({ path, key }) => {
    const step = steps.get(key);
    return step ? [[path, { users: step.users, emails: step.emails }] as [string, Reach]] : [];
  });
}

/** The part of the flow that contains a field of the document. */
export function partOf(field: string, document: RuleDocument): Part | `steps.${string}` {
  const [first = ''] = field.split('.');
  if (first === 'steps') {
    const paths = allSteps(document).map(({ path }) => path);
    const inside = paths.filter((path) => field === path || field.startsWith(`${path}.`));
    return (inside.at(-1) ?? 'limits') as Part | `steps.${string}`;
  }
  if (first === 'when' || first === 'only_if' || first === 'enrollment') return first;
  if (first === 'about') return 'enrollment';
  if (first === 'mode' || first === 'deadline') return 'sending';
  return first === 'goal' || first === 'exits' ? 'goal' : 'limits';
}
