import { printDuration } from '../../platform/time/time-text.ts';
import { Fault } from '../../platform/fault.ts';
import type { ListRuleNeeds, RuleNeed } from './uses.ts';
import { loadModels } from './load-models.ts';
import { getSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

type Checked = { projectId: number; now: number; listRuleNeeds: ListRuleNeeds };

/**
 * Ensures that events are kept as long as any audience or rule looks back. An audience that asks about the last 90 days is wrong if events
 * are kept for 60, and so is a rule. Called under the project lock, after the setting, the definition or the rule was written.
 */
export async function checkWindows(
  tx: Tx,
  { field, ...checked }: Checked & { field: 'keep_events' | 'definition' | 'rule' },
): Promise<void> {
  const { projectId } = checked;
  const { keepEventsMs } = (await getSettings(tx, projectId)).settings;
  if (keepEventsMs === null) return;
  const longest = await findLongestWindow(tx, checked);
  if (!longest || longest.withinMs <= keepEventsMs) return;
  const [within, kept] = [printDuration(longest.withinMs), printDuration(keepEventsMs)];
  const message =
    field === 'keep_events'
      ? `keep_events must be at least ${within}: ${longest.whose} uses events of that age`
      : `${field} uses events of the last ${within}, but this project only keeps them for ${kept} (keep_events)`;
  throw new Fault('validation_failed', { details: [{ message, field }] });
}

/** Checks a definition after it was written. The caller holds the project lock. */
export async function checkDefinition(tx: Tx, checked: Checked): Promise<void> {
  await checkQuestions(tx, checked.projectId);
  await checkWindows(tx, { ...checked, field: 'definition' });
}

/** Limit for all audiences of a project together. They are compiled in memory, and each condition is a probe for each user it concerns. */
const QUESTIONS_MAX = 1_000;

/** Limits the number of different event conditions with a window over all audiences of a project. */
async function checkQuestions(tx: Tx, projectId: number): Promise<void> {
  const asked = new Set<string>();
  for (const { mentions } of (await loadModels(tx, [projectId])).get(projectId)?.editions ?? [])
    for (const key of mentions.questions.keys()) asked.add(key);
  if (asked.size <= QUESTIONS_MAX) return;
  const message = `definition would give the audiences of this project ${asked.size} different event conditions with a time; at most ${QUESTIONS_MAX} are allowed`;
  throw new Fault('validation_failed', { details: [{ message, field: 'definition' }] });
}

/** How far back a definition looks, and its name: `the audience "Paying"`. */
type Looking = { whose: string; withinMs: number };

async function findLongestWindow(tx: Tx, checked: Checked): Promise<Looking | null> {
  const all = [...(await audiencesLooking(tx, checked.projectId)), ...(await rulesLooking(tx, checked))];
  return all.reduce<Looking | null>((a, b) => (b.withinMs > (a?.withinMs ?? 0) ? b : a), null);
}

/**
 * An edition follows the editions that it refers to and includes their questions. With equal windows, the first one is therefore the one
 * that contains the condition itself.
 */
async function audiencesLooking(tx: Tx, projectId: number): Promise<Looking[]> {
  return ((await loadModels(tx, [projectId])).get(projectId)?.editions ?? []).flatMap(({ name, mentions }) =>
    [...mentions.questions.values()].map(({ window: { withinMs } }) => ({
      whose: `the audience ${JSON.stringify(name)}`,
      withinMs,
    })),
  );
}

async function rulesLooking(tx: Tx, { projectId, now, listRuleNeeds }: Checked): Promise<Looking[]> {
  return (await listRuleNeeds(tx, projectId, now)).flatMap((rule) =>
    rule.windowsMs.map((withinMs) => ({ whose: whoseOf(rule), withinMs })),
  );
}

function whoseOf({ name, isPresent }: RuleNeed): string {
  const rule = `the rule ${JSON.stringify(name)}`;
  return isPresent ? rule : `${rule}, in an older version with active runs,`;
}
