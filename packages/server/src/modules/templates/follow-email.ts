import { canonicalJson } from '../../platform/text/canonical-json.ts';
import { Fault } from '../../platform/fault.ts';
import {
  type Actor,
  type Draft,
  isNotWhole,
  follow,
  isRefused,
  listOpenDrafts,
  type DraftChange,
  writeMoved,
} from '../drafts/index.ts';
import { findPeople, personKey } from '../users/index.ts';
import {
  findRunsById,
  emailNames,
  loadProjectModels,
  type Model,
  gapOf,
  emailOf,
  write,
  listRulesInForce,
} from '../rules/index.ts';
import { dueEarlier } from '../../platform/locks/timers.ts';
import { readTurn } from '../../platform/locks/project-lock.ts';
import { WORK_MAX } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

export type Following = { projectId: number; name: string; now: number; actor: Actor };

const PAGE = 500;

/**
 * Refreshes the open, untouched drafts of a template after it was published, and leaves time to review them. The caller holds the project
 * lock. Returns the number of drafts.
 */
export async function followEmail(tx: Tx, following: Following): Promise<number> {
  const { projectId, name, now } = following;
  const inForce = await listRulesInForce(tx, projectId, now);
  const naming = inForce.filter(({ definition }) => emailNames(definition).has(name));
  const ruleIds = new Set(naming.map(({ ruleId }) => ruleId));
  if (ruleIds.size === 0) return 0;
  const model = (await loadProjectModels(tx, [await readTurn(tx, projectId)], { now })).get(projectId);
  if (!model) return 0;
  let [followed, first] = [0, Infinity];
  const spent: Spent = { work: 0, drafts: 0, sincePause: 0 };
  for (const ruleId of ruleIds) {
    const done = await followOfRule(tx, { following, model, ruleId, spent });
    followed += done.followed;
    first = Math.min(first, done.dueAt);
  }
  // The alarm of the sender is locked after the drafts of all rules, because its holder waits for no draft any more.
  if (first < Infinity) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(first) }]);
  return followed;
}

type OfRule = { following: Following; model: Model; ruleId: string; spent: Spent };
type FollowedOfRule = { followed: number; dueAt: number };

async function followOfRule(tx: Tx, { following, model, ruleId, spent }: OfRule): Promise<FollowedOfRule> {
  const { projectId } = following;
  const done = { followed: 0, dueAt: Infinity };
  for (let after: string | null = null; ;) {
    const page: Draft[] = await listOpenDrafts(tx, { projectId, ruleId, after, limit: PAGE });
    const moved = await moveAll(tx, page.filter(isUntouched), { following, model, spent });
    await writeMoved(tx, moved);
    done.followed += moved.length;
    done.dueAt = Math.min(done.dueAt, ...moved.flatMap(({ draft }) => draft.dueAt ?? []));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return done;
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
  { following, model, spent }: Omit<OfRule, 'ruleId'>,
): Promise<DraftChange[]> {
  if (drafts.length === 0) return [];
  const { projectId, name, now, actor } = following;
  const people = new Map((await findPeople(tx, drafts)).map((person) => [personKey(person), person]));
  const ids = drafts.flatMap(({ runId }) => (runId === null ? [] : [{ projectId, id: runId }]));
  const runs = new Map((await findRunsById(tx, ids)).map((run) => [run.id, run]));
  const moved: DraftChange[] = [];
  for (const draft of drafts) {
    const [person, run] = [people.get(personKey(draft)), runs.get(draft.runId ?? '')];
    if (!person || !run || emailOf(model, draft)?.name !== name) continue;
    const { anchor } = run;
    const written = write({ run: { anchor, endsAt: draft.endsAt }, email: { name }, person, model });
    await spend(spent, written.work);
    const gap = gapOf(written);
    if (saysTheSame(draft, written.content, gap)) continue;
    const { content, facts } = written;
    const decided = follow(draft, { content, facts, ...gap, why: 'template_changed', now, actor });
    if (!isRefused(decided)) moved.push(decided);
  }
  return moved;
}

/** The work that is always allowed: about two seconds of the most expensive kind. */
const RENDERED_MAX = 20 * WORK_MAX;
/** Beyond that, the work allowed per draft: a tenth of its budget, which is twenty times what shipped emails use. */
const RENDERED_EACH_MAX = WORK_MAX / 10;
const PAUSE_AFTER = WORK_MAX / 5;

type Spent = { work: number; drafts: number; sincePause: number };

/**
 * Counts the work of rendering, and rejects too much of it, because the project is locked in that time. Pauses now and then, so that the
 * process can do other work.
 */
async function spend(spent: Spent, work: number): Promise<void> {
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

function saysTheSame(draft: Draft, content: Draft['content'], gap: ReturnType<typeof gapOf>): boolean {
  const held = gap.missing === null ? null : gap.isFailed ? 'render_failed' : 'missing_variable';
  const heldBefore = isNotWhole(draft) ? draft.reason : null;
  return held === heldBefore && canonicalJson(draft.content) === canonicalJson(content);
}
