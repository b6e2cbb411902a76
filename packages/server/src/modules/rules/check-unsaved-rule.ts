import { isDeepStrictEqual } from 'node:util';
import { type FieldFault, Fault } from '../../platform/fault.ts';
import { countOfRule } from '../drafts/index.ts';
import { documentOf } from './definitions/print.ts';
import { findRule, type WholeRule } from './definitions/find-rule.ts';
import { type Lint, lintRule } from './definitions/lint.ts';
import { parseRule } from './definitions/parse.ts';
import { ruleSentence } from './definitions/sentence.ts';
import { countPlaces } from './runs/count-by-step.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { checkReferences, emailFaults } from './check-rule.ts';
import type { Renderer } from '../rendering/index.ts';
import { findSurroundings, type Surroundings } from './show-rules.ts';

/** An unsaved rule in words, with its faults. A document that cannot be read has no sentence. */
export type CheckedRule = {
  sentence: string | null;
  faults: FieldFault[];
  lints: Lint[];
  /** Compared with the saved rule that the document edits. */
  isNewVersion: boolean;
  sentenceBefore: string | null;
  openUntouched: number;
  underWay: number;
};

type Asked = { projectId: number; now: number; document: unknown; reference: string | null };

/** Reports everything that saving would refuse, except limits that are counted over the whole project. Writes nothing. */
export async function checkUnsavedRule(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  asked: Asked,
): Promise<CheckedRule> {
  const { projectId, now, document, reference } = asked;
  const saved = reference === null ? null : await findRule(tx, { projectId, reference });
  const surroundings = await findSurroundings(tx, { projectId, now });
  const before = saved
    ? await beforeOf(tx, saved, surroundings)
    : { sentenceBefore: null, openUntouched: 0, underWay: 0 };
  const parsed = parseRule(document);
  if (!parsed.ok) return { ...EMPTY, ...before, faults: parsed.faults };
  const { definition } = parsed.rule;
  const { audienceName, catalogue, events, usageAtMostOne, topics } = surroundings;
  return {
    ...before,
    faults: [
      ...(await faultsOf(() => checkReferences(tx, { projectId, definition }))),
      ...(await emailFaults(renderer, { projectId, definition })),
    ],
    sentence: ruleSentence(definition, audienceName),
    lints: lintRule(definition, catalogue, { events, usageAtMostOne, topics }),
    isNewVersion: !saved || !isDeepStrictEqual(documentOf(definition), documentOf(saved.definition)),
  };
}

const EMPTY = { sentence: null, lints: [], isNewVersion: false };

async function beforeOf(
  tx: Tx,
  { id: ruleId, definition }: WholeRule,
  { projectId, now, audienceName }: Surroundings,
): Promise<Pick<CheckedRule, 'sentenceBefore' | 'openUntouched' | 'underWay'>> {
  const asked = { projectId, ruleId, offReason: '', reasons: [], now };
  const { untouched } = await countOfRule(tx, asked);
  const places = await countPlaces(tx, { projectId, ruleId });
  return {
    sentenceBefore: ruleSentence(definition, audienceName),
    openUntouched: untouched,
    underWay: places.reduce((sum, { runs }) => sum + runs, 0),
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
