import { canonicalJson } from '../../base/canonical-json.ts';
import {
  type Actor,
  type Draft,
  follow,
  isRefused,
  listOpenDrafts,
  type Moved,
  writeMoved,
} from '../../features/drafts/index.ts';
import { findPeople, personKey } from '../../features/people/index.ts';
import { findRunsById } from '../../features/sequences/index.ts';
import { dueEarlier, readTurn } from '../../features/turns/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { letterNames } from '../letter-names.ts';
import { loadProjectModels, type Model } from '../models.ts';
import { letterOf, write } from '../rules/index.ts';
import { listRulesInForce } from '../rules-in-force.ts';

export type Following = { projectId: number; name: string; now: number; actor: Actor };

const PAGE = 500;

/**
 * With the project's turn taken, after a letter was published: the open drafts that it was written for and that nobody has
 * touched say what it says now, and there is time left to look at them. How many they are.
 */
export async function followLetter(tx: Tx, following: Following): Promise<number> {
  const { projectId, name, now } = following;
  const inForce = await listRulesInForce(tx, projectId, now);
  const naming = inForce.filter(({ definition }) => letterNames(definition).has(name));
  const ruleIds = new Set(naming.map(({ ruleId }) => ruleId));
  if (ruleIds.size === 0) return 0;
  const model = (await loadProjectModels(tx, [await readTurn(tx, projectId)], { now })).get(projectId);
  if (!model) return 0;
  let [followed, first] = [0, Infinity];
  for (const ruleId of ruleIds) {
    const done = await followOfRule(tx, { following, model, ruleId });
    followed += done.followed;
    first = Math.min(first, done.dueAt);
  }
  // Behind the drafts of all rules: who holds the place of the sender waits for no draft any more.
  if (first < Infinity) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(first) }]);
  return followed;
}

type OfRule = { following: Following; model: Model; ruleId: string };
type FollowedOfRule = { followed: number; dueAt: number };

async function followOfRule(tx: Tx, { following, model, ruleId }: OfRule): Promise<FollowedOfRule> {
  const { projectId } = following;
  const done = { followed: 0, dueAt: Infinity };
  for (let after: string | null = null; ;) {
    const page: Draft[] = await listOpenDrafts(tx, { projectId, ruleId, after, limit: PAGE });
    const moved = await moveAll(tx, page.filter(isUntouched), { following, model });
    await writeMoved(tx, moved);
    done.followed += moved.length;
    done.dueAt = Math.min(done.dueAt, ...moved.flatMap(({ draft }) => draft.dueAt ?? []));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return done;
    after = last.id;
  }
}

/** What was approved was approved as it is. */
function isUntouched({ isEdited, state, resumeState }: Draft): boolean {
  return !isEdited && state !== 'approved' && resumeState !== 'approved';
}

async function moveAll(
  tx: Tx,
  drafts: Draft[],
  { following, model }: Omit<OfRule, 'ruleId'>,
): Promise<Moved[]> {
  if (drafts.length === 0) return [];
  const { projectId, name, now, actor } = following;
  const people = new Map((await findPeople(tx, drafts)).map((person) => [personKey(person), person]));
  const ids = drafts.flatMap(({ runId }) => (runId === null ? [] : [{ projectId, id: runId }]));
  const runs = new Map((await findRunsById(tx, ids)).map((run) => [run.id, run]));
  return drafts.flatMap((draft) => {
    const [person, run] = [people.get(personKey(draft)), runs.get(draft.runId ?? '')];
    if (!person || !run || letterOf(model, draft)?.name !== name) return [];
    const { anchor } = run;
    const written = write({ run: { anchor, endsAt: draft.endsAt }, letter: { name }, person, model });
    const missing = written.missing[0] ?? null;
    if (saysTheSame(draft, written.content, missing)) return [];
    const { content, facts } = written;
    const decided = follow(draft, { content, facts, missing, why: 'letter_changed', now, actor });
    return isRefused(decided) ? [] : [decided];
  });
}

function saysTheSame(draft: Draft, content: Draft['content'], missing: string | null): boolean {
  const hadHole = draft.reason === 'missing_variable';
  return hadHole === (missing !== null) && canonicalJson(draft.content) === canonicalJson(content);
}
