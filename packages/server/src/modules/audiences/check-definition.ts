import { printDuration } from '../../platform/time/time-text.ts';
import { Fault } from '../../platform/fault.ts';
import type { ListRuleNeeds, RuleNeed } from './uses.ts';
import { loadModels } from './load-models.ts';
import { getSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

type CheckInput = { projectId: number; now: number; listRuleNeeds: ListRuleNeeds };

/**
 * Ensures that events are kept as long as any audience or rule looks back. An audience that asks about the last 90 days is wrong if events
 * are kept for 60, and so is a rule. Called under the project lock, after the setting, the definition or the rule was written.
 */
export async function checkWindows(
  tx: Tx,
  { field, ...input }: CheckInput & { field: 'keep_events' | 'definition' | 'rule' },
): Promise<void> {
  const { projectId } = input;
  const { keepEventsMs } = (await getSettings(tx, projectId)).settings;
  if (keepEventsMs === null) return;
  const longest = await findLongestWindow(tx, input);
  if (!longest || longest.withinMs <= keepEventsMs) return;
  const [within, kept] = [printDuration(longest.withinMs), printDuration(keepEventsMs)];
  const message =
    field === 'keep_events'
      ? `keep_events must be at least ${within}: ${longest.label} uses events of that age`
      : `${field} uses events of the last ${within}, but this project only keeps them for ${kept} (keep_events)`;
  throw new Fault('validation_failed', { details: [{ message, field }] });
}

/** Checks a definition after it was written. The caller holds the project lock. */
export async function checkDefinition(tx: Tx, input: CheckInput): Promise<void> {
  await checkConditionCount(tx, input.projectId);
  await checkWindows(tx, { ...input, field: 'definition' });
}

/** Limit for all audiences of a project together. They are compiled in memory, and each condition is a probe for each user it concerns. */
const CONDITIONS_MAX = 1_000;

/** Limits the number of different event conditions with a window over all audiences of a project. */
async function checkConditionCount(tx: Tx, projectId: number): Promise<void> {
  const keys = new Set<string>();
  for (const { mentions } of (await loadModels(tx, [projectId])).get(projectId)?.versions ?? [])
    for (const key of mentions.queries.keys()) keys.add(key);
  if (keys.size <= CONDITIONS_MAX) return;
  const message = `definition would give the audiences of this project ${keys.size} different event conditions with a time; at most ${CONDITIONS_MAX} are allowed`;
  throw new Fault('validation_failed', { details: [{ message, field: 'definition' }] });
}

/** How far back a definition looks, and its name: `the audience "Paying"`. */
type WindowUse = { label: string; withinMs: number };

async function findLongestWindow(tx: Tx, input: CheckInput): Promise<WindowUse | null> {
  const all = [...(await audienceWindows(tx, input.projectId)), ...(await ruleWindows(tx, input))];
  return all.reduce<WindowUse | null>((a, b) => (b.withinMs > (a?.withinMs ?? 0) ? b : a), null);
}

/**
 * A version follows the versions that it refers to and includes their conditions. With equal windows, the first one is therefore the one
 * that contains the condition itself.
 */
async function audienceWindows(tx: Tx, projectId: number): Promise<WindowUse[]> {
  return ((await loadModels(tx, [projectId])).get(projectId)?.versions ?? []).flatMap(({ name, mentions }) =>
    [...mentions.queries.values()].map(({ window: { withinMs } }) => ({
      label: `the audience ${JSON.stringify(name)}`,
      withinMs,
    })),
  );
}

async function ruleWindows(tx: Tx, { projectId, now, listRuleNeeds }: CheckInput): Promise<WindowUse[]> {
  return (await listRuleNeeds(tx, projectId, now)).flatMap((rule) =>
    rule.windowsMs.map((withinMs) => ({ label: ruleLabel(rule), withinMs })),
  );
}

function ruleLabel({ name, isPresent }: RuleNeed): string {
  const rule = `the rule ${JSON.stringify(name)}`;
  return isPresent ? rule : `${rule}, in an older version with active runs,`;
}
