import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Facts, Mentions } from '../../platform/predicate/predicate.ts';
import { type Edition, listAudiences, loadModels } from '../audiences/index.ts';
import { type Draft, listDrafts, listMoves, type DraftTransition } from '../drafts/index.ts';
import { answerThen, countThen, ruleNames } from '../explain/index.ts';
import {
  type Certainty,
  type PastValue,
  type PersonThen,
  type PersonId,
  findPersonThen,
} from '../users/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';

/** A user at a past time, with the names of the API; `unknown`: the changes of that time are no longer kept. */
export type ShownThen = {
  at: string;
  state: 'known' | 'not_created' | 'unknown';
  kept_since: string | null;
  email: { value: string | null; certainty: Certainty };
  traits: { trait: string; value: unknown; certainty: Certainty }[];
  /** The certainty that there was no other trait. */
  others: Certainty;
  audiences: AudienceThen[];
  next: { at: string; kind: 'audience' | 'draft'; name: string; id: string }[];
  drafts: { id: string; rule: string; state: string; since: string }[];
};

export type AudienceThen = {
  id: string;
  name: string;
  certainty: Certainty;
  definition_changed: boolean;
  until: string | null;
};

type Asked = PersonId & { at: number };

/**
 * Shows a user at a past time: traits by undoing the stored changes, audiences by evaluating their definitions over what was known then.
 * Values lost by an import or by retention are reported as unknown, and never guessed.
 */
export function showPersonThen(db: Pick<Database, 'session' | 'clock'>, asked: Asked): Promise<ShownThen> {
  return inSnapshot(db, async (tx) => {
    const found = await findPersonThen(tx, { ...asked, now: db.clock.now() });
    const { state, keptSince } = found;
    const nothing = {
      ...NOTHING,
      at: iso(asked.at),
      kept_since: isoOrNull(keptSince),
    };
    if (state !== 'known') return { ...nothing, state };
    const { then } = found;
    const { audiences, moments } = await audiencesThen(tx, then, asked);
    const drafts = await draftsThen(tx, asked);
    return {
      ...nothing,
      state: 'known',
      email: { value: then.email.value ?? null, certainty: then.email.certainty },
      traits: [...then.traits].map(([trait, { value = null, certainty }]) => ({ trait, value, certainty })),
      others: then.others,
      audiences,
      drafts: drafts.map(({ shown }) => shown),
      next: [...moments, ...drafts.flatMap(({ due }) => due ?? [])].toSorted((a, b) =>
        a.at < b.at ? -1 : 1,
      ),
    };
  });
}

const NOTHING = {
  email: { value: null, certainty: 'exact' as const },
  traits: [],
  others: 'exact' as const,
  audiences: [],
  next: [],
  drafts: [],
};

type Moment = ShownThen['next'][number];

/** Evaluates each audience after those that it refers to, by today's definition. Audiences that did not exist yet are left out. */
async function audiencesThen(
  tx: Tx,
  then: PersonThen,
  asked: Asked,
): Promise<{ audiences: AudienceThen[]; moments: Moment[] }> {
  const model = (await loadModels(tx, [asked.projectId])).get(asked.projectId);
  const listed = new Map((await listAudiences(tx, asked.projectId)).map((one) => [one.id, one]));
  const seen = (model?.editions ?? []).filter(
    ({ audienceId, edition }) => model?.editionFor(audienceId)?.edition === edition,
  );
  const facts = await factsThen(tx, seen, { then, asked });
  const members = new Map<string, { holds: boolean; certainty: Certainty }>();
  const [audiences, moments]: [AudienceThen[], Moment[]] = [[], []];
  for (const { audienceId: id, name, predicate, mentions } of seen) {
    const { holds, until } = evaluate(predicate, {
      ...facts,
      isMember: (one) => members.get(one)?.holds ?? false,
    });
    const certainty = worst([
      ...certaintiesOf(then, mentions),
      ...[...mentions.audiences].flatMap((one) => members.get(one)?.certainty ?? []),
    ]);
    members.set(id, { holds, certainty });
    const audience = listed.get(id);
    if (!audience || audience.createdAt.getTime() > asked.at) continue;
    const untilText = isoOrNull(until);
    if (untilText !== null) moments.push({ at: untilText, kind: 'audience', name, id });
    const isChanged = audience.updatedAt.getTime() > asked.at;
    if (holds) audiences.push({ id, name, certainty, definition_changed: isChanged, until: untilText });
  }
  return { audiences: audiences.toSorted((a, b) => (a.name < b.name ? -1 : 1)), moments };
}

async function factsThen(
  tx: Tx,
  editions: Edition[],
  { then, asked }: { then: PersonThen; asked: Asked },
): Promise<Omit<Facts, 'isMember'>> {
  const { projectId, userId, at } = asked;
  const of = { projectId, userId, by: at };
  const names = [...new Set(editions.flatMap(({ mentions }) => [...mentions.totals]))];
  const counted = await countThen(
    tx,
    names.map((name) => ({ ...of, name })),
  );
  const totals = new Map(names.map((name, i) => [name, counted[i]]));
  const questions = new Map(editions.flatMap(({ mentions }) => [...mentions.questions]));
  const answers = new Map<string, Awaited<ReturnType<typeof answerThen>>[number] | undefined>();
  for (const [key, question] of questions) answers.set(key, (await answerThen(tx, question, [of]))[0]);
  return {
    now: at,
    email: then.email.value ?? null,
    trait: (key) => then.traits.get(key)?.value,
    total: (name) => totals.get(name),
    nth: ({ key }) => answers.get(key)?.at ?? null,
    sum: ({ key }) => ({ sum: answers.get(key)?.sum ?? 0, oldestAt: answers.get(key)?.at ?? null }),
  };
}

function certaintiesOf(then: PersonThen, mentions: Mentions): Certainty[] {
  const known = (value: PastValue<unknown> | undefined): Certainty => value?.certainty ?? then.others;
  return [
    ...[...mentions.traits].map((trait) => known(then.traits.get(trait))),
    ...(mentions.email ? [then.email.certainty] : []),
  ];
}

const FROM_BEST: Certainty[] = ['exact', 'same_around_import', 'not_kept', 'import'];

function worst(certainties: Certainty[]): Certainty {
  return certainties.toSorted((a, b) => FROM_BEST.indexOf(b) - FROM_BEST.indexOf(a))[0] ?? 'exact';
}

const DRAFTS_MAX = 200;

type DraftThen = { shown: ShownThen['drafts'][number]; due: Moment | null };

/** Returns the drafts that were open then, in the state after their moves up to that time. */
async function draftsThen(tx: Tx, { projectId, userId, at }: Asked): Promise<DraftThen[]> {
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
  const found: DraftThen[] = [];
  for (const draft of open) {
    const moves = await listMoves(tx, projectId, draft.id);
    const last = moves.findLast((move) => move.at <= at);
    if (!last) continue;
    const rule = names(draft.ruleId);
    found.push({
      shown: { id: draft.id, rule, state: last.to, since: iso(last.at) },
      due: dueThen(draft, { moves, rule, at }),
    });
  }
  return found;
}

/** The deadline is the one of that time only if no later move changed it. */
function dueThen(
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
