import { findRule, listRules, type WholeRule } from './definitions/load-rules.ts';
import { ruleSentence, stepLabel } from './definitions/sentence.ts';
import { countPlaces, countRuns, type PlaceCount, type RunCounts } from './runs/runs-of-rule.ts';
import { outline, type OutlinedStep } from './runs/program.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { audienceNames } from '../audiences/index.ts';
import { listRulesInForce, type RuleInForce } from './runs/rules-in-force.ts';

/** A rule with more than one step, and its number of active users. */
export type ListedSequence = {
  rule: WholeRule;
  sentence: string;
  emails: number;
  users: number;
  inOlderVersions: number;
};

export type ShownStep = Omit<OutlinedStep, 'step'> & {
  kind: OutlinedStep['step']['kind'];
  label: string;
  /** The template of the email, if it has a name. */
  template: string | null;
  active: number;
  paused: number;
};

export type ShownSequence = ListedSequence & {
  /** The current version first, then those with active runs. */
  versions: { version: number; isPresent: boolean; users: number; steps: ShownStep[] }[];
  ended: RunCounts['ended'];
};

type Asked = { projectId: number; now: number };

/** Lists sequences by name. */
export async function listSequences(tx: Tx, { projectId }: Asked): Promise<ListedSequence[]> {
  const rules = (await listRules(tx, projectId)).filter(isSequence);
  const places = Map.groupBy(await countPlaces(tx, { projectId, ruleId: null }), ({ ruleId }) => ruleId);
  const names = await audienceNames(tx, projectId);
  return rules.map((rule) => toListed(rule, places.get(rule.id) ?? [], names));
}

/** Returns true if users can be in the middle of a rule. A rule that only writes an email has no such step. */
function isSequence({ definition: { steps } }: WholeRule): boolean {
  return outline(steps).length > 1;
}

export async function showSequence(tx: Tx, asked: Asked & { reference: string }): Promise<ShownSequence> {
  const { projectId, now } = asked;
  const rule = await findRule(tx, asked);
  const places = await countPlaces(tx, { projectId, ruleId: rule.id });
  const names = await audienceNames(tx, projectId);
  const inForce = (await listRulesInForce(tx, projectId, now)).filter(({ ruleId }) => ruleId === rule.id);
  const versions = inForce
    .toSorted((a, b) => Number(b.isPresent) - Number(a.isPresent) || b.version - a.version)
    .map((one) => toVersion(one, places, names))
    .filter(({ isPresent, users }) => isPresent || users > 0);
  const ended = (await countRuns(tx, projectId)).get(rule.id)?.ended ?? {};
  return { ...toListed(rule, places, names), versions, ended };
}

type Names = Awaited<ReturnType<typeof audienceNames>>;

function toListed(rule: WholeRule, places: PlaceCount[], names: Names): ListedSequence {
  const older = places.filter(({ version }) => version !== rule.version);
  return {
    rule,
    sentence: ruleSentence(rule.definition, names),
    emails: outline(rule.definition.steps).filter(({ step }) => step.kind === 'draft').length,
    users: sum(places),
    inOlderVersions: sum(older),
  };
}

function sum(places: { runs: number }[]): number {
  return places.reduce((all, { runs }) => all + runs, 0);
}

function toVersion(
  { version, isPresent, definition }: RuleInForce,
  places: PlaceCount[],
  names: Names,
): ShownSequence['versions'][number] {
  const own = places.filter((place) => place.version === version);
  const at = (step: number, state: PlaceCount['state']): number =>
    sum(own.filter((place) => place.step === step && place.state === state));
  return {
    version,
    isPresent,
    users: sum(own),
    steps: outline(definition.steps).map(({ step, ...place }) => ({
      ...place,
      kind: step.kind,
      label: stepLabel(step, names),
      template: step.kind === 'draft' && 'name' in step.email ? step.email.name : null,
      active: at(place.at, 'active'),
      paused: at(place.at, 'paused'),
    })),
  };
}
