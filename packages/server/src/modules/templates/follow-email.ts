import { canonicalJson } from '../../platform/text/canonical-json.ts';
import { Fault } from '../../platform/fault.ts';
import {
  type Actor,
  type Draft,
  isIncomplete,
  follow,
  isRefused,
  listOpenDrafts,
  type DraftChange,
  writeTransitions,
} from '../drafts/index.ts';
import { findPeople, personKey } from '../users/index.ts';
import {
  findRunsById,
  loadProjectModels,
  type Model,
  gapOf,
  draftTemplate,
  write,
  listRulesInForce,
} from '../rules/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import { WORK_MAX } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { emailNames } from './email-names.ts';

export type FollowInput = { projectId: number; name: string; now: number; actor: Actor };

const PAGE = 500;

/**
 * Refreshes the open, untouched drafts of a template after it was published, and leaves time to review them. The caller holds the project
 * lock. Returns the number of drafts.
 */
export async function followEmail(tx: Tx, input: FollowInput): Promise<number> {
  const { projectId, name, now } = input;
  const inForce = await listRulesInForce(tx, projectId, now);
  const naming = inForce.filter(({ definition }) => emailNames(definition).has(name));
  const ruleIds = new Set(naming.map(({ ruleId }) => ruleId));
  if (ruleIds.size === 0) return 0;
  const model = (await loadProjectModels(tx, [await readProjectLock(tx, projectId)], { now })).get(projectId);
  if (!model) return 0;
  let [followed, first] = [0, Infinity];
  const spent: WorkBudget = { work: 0, drafts: 0, sincePause: 0 };
  for (const ruleId of ruleIds) {
    const result = await followOfRule(tx, { input, model, ruleId, spent });
    followed += result.followed;
    first = Math.min(first, result.dueAt);
  }
  // The alarm of the sender is locked after the drafts of all rules, because its holder waits for no draft any more.
  if (first < Infinity) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(first) }]);
  return followed;
}

type FollowRuleInput = { input: FollowInput; model: Model; ruleId: string; spent: WorkBudget };
type FollowResult = { followed: number; dueAt: number };

async function followOfRule(tx: Tx, { input, model, ruleId, spent }: FollowRuleInput): Promise<FollowResult> {
  const { projectId } = input;
  const result = { followed: 0, dueAt: Infinity };
  for (let after: string | null = null; ;) {
    const page: Draft[] = await listOpenDrafts(tx, { projectId, ruleId, after, limit: PAGE });
    const changes = await moveAll(tx, page.filter(isUntouched), { input, model, spent });
    await writeTransitions(tx, changes);
    result.followed += changes.length;
    result.dueAt = Math.min(result.dueAt, ...changes.flatMap(({ draft }) => draft.dueAt ?? []));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return result;
    after = last.id;
  }
}

/** An approval covers the content as it is. */
function isUntouched({ isEdited, state, resumeState }: Draft): boolean {
  return !isEdited && state !== 'approved' && resumeState !== 'approved';
}

async function moveAll(
  tx: Tx,
  drafts: Draft[],
  { input, model, spent }: Omit<FollowRuleInput, 'ruleId'>,
): Promise<DraftChange[]> {
  if (drafts.length === 0) return [];
  const { projectId, name, now, actor } = input;
  const people = new Map((await findPeople(tx, drafts)).map((person) => [personKey(person), person]));
  const ids = drafts.flatMap(({ runId }) => (runId === null ? [] : [{ projectId, id: runId }]));
  const runs = new Map((await findRunsById(tx, ids)).map((run) => [run.id, run]));
  const changes: DraftChange[] = [];
  for (const draft of drafts) {
    const [person, run] = [people.get(personKey(draft)), runs.get(draft.runId ?? '')];
    if (!person || !run || draftTemplate(model, draft)?.name !== name) continue;
    const { anchor } = run;
    const written = write({ run: { anchor, endsAt: draft.endsAt }, email: { name }, person, model });
    await spend(spent, written.work);
    const gap = gapOf(written);
    if (isSameContent(draft, written.content, gap)) continue;
    const { content, facts } = written;
    const decided = follow(draft, { content, facts, ...gap, why: 'template_changed', now, actor });
    if (!isRefused(decided)) changes.push(decided);
  }
  return changes;
}

/** The work that is always allowed: about two seconds of the most expensive kind. */
const RENDERED_MAX = 20 * WORK_MAX;
/** Beyond that, the work allowed per draft: a tenth of its budget, which is twenty times what shipped emails use. */
const RENDERED_EACH_MAX = WORK_MAX / 10;
const PAUSE_AFTER = WORK_MAX / 5;

type WorkBudget = { work: number; drafts: number; sincePause: number };

/**
 * Counts the work of rendering, and rejects too much of it, because the project is locked in that time. Pauses now and then, so that the
 * process can do other work.
 */
async function spend(spent: WorkBudget, work: number): Promise<void> {
  spent.work += work;
  spent.drafts += 1;
  spent.sincePause += work;
  if (spent.work > Math.max(RENDERED_MAX, spent.drafts * RENDERED_EACH_MAX)) {
    const message =
      'Updating the open drafts takes too much work. Publish without updating them, or simplify loops and comparisons';
    throw new Fault('validation_failed', { details: [{ message, field: 'follow' }] });
  }
  if (spent.sincePause < PAUSE_AFTER) return;
  spent.sincePause = 0;
  await new Promise((resolve) => setImmediate(resolve));
}

function isSameContent(draft: Draft, content: Draft['content'], gap: ReturnType<typeof gapOf>): boolean {
  const held = gap.missing === null ? null : gap.isFailed ? 'render_failed' : 'missing_variable';
  const heldBefore = isIncomplete(draft) ? draft.reason : null;
  return held === heldBefore && canonicalJson(draft.content) === canonicalJson(content);
}
