import type { NewId } from '../../../platform/ids.ts';
import type { Decision } from '../decisions/decision.ts';
import { writeDecisions } from '../decisions/store.ts';
import {
  addressArrived,
  cancel,
  type DraftActionResult,
  isRefused,
  type Draft,
  isNotWhole,
  follow,
  listOpenOfPeople,
  type DraftChange,
  wantWording,
} from '../../drafts/index.ts';
import { findEmails, type PersonId, personKey } from '../../users/index.ts';
import type { Anchor } from '../definitions/rule.ts';
import { burnEntries, writeEntries } from '../definitions/entries.ts';
import type { Considered } from '../definitions/decide.ts';
import { dateIn, dropTimers, setTimers } from '../definitions/timers.ts';
import { findUnderWay } from '../runs/reads.ts';
import { insertRuns, updateRuns } from '../runs/store.ts';
import type { Run } from '../runs/run.ts';
import { type DuePlace, firstOfEach } from '../../../platform/locks/timers.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type BatchRendering,
  createBatchRendering,
  createSlowRenders,
  inTurn,
  type SlowRenders,
} from './batch-rendering.ts';
import { compose, gapOf, isOutdated, writeWithin } from './create-drafts.ts';
import { consider, type Desk, disarm, openDesk } from './context.ts';
import { gatherKnown, hooksOf, type Hooked } from './gather-facts.ts';
import type { Cause, PersonActivity, Item } from './trigger-events.ts';
import { checkOut, goOn, hear, wake } from './active-runs.ts';
import { writeMoves } from '../../sending/index.ts';

export type RulesDeps = {
  now: number;
  newId: NewId;
  /** True for a batch of a single record. It cannot be made smaller, so it has to succeed whatever it renders. */
  isSmallest?: boolean;
  /** Emails that took too long in earlier batches of this process. */
  slow?: SlowRenders;
};

type Composing = RulesDeps & { rendering: BatchRendering };

/** When each project is due for the processor and for the sender, the runs that started, and all decisions. */
export type RulesDone = { digest: DuePlace[]; send: DuePlace[]; begun: Run[]; decisions: Decision[] };

/**
 * Evaluates the rules for everything that happened, and writes the results: entries, runs, drafts, and a row of the decision log for each
 * evaluated rule. The caller holds the locks of all these projects.
 */
export async function applyRules(tx: Tx, happened: PersonActivity[], deps: RulesDeps): Promise<RulesDone> {
  const concerned = await findConcerned(tx, happened, deps.now);
  if (concerned.length === 0) return { digest: [], send: [], begun: [], decisions: [] };
  await learnEmails(tx, concerned);
  // Drafts are locked before runs wherever both are needed.
  const open = await openDrafts(tx, concerned);
  const known = await gatherKnown(tx, concerned, { now: deps.now, locks: true });
  const desks = concerned.map((one) => decideAll(one, known.get(personKey(one.happened.person)), deps));
  const openOf = (desk: Desk): Draft[] => open.get(personKey(desk.person)) ?? [];
  const rendering = createBatchRendering(deps.slow ?? createSlowRenders());
  const composing = { ...deps, rendering };
  const composed = await inTurn(desks, { ...composing, shareMin: 0 }, (desk) => composeAll(desk, composing));
  const second = { ...composing, shareMin: 0.5 };
  const moved = [
    ...composed,
    ...desks.flatMap((desk) => cancelEnded(desk, openOf(desk))),
    ...(await inTurn(desks, second, (desk) => arrivals(desk, openOf(desk), composing))),
  ];
  await writeAll(tx, desks, moved);
  await wantWording(tx, unworded(desks, moved), deps.now);
  const begun = desks.flatMap(({ outcome }) => outcome.begun);
  const decisions = desks.flatMap(({ outcome }) => outcome.decisions);
  return { digest: firstTimes(desks), send: firstDrafts(moved), begun, decisions };
}

/** Finds the users with a rule to evaluate and the users with open runs. An event that only runs wait for concerns no other users. */
async function findConcerned(tx: Tx, happened: PersonActivity[], now: number): Promise<Hooked[]> {
  const underWay = await findUnderWay(
    tx,
    happened.map(({ person: { projectId, userId } }) => ({ projectId, userId })),
    now,
  );
  return happened.flatMap((one, i): Hooked[] => {
    const rules = new Set(one.items.flatMap((item) => hooksOf(one, item).map(({ rule }) => rule)));
    const isUnderWay = underWay.has(i);
    return rules.size > 0 || isUnderWay ? [{ happened: one, rules, isUnderWay }] : [];
  });
}

/** Reads addresses only where an email or a condition may need them, and not for every record. */
async function learnEmails(tx: Tx, hooked: Hooked[]): Promise<void> {
  const unknown = hooked.map(({ happened }) => happened.person).filter(({ email }) => email === null);
  const emails = await findEmails(tx, unknown);
  for (const person of unknown) person.email = emails.get(personKey(person)) ?? null;
}

async function openDrafts(tx: Tx, hooked: Hooked[]): Promise<Map<string, Draft[]>> {
  const people = hooked
    .filter(({ isUnderWay }) => isUnderWay)
    .map(({ happened: { person } }): PersonId => ({ projectId: person.projectId, userId: person.userId }));
  return Map.groupBy(people.length === 0 ? [] : await listOpenOfPeople(tx, people), personKey);
}

function decideAll(
  { happened: one }: Hooked,
  known: Parameters<typeof openDesk>[1] | undefined,
  deps: RulesDeps,
): Desk {
  if (!known) throw new Error('a user was not looked up');
  const desk = openDesk(one, known, deps);
  for (const item of one.items) {
    if (item.kind === 'event') hear(desk, item.event);
    else if (item.kind === 'run') goOn(desk, item.run);
    considerAll(desk, one, item);
  }
  if (one.isWatched) checkOut(desk);
  return desk;
}

function considerAll(desk: Desk, one: PersonActivity, item: Item): void {
  const hooks = hooksOf(one, item);
  if (item.kind === 'trait') for (const hook of hooks) disarm(desk, hook);
  const anchor = anchorOf(one, item);
  const enrollment = item.kind === 'enrollment' ? { enrollment: item.enrollment } : {};
  if (anchor) for (const hook of hooks) consider(desk, hook, { anchor, by: handOf(item), ...enrollment });
}

function handOf(item: Item): Considered['by'] {
  if (item.kind === 'enrollment') return 'enrollment';
  if (item.kind === 'timer') return 'due';
  return item.kind === 'move' || item.kind === 'trait' ? item.by : 'record';
}

/** Returns null for an item that starts nothing: a run that continues, or a trait without a date. */
function anchorOf({ person }: PersonActivity, item: Item): Anchor | null {
  switch (item.kind) {
    case 'event': {
      const { id, name, properties, occurredAt, acceptedAt, seq } = item.event;
      return { kind: 'event', id, name, properties, occurredAt, acceptedAt, seq };
    }
    case 'move':
      return moveAnchor(item.audienceId, item.cause);
    case 'enrollment':
      return moveAnchor(item.audienceId, { seq: null, acceptedAt: item.at });
    case 'trait': {
      const { trait, cause } = item;
      const occurredAt = dateIn(person.traits.get(trait));
      if (occurredAt === null) return null;
      return { kind: 'date', id: trait, name: trait, properties: {}, occurredAt, ...cause };
    }
    case 'timer':
      return item.timer.anchor;
    case 'run':
      return null;
    default:
      return item satisfies never;
  }
}

/** Returns the anchor of a join, a leave or an enrollment. */
export function moveAnchor(audienceId: string, cause: Cause): Anchor {
  const ids = { id: audienceId, name: audienceId };
  return { kind: 'audience', ...ids, properties: {}, occurredAt: cause.acceptedAt, ...cause };
}

function composeAll({ outcome, person, model }: Desk, deps: Composing): DraftChange[] {
  return outcome.emails
    .filter(({ run }) => run.state !== 'ended')
    .map(({ run, email }) => compose({ run, email, person, model }, deps));
}

/** Cancels the open drafts of an ended run. An email that is being sent right now cannot be recalled. */
function cancelEnded({ outcome, now }: Desk, open: Draft[]): DraftChange[] {
  const reasons = new Map(outcome.ended.map((run) => [run.id, run.endReason ?? 'exit_event']));
  return open.flatMap((draft) => {
    const reason = draft.runId === null ? undefined : reasons.get(draft.runId);
    if (reason === undefined || reason === 'done') return [];
    const decided = cancel(draft, { reason, now });
    return isRefused(decided) ? [] : [decided];
  });
}

/**
 * Starts the deadline of drafts that waited for an address, if the user has one now, and renders drafts with missing values again. If a
 * draft is too late, its run continues.
 */
function arrivals(desk: Desk, open: Draft[], { rendering }: Composing): DraftChange[] {
  return open.flatMap((draft) => {
    const run = desk.runs.find(({ id, state }) => id === draft.runId && state !== 'ended');
    const decided = run ? arrivalOf(desk, draft, { run, rendering }) : null;
    if (!run || !decided || isRefused(decided)) return [];
    if (decided.draft.endedAt !== null) wake(desk, run);
    return [decided];
  });
}

/** Returns true if what the draft waits for may have arrived. With the same facts, a failed render would fail again. */
function mayGoOn({ person, model }: Desk, draft: Draft): boolean {
  if (draft.reason === 'no_address') return person.email !== null;
  if (draft.isEdited || !isNotWhole(draft)) return false;
  return draft.reason !== 'render_failed' || isOutdated(draft, person, model);
}

type Arriving = { run: Run; rendering: BatchRendering };

function arrivalOf(desk: Desk, draft: Draft, { run, rendering }: Arriving): DraftActionResult | null {
  if (!mayGoOn(desk, draft)) return null;
  const { person, model, now } = desk;
  const definition = model.rules.version(draft.ruleId, draft.version)?.definition;
  const instruction = model.programOf(draft.ruleId, draft.version)?.[draft.step];
  if (!definition || instruction?.kind !== 'draft') return null;
  const written = writeWithin(rendering, { run, email: instruction.email, person, model });
  const { content, facts } = written;
  const gap = gapOf(written);
  if (draft.reason === 'no_address')
    return addressArrived(draft, { now, expiresAfterMs: definition.expiresAfterMs, ...gap });
  if (gap.missing !== null) return null;
  const mayHaveLeft = run.lostMs !== null;
  return follow(draft, { content, facts, missing: null, mayHaveLeft, why: 'facts_changed', now });
}

async function writeAll(tx: Tx, desks: Desk[], moved: DraftChange[]): Promise<void> {
  const outcomes = desks.map(({ outcome, person }) => ({
    outcome,
    of: { projectId: person.projectId, userId: person.userId },
  }));
  const begun = outcomes.flatMap(({ outcome }) => outcome.begun);
  const [, inserted] = await Promise.all([
    // Runs are updated first, because an ended run may conflict with one that started after it.
    updateRuns(
      tx,
      outcomes.flatMap(({ outcome }) => outcome.changed),
    ),
    insertRuns(tx, begun),
    writeEntries(
      tx,
      outcomes.flatMap(({ outcome, of }) => outcome.entries.map((entry) => ({ ...of, ...entry }))),
    ),
    burnEntries(
      tx,
      outcomes.flatMap(({ outcome, of }) => outcome.burnt.map((entry) => ({ ...of, ...entry }))),
    ),
    dropTimers(
      tx,
      outcomes.flatMap(({ outcome }) => outcome.disarmed),
    ),
    setTimers(
      tx,
      outcomes.flatMap(({ outcome }) => outcome.timers),
    ),
    writeMoves(tx, moved),
    writeDecisions(
      tx,
      outcomes.flatMap(({ outcome }) => outcome.decisions),
    ),
  ]);
  // Decisions are made with the project locked. A conflict on the unique row means that other code starts runs too.
  if (inserted.size !== begun.length) throw new Error('a run of this rule was under way already');
}

/** Returns the new drafts of projects that use AI drafting. They can be sent without it, but its text may still arrive. */
function unworded(desks: Desk[], moved: DraftChange[]): Pick<Draft, 'projectId' | 'id' | 'userId'>[] {
  const projects = new Set(
    desks
      .filter(({ model: { project } }) => project.livemode && project.settings.drafting === 'model')
      .map(({ person }) => person.projectId),
  );
  return moved.flatMap(({ draft, move }) => {
    const isNew = move.number === 1 && draft.content.format === 'markdown';
    return isNew && projects.has(draft.projectId) ? [draft] : [];
  });
}

function firstTimes(desks: Desk[]): DuePlace[] {
  return firstOf(
    desks.flatMap(({ outcome, person: { projectId } }) => [
      ...outcome.timers.map(({ at }) => ({ projectId, at })),
      ...[...outcome.begun, ...outcome.changed].map(({ nextAt: at }: Run) => ({ projectId, at })),
    ]),
  );
}

function firstDrafts(moved: DraftChange[]): DuePlace[] {
  return firstOf(moved.map(({ draft: { projectId, dueAt: at } }) => ({ projectId, at })));
}

function firstOf(moments: { projectId: number; at: number | null }[]): DuePlace[] {
  return firstOfEach(
    moments.flatMap(({ projectId, at }) => (at === null ? [] : [{ projectId, nextAt: new Date(at) }])),
  );
}
