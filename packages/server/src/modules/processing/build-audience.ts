import {
  addVerdicts,
  findSince,
  noWrites,
  writeStandings,
  advanceBuild,
  type EditionPlace,
  serveEdition,
  builtUpTo,
  countPeople,
  covers,
  type Edition,
  rebuildAudiences,
} from '../audiences/index.ts';
import { beginCounting, countOn, listPeople, type Person, addChanges } from '../users/index.ts';
import { type Decision, writeDecisions, type Model } from '../rules/index.ts';
import { dueEarlier } from '../../platform/locks/timers.ts';
import { newModel, takeFreeTurns, timed } from '../../platform/locks/project-lock.ts';
import type { BatchDeps } from './process-batch.ts';
import { askAudiences, firstDues, notConsidered } from './evaluate-audiences.ts';
import { type BatchTx, inSession } from '../../platform/db/session-transactions.ts';

/**
 * `busy`: another worker holds the project lock. `waits`: an edition that this one refers to, or that must be served together with it, is
 * not ready yet.
 */
export type BuildStep = 'went on' | 'served' | 'busy' | 'waits' | 'gone';

/** Small enough that a step holds the project lock for about ten milliseconds, so that live batches run in between. */
const PEOPLE_OF_STEP = 500;

/**
 * Runs one step towards the members of a new definition. Users are evaluated in the order of their ids. Processing keeps the evaluations
 * current for all users that a step has reached. At the end of the last step, all of them are therefore correct.
 *
 *   count the events used without a window → evaluate all users → serve, with every audience that refers to the old edition
 */
export function buildStep(given: BatchDeps, place: EditionPlace): Promise<BuildStep> {
  return inSession(given.db, async (tx) => {
    const { projectId } = place;
    const [turn] = await takeFreeTurns(tx, [projectId]);
    if (!turn) return 'busy';
    const deps = timed(given, turn.aheadMs);
    const model = (await deps.models.of(tx, [turn])).get(projectId);
    const edition = model?.audiences.byNumber.get(place.edition);
    if (!model || !edition || edition.state !== 'building') return 'gone';
    const step: Step = { tx, deps, projectId, model, edition };
    const counting = await countFirst(step);
    const done = counting ?? (await askNext(step));
    await tx.commit();
    return done;
  });
}

/** Runs one step of counting an event that no definition waits for, because only conditions of rules use it. */
export function countStep(deps: BatchDeps, projectId: number): Promise<BuildStep> {
  return inSession(deps.db, async (tx) => {
    const [turn] = await takeFreeTurns(tx, [projectId]);
    if (!turn) return 'busy';
    const model = (await deps.models.of(tx, [turn])).get(projectId);
    const name = [...(model?.counted ?? [])].find(([, { isWhole }]) => !isWhole)?.[0];
    if (!model || name === undefined) return 'gone';
    await newModel(tx, projectId);
    await countNext(tx, { projectId, name, after: model.counted.get(name)?.countedTo ?? null });
    await tx.commit();
    return 'went on';
  });
}

type Step = { tx: BatchTx; deps: BatchDeps; projectId: number; model: Model; edition: Edition };

/** Returns null once every event that this edition uses is counted. */
async function countFirst({ tx, projectId, model, edition }: Step): Promise<BuildStep | null> {
  const names = [...edition.mentions.totals].toSorted();
  const unknown = names.filter((name) => !model.counted.has(name));
  const unfinished = names.find((name) => model.counted.get(name)?.isWhole === false);
  if (unknown.length === 0 && unfinished === undefined) return null;
  await newModel(tx, projectId);
  if (unknown.length > 0) await beginCounting(tx, projectId, unknown);
  else if (unfinished !== undefined) {
    const after = model.counted.get(unfinished)?.countedTo ?? null;
    await countNext(tx, { projectId, name: unfinished, after });
  }
  return 'went on';
}

async function countNext(
  tx: BatchTx,
  { projectId, name, after }: { projectId: number; name: string; after: string | null },
): Promise<void> {
  const people = await listPeople(tx, { projectId, after, limit: PEOPLE_OF_STEP });
  await countOn(tx, { projectId, name, users: people.map(({ userId }) => userId) });
}

/** Evaluates the next users, but no further than the editions that this one refers to have come. */
async function askNext(step: Step): Promise<BuildStep> {
  const { model, edition } = step;
  const left = await listLeft(step, edition);
  if (left.length === 0) return serveTogether(step);
  const asked = referencesOf(model, edition);
  const reached = left.filter(({ userId }) => asked.every((other) => covers(other, userId)));
  if (reached.length === 0) return 'waits';
  await askAbout(step, reached);
  await newModel(step.tx, step.projectId);
  return 'went on';
}

function listLeft({ tx, projectId }: Step, { builtTo: after }: Edition): Promise<Person[]> {
  return listPeople(tx, { projectId, after, limit: PEOPLE_OF_STEP });
}

function referencesOf({ audiences }: Model, { references }: Edition): Edition[] {
  return [...references.values()].flatMap((number) => audiences.byNumber.get(number) ?? []);
}

/** A user who is already a member by the served definition keeps their `since` time. */
async function askAbout({ tx, deps, projectId, model, edition }: Step, people: Person[]): Promise<void> {
  const lastUserId = people.at(-1)?.userId;
  if (lastUserId === undefined) return;
  const now = deps.db.clock.now();
  const at = new Date(now);
  const editions = [builtUpTo(edition, lastUserId)];
  const answered = await askAudiences(
    tx,
    people.map((person) => ({ person, model, editions })),
    { now },
  );
  const writes = noWrites();
  const served = model.audiences.editionFor(edition.audienceId)?.edition;
  const users = people.map(({ userId }) => userId);
  const known =
    served === undefined
      ? new Map<string, Date>()
      : await findSince(tx, { projectId, edition: served, users });
  const decisions: Decision[] = [];
  for (const { person, verdicts } of answered) {
    const since = known.get(person.userId);
    addVerdicts(writes, { projectId, userId: person.userId, verdicts, since: since ?? at });
    const holds = verdicts.some((verdict) => verdict.holds);
    if (holds !== (since !== undefined)) {
      const { audienceId } = edition;
      decisions.push(...notConsidered(model, person, { audienceId, move: holds ? 'joined' : 'left', now }));
    }
  }
  await writeStandings(tx, writes, at);
  await writeDecisions(tx, decisions);
  await dueEarlier(tx, 'process', firstDues(writes));
  const built = edition.built + people.length;
  await advanceBuild(tx, { projectId, edition: edition.edition, builtTo: lastUserId, built });
}

/**
 * Starts to serve the edition. Audiences that refer to the old edition would then read this one, and users would join and leave by that. So
 * those audiences are first rebuilt on this edition, and all are served at once.
 */
async function serveTogether(step: Step): Promise<BuildStep> {
  const { tx, deps, projectId, model, edition } = step;
  const { together, missing } = companyOf(model, edition);
  if (missing.size > 0) {
    const people = await countPeople(tx, projectId);
    await rebuildAudiences({ tx, clock: deps.db.clock }, { projectId, audienceIds: [...missing], people });
    return 'went on';
  }
  const lefts = new Map<Edition, Person[]>();
  for (const one of together) lefts.set(one, await listLeft(step, one));
  const isFar = ([one, left]: [Edition, Person[]]): boolean =>
    left.length === PEOPLE_OF_STEP || !isCounted(model, one);
  if ([...lefts].some(isFar)) return 'waits';
  for (const [one, left] of lefts) await askAbout({ ...step, edition: one }, left);
  await newModel(tx, projectId);
  for (const one of together) await serve({ ...step, edition: one });
  return 'served';
}

function isCounted({ counted }: Model, { mentions }: Edition): boolean {
  return [...mentions.totals].every((name) => counted.get(name)?.isWhole);
}

/**
 * Returns the editions to serve together with this one, referenced ones first. `missing` has the audiences that refer to what it replaces
 * and are not being built yet.
 */
function companyOf({ audiences }: Model, edition: Edition): { together: Edition[]; missing: Set<string> } {
  const { editions } = audiences;
  const building = new Map(
    editions.filter(({ state }) => state === 'building').map((one) => [one.audienceId, one]),
  );
  const company = new Set([edition]);
  const missing = new Set<string>();
  for (const one of company) {
    for (const id of one.references.keys()) add(building.get(id));
    for (const other of editions) {
      if (other.state === 'building' || !other.references.has(one.audienceId)) continue;
      add(building.get(other.audienceId));
      if (!building.has(other.audienceId)) missing.add(other.audienceId);
    }
  }
  return { together: editions.filter((one) => company.has(one)), missing };

  function add(one: Edition | undefined): void {
    if (one) company.add(one);
  }
}

async function serve({ tx, deps, projectId, edition }: Step): Promise<void> {
  const at = new Date(deps.db.clock.now());
  const served = await serveEdition(tx, { projectId, edition: edition.edition, now: at });
  if (!served) throw new Error(`edition ${edition.edition} is no longer being built`);
  const { audienceId, members } = served;
  const detail = JSON.stringify({ members });
  await addChanges(tx, [
    { projectId, at, id: deps.newId(), kind: 'audience_built', userId: null, audienceId, detail },
  ]);
}
