import { findRule, listRules, type WholeRule } from './definitions/load-rules.ts';
import { ruleSentence, stepLabel } from './definitions/sentence.ts';
import { countRunPositions, countRuns, type RunPositionCount, type RunCounts } from './runs/runs-of-rule.ts';
import { outline, type OutlinedStep } from './runs/program.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { audienceNames } from './audience-names.ts';
import { listRulesInForce, type RuleInForce } from './runs/rules-in-force.ts';

/** A rule with more than one step, and its number of active users. */
export type SequenceSummary = {
  rule: WholeRule;
  sentence: string;
  emails: number;
  users: number;
  inOlderVersions: number;
};

export type SequenceStepView = Omit<OutlinedStep, 'step'> & {
  kind: OutlinedStep['step']['kind'];
  label: string;
  /** The template of the email, if it has a name. */
  template: string | null;
  active: number;
  paused: number;
};

export type SequenceDetail = SequenceSummary & {
  /** The current version first, then those with active runs. */
  versions: { version: number; isPresent: boolean; users: number; steps: SequenceStepView[] }[];
  ended: RunCounts['ended'];
};

type SequencesQuery = { projectId: number; now: number };

/** Lists sequences by name. */
export async function listSequences(tx: Tx, { projectId }: SequencesQuery): Promise<SequenceSummary[]> {
  const rules = (await listRules(tx, projectId)).filter(isSequence);
  const counts = Map.groupBy(
    await countRunPositions(tx, { projectId, ruleId: null }),
    ({ ruleId }) => ruleId,
  );
  const names = await audienceNames(tx, projectId);
  return rules.map((rule) => summaryOf(rule, counts.get(rule.id) ?? [], names));
}

/** Returns true if users can be in the middle of a rule. A rule that only writes an email has no such step. */
function isSequence({ definition: { steps } }: WholeRule): boolean {
  return outline(steps).length > 1;
}

export async function showSequence(
  tx: Tx,
  query: SequencesQuery & { reference: string },
): Promise<SequenceDetail> {
  const { projectId, now } = query;
  const rule = await findRule(tx, query);
  const counts = await countRunPositions(tx, { projectId, ruleId: rule.id });
  const names = await audienceNames(tx, projectId);
  const inForce = (await listRulesInForce(tx, projectId, now)).filter(({ ruleId }) => ruleId === rule.id);
  const versions = inForce
    .toSorted((a, b) => Number(b.isPresent) - Number(a.isPresent) || b.version - a.version)
    .map((rule) => toVersion(rule, counts, names))
    .filter(({ isPresent, users }) => isPresent || users > 0);
  const ended = (await countRuns(tx, projectId)).get(rule.id)?.ended ?? {};
  return { ...summaryOf(rule, counts, names), versions, ended };
}

type Names = Awaited<ReturnType<typeof audienceNames>>;

function summaryOf(rule: WholeRule, counts: RunPositionCount[], names: Names): SequenceSummary {
  const older = counts.filter(({ version }) => version !== rule.version);
  return {
    rule,
    sentence: ruleSentence(rule.definition, names),
    emails: outline(rule.definition.steps).filter(({ step }) => step.kind === 'draft').length,
    users: sum(counts),
    inOlderVersions: sum(older),
  };
}

function sum(counts: { runs: number }[]): number {
  return counts.reduce((all, { runs }) => all + runs, 0);
}

function toVersion(
  { version, isPresent, definition }: RuleInForce,
  counts: RunPositionCount[],
  names: Names,
): SequenceDetail['versions'][number] {
  const versionCounts = counts.filter((count) => count.version === version);
  const at = (step: number, state: RunPositionCount['state']): number =>
    sum(versionCounts.filter((count) => count.step === step && count.state === state));
  return {
    version,
    isPresent,
    users: sum(versionCounts),
    steps: outline(definition.steps).map(({ step, ...outlined }) => ({
      ...outlined,
      kind: step.kind,
      label: stepLabel(step, names),
      template: step.kind === 'draft' && 'name' in step.email ? step.email.name : null,
      active: at(outlined.at, 'active'),
      paused: at(outlined.at, 'paused'),
    })),
  };
}
