import type { UserThen } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts, Mentions } from '../../platform/predicate/predicate.ts';
import { type AudienceVersion, listAudiences, loadModels } from '../audiences/index.ts';
import { type Draft, listDrafts, listMoves, type DraftTransition } from '../drafts/index.ts';
import { ruleNames } from '../explain/index.ts';
import {
  type Certainty,
  type PastValue,
  type PastPerson,
  type PersonId,
  findPastPerson,
} from '../users/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';
import { evaluateWindowAsOf, countAsOf } from '../rules/index.ts';

type PastUserQuery = PersonId & { at: number };

/**
 * Shows a user at a past time: traits by undoing the stored changes, audiences by evaluating their definitions over what was known then.
 * Values lost by an import or by retention are reported as unknown, and never guessed.
 */
export function showPastUser(
  db: Pick<Database, 'session' | 'clock'>,
  query: PastUserQuery,
): Promise<UserThen> {
  return inSnapshot(db, async (tx) => {
    const found = await findPastPerson(tx, { ...query, now: db.clock.now() });
    const { state, keptSince } = found;
    const empty = {
      ...EMPTY,
      at: iso(query.at),
      kept_since: isoOrNull(keptSince),
    };
    if (state !== 'known') return { ...empty, state };
    const { past } = found;
    const { audiences, moments } = await pastAudiences(tx, past, query);
    const drafts = await pastDrafts(tx, query);
    return {
      ...empty,
      state: 'known',
      email: { value: past.email.value ?? null, certainty: past.email.certainty },
      traits: [...past.traits].map(([trait, { value = null, certainty }]) => ({ trait, value, certainty })),
      others: past.others,
      audiences,
      drafts: drafts.map(({ view }) => view),
      next: [...moments, ...drafts.flatMap(({ deadline }) => deadline ?? [])].toSorted((a, b) =>
        a.at < b.at ? -1 : 1,
      ),
    };
  });
}

const EMPTY = {
  email: { value: null, certainty: 'exact' as const },
  traits: [],
  others: 'exact' as const,
  audiences: [],
  next: [],
  drafts: [],
};

type Moment = UserThen['next'][number];

/** Evaluates each audience after those that it refers to, by today's definition. Audiences that did not exist yet are left out. */
async function pastAudiences(
  tx: Tx,
  past: PastPerson,
  query: PastUserQuery,
): Promise<{ audiences: UserThen['audiences']; moments: Moment[] }> {
  const model = (await loadModels(tx, [query.projectId])).get(query.projectId);
  const listed = new Map(
    (await listAudiences(tx, query.projectId)).map((audience) => [audience.id, audience]),
  );
  const visible = (model?.versions ?? []).filter(
    ({ audienceId, versionId }) => model?.versionFor(audienceId)?.versionId === versionId,
  );
  const facts = await pastFacts(tx, visible, { past, query });
  const members = new Map<string, { matches: boolean; certainty: Certainty }>();
  const [audiences, moments]: [UserThen['audiences'], Moment[]] = [[], []];
  for (const { audienceId: id, name, predicate, mentions } of visible) {
    const { matches, until } = evaluate(predicate, {
      ...facts,
      isMember: (audienceId) => members.get(audienceId)?.matches ?? false,
    });
    const certainty = worst([
      ...certaintiesOf(past, mentions),
      ...[...mentions.audiences].flatMap((audienceId) => members.get(audienceId)?.certainty ?? []),
    ]);
    members.set(id, { matches, certainty });
    const audience = listed.get(id);
    if (!audience || Date.parse(audience.created_at) > query.at) continue;
    const untilText = isoOrNull(until);
    if (untilText !== null) moments.push({ at: untilText, kind: 'audience', name, id });
    const isChanged = Date.parse(audience.updated_at) > query.at;
    if (matches) audiences.push({ id, name, certainty, definition_changed: isChanged, until: untilText });
  }
  return { audiences: audiences.toSorted((a, b) => (a.name < b.name ? -1 : 1)), moments };
}

async function pastFacts(
  tx: Tx,
  versions: AudienceVersion[],
  { past, query }: { past: PastPerson; query: PastUserQuery },
): Promise<Omit<Facts, 'isMember'>> {
  const { projectId, userId, at } = query;
  const lookup = { projectId, userId, by: at };
  const names = [...new Set(versions.flatMap(({ mentions }) => [...mentions.totals]))];
  const counted = await countAsOf(
    tx,
    names.map((name) => ({ ...lookup, name })),
  );
  const totals = new Map(names.map((name, i) => [name, counted[i]]));
  const queries = new Map(versions.flatMap(({ mentions }) => [...mentions.queries]));
  const results = new Map<string, Awaited<ReturnType<typeof evaluateWindowAsOf>>[number] | undefined>();
  for (const [key, windowQuery] of queries)
    results.set(key, (await evaluateWindowAsOf(tx, windowQuery, [lookup]))[0]);
  return {
    now: at,
    email: past.email.value ?? null,
    trait: (key) => past.traits.get(key)?.value,
    total: (name) => totals.get(name),
    nth: ({ key }) => results.get(key)?.at ?? null,
    sum: ({ key }) => ({ sum: results.get(key)?.sum ?? 0, oldestAt: results.get(key)?.at ?? null }),
  };
}

function certaintiesOf(past: PastPerson, mentions: Mentions): Certainty[] {
  const certaintyOf = (value: PastValue<unknown> | undefined): Certainty => value?.certainty ?? past.others;
  return [
    ...[...mentions.traits].map((trait) => certaintyOf(past.traits.get(trait))),
    ...(mentions.email ? [past.email.certainty] : []),
  ];
}

const FROM_BEST: Certainty[] = ['exact', 'same_around_import', 'not_kept', 'import'];

function worst(certainties: Certainty[]): Certainty {
  return certainties.toSorted((a, b) => FROM_BEST.indexOf(b) - FROM_BEST.indexOf(a))[0] ?? 'exact';
}

const DRAFTS_MAX = 200;

type PastDraft = { view: UserThen['drafts'][number]; deadline: Moment | null };

/** Returns the drafts that were open then, in the state after their moves up to that time. */
async function pastDrafts(tx: Tx, { projectId, userId, at }: PastUserQuery): Promise<PastDraft[]> {
  const names = await ruleNames(tx, projectId);
  const all = await listDrafts(tx, {
    projectId,
    userId,
    state: null,
    ruleId: null,
    after: null,
    limit: DRAFTS_MAX,
  });
  const open = all.filter(({ createdAt, endedAt }) => createdAt <= at && (endedAt === null || endedAt > at));
  const found: PastDraft[] = [];
  for (const draft of open) {
    const moves = await listMoves(tx, projectId, draft.id);
    const last = moves.findLast((move) => move.at <= at);
    if (!last) continue;
    const rule = names(draft.ruleId);
    found.push({
      view: { id: draft.id, rule, state: last.to, since: iso(last.at) },
      deadline: pastDeadline(draft, { moves, rule, at }),
    });
  }
  return found;
}

/** The deadline is the one of that time only if no later move changed it. */
function pastDeadline(
  draft: Draft,
  { moves, rule, at }: { moves: DraftTransition[]; rule: string; at: number },
): Moment | null {
  const isMoved = moves.some((move) => move.at > at && MOVES_DEADLINE.has(move.action));
  if (isMoved || draft.deadlineAt === null || draft.deadlineAt <= at) return null;
  return { at: iso(draft.deadlineAt), kind: 'draft', name: rule, id: draft.id };
}

const MOVES_DEADLINE: ReadonlySet<string> = new Set([
  'release',
  'edit',
  'postpone',
  'undo',
  'close_editor',
  'refresh_content',
  'void_approval',
  'change_mode',
  'resume',
  'approve',
]);
