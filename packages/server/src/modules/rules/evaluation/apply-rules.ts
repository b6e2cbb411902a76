import type { NewId } from '../../../platform/ids.ts';
import type { Decision } from '../decisions/decision.ts';
import { writeDecisions } from '../decisions/store.ts';
import {
  resumeWithAddress,
  cancel,
  type DraftActionResult,
  isRefused,
  type Draft,
  isIncomplete,
  follow,
  listOpenOfPeople,
  type DraftChange,
  requestAiDrafting,
} from '../../drafts/index.ts';
import { findEmails, type PersonId, personKey } from '../../users/index.ts';
import { burnEntries, writeEntries } from '../definitions/entries.ts';
import { dropTimers, setTimers } from '../definitions/timers.ts';
import { findOpenRunIndexes } from '../runs/reads.ts';
import { insertRuns, updateRuns } from '../runs/store.ts';
import type { Run } from '../runs/run.ts';
import { type ProjectTimer, earliestPerProject } from '../../../platform/locks/timers.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type BatchRendering,
  createBatchRendering,
  createSlowRenders,
  mapWithinLimits,
  type SlowRenders,
} from './batch-rendering.ts';
import { compose, gapOf, isOutdated, writeWithin } from './create-drafts.ts';
import { evaluateRule, type EvaluationContext, removeTimers, createEvaluationContext } from './context.ts';
import { loadSnapshots, hooksOf, type AffectedPerson } from './gather-facts.ts';
import { anchorOf, type Item, originOf, type PersonActivity } from './trigger-events.ts';
import { checkExits, continueRun, applyEvent, continueAfterDraft } from './active-runs.ts';
import { writeMoves } from '../../sending/index.ts';

export type RulesDeps = {
  now: number;
  newId: NewId;
  /** True for a batch of a single record. It cannot be made smaller, so it has to succeed whatever it renders. */
  isSmallest?: boolean;
  /** Emails that took too long in earlier batches of this process. */
  slow?: SlowRenders;
};

type ComposeDeps = RulesDeps & { rendering: BatchRendering };

/** When each project is due for the processor and for the sender, the runs that started, and all decisions. */
export type RulesResult = {
  processTimers: ProjectTimer[];
  sendTimers: ProjectTimer[];
  begun: Run[];
  decisions: Decision[];
};

/**
 * Evaluates the rules for everything that happened, and writes the results: entries, runs, drafts, and a row of the decision log for each
 * evaluated rule. The caller holds the locks of all these projects.
 */
export async function applyRules(
  tx: Tx,
  activities: PersonActivity[],
  deps: RulesDeps,
): Promise<RulesResult> {
  const affected = await findAffected(tx, activities, deps.now);
  if (affected.length === 0) return { processTimers: [], sendTimers: [], begun: [], decisions: [] };
  await learnEmails(tx, affected);
  // Drafts are locked before runs wherever both are needed.
  const open = await openDrafts(tx, affected);
  const snapshots = await loadSnapshots(tx, affected, { now: deps.now, locks: true });
  const contexts = affected.map((entry) =>
    decideAll(entry, snapshots.get(personKey(entry.activity.person)), deps),
  );
  const openOf = (context: EvaluationContext): Draft[] => open.get(personKey(context.person)) ?? [];
  const rendering = createBatchRendering(deps.slow ?? createSlowRenders());
  const composeDeps = { ...deps, rendering };
  const composed = await mapWithinLimits(contexts, { ...composeDeps, shareMin: 0 }, (context) =>
    composeAll(context, composeDeps),
  );
  const secondOptions = { ...composeDeps, shareMin: 0.5 };
  const changes = [
    ...composed,
    ...contexts.flatMap((context) => cancelEnded(context, openOf(context))),
    ...(await mapWithinLimits(contexts, secondOptions, (context) =>
      updateWaitingDrafts(context, openOf(context), composeDeps),
    )),
  ];
  await writeAll(tx, contexts, changes);
  await requestAiDrafting(tx, unworded(contexts, changes), deps.now);
  const begun = contexts.flatMap(({ outcome }) => outcome.begun);
  const decisions = contexts.flatMap(({ outcome }) => outcome.decisions);
  return { processTimers: firstTimes(contexts), sendTimers: firstDrafts(changes), begun, decisions };
}

/** Finds the users with a rule to evaluate and the users with open runs. An event that only runs wait for concerns no other users. */
async function findAffected(tx: Tx, activities: PersonActivity[], now: number): Promise<AffectedPerson[]> {
  const openRunIndexes = await findOpenRunIndexes(
    tx,
    activities.map(({ person: { projectId, userId } }) => ({ projectId, userId })),
    now,
  );
  return activities.flatMap((activity, i): AffectedPerson[] => {
    const rules = new Set(activity.items.flatMap((item) => hooksOf(activity, item).map(({ rule }) => rule)));
    const hasOpenRun = openRunIndexes.has(i);
    return rules.size > 0 || hasOpenRun ? [{ activity, rules, hasOpenRun }] : [];
  });
}

/** Reads addresses only where an email or a condition may need them, and not for every record. */
async function learnEmails(tx: Tx, affected: AffectedPerson[]): Promise<void> {
  const unknown = affected.map(({ activity }) => activity.person).filter(({ email }) => email === null);
  const emails = await findEmails(tx, unknown);
  for (const person of unknown) person.email = emails.get(personKey(person)) ?? null;
}

async function openDrafts(tx: Tx, affected: AffectedPerson[]): Promise<Map<string, Draft[]>> {
  const people = affected
    .filter(({ hasOpenRun }) => hasOpenRun)
    .map(({ activity: { person } }): PersonId => ({ projectId: person.projectId, userId: person.userId }));
  return Map.groupBy(people.length === 0 ? [] : await listOpenOfPeople(tx, people), personKey);
}

function decideAll(
  { activity }: AffectedPerson,
  snapshot: Parameters<typeof createEvaluationContext>[1] | undefined,
  deps: RulesDeps,
): EvaluationContext {
  if (!snapshot) throw new Error('a user was not looked up');
  const context = createEvaluationContext(activity, snapshot, deps);
  for (const item of activity.items) {
    if (item.kind === 'event') applyEvent(context, item.event);
    else if (item.kind === 'run') continueRun(context, item.run);
    evaluateRules(context, activity, item);
  }
  if (activity.isWatched) checkExits(context);
  return context;
}

function evaluateRules(context: EvaluationContext, activity: PersonActivity, item: Item): void {
  const hooks = hooksOf(activity, item);
  if (item.kind === 'trait') for (const hook of hooks) removeTimers(context, hook);
  const anchor = anchorOf(activity, item);
  const enrollment = item.kind === 'enrollment' ? { enrollment: item.enrollment } : {};
  if (anchor)
    for (const hook of hooks) evaluateRule(context, hook, { anchor, by: originOf(item), ...enrollment });
}

function composeAll({ outcome, person, model }: EvaluationContext, deps: ComposeDeps): DraftChange[] {
  return outcome.emails
    .filter(({ run }) => run.state !== 'ended')
    .map(({ run, email }) => compose({ run, email, person, model }, deps));
}

/** Cancels the open drafts of an ended run. An email that is being sent right now cannot be recalled. */
function cancelEnded({ outcome, now }: EvaluationContext, open: Draft[]): DraftChange[] {
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
function updateWaitingDrafts(
  context: EvaluationContext,
  open: Draft[],
  { rendering }: ComposeDeps,
): DraftChange[] {
  return open.flatMap((draft) => {
    const run = context.runs.find(({ id, state }) => id === draft.runId && state !== 'ended');
    const decided = run ? updateWaitingDraft(context, draft, { run, rendering }) : null;
    if (!run || !decided || isRefused(decided)) return [];
    if (decided.draft.endedAt !== null) continueAfterDraft(context, run);
    return [decided];
  });
}

/** Returns true if what the draft waits for may have arrived. With the same facts, a failed render would fail again. */
function mayGoOn({ person, model }: EvaluationContext, draft: Draft): boolean {
  if (draft.reason === 'no_address') return person.email !== null;
  if (draft.isEdited || !isIncomplete(draft)) return false;
  return draft.reason !== 'render_failed' || isOutdated(draft, person, model);
}

type WaitingDraftDeps = { run: Run; rendering: BatchRendering };

function updateWaitingDraft(
  context: EvaluationContext,
  draft: Draft,
  { run, rendering }: WaitingDraftDeps,
): DraftActionResult | null {
  if (!mayGoOn(context, draft)) return null;
  const { person, model, now } = context;
  const definition = model.rules.version(draft.ruleId, draft.version)?.definition;
  const instruction = model.programOf(draft.ruleId, draft.version)?.[draft.step];
  if (!definition || instruction?.kind !== 'draft') return null;
  const written = writeWithin(rendering, { run, email: instruction.email, person, model });
  const { content, facts } = written;
  const gap = gapOf(written);
  if (draft.reason === 'no_address')
    return resumeWithAddress(draft, { now, expiresAfterMs: definition.expiresAfterMs, ...gap });
  if (gap.missing !== null) return null;
  const mayHaveLeft = run.lostMs !== null;
  return follow(draft, { content, facts, missing: null, mayHaveLeft, why: 'facts_changed', now });
}

async function writeAll(tx: Tx, contexts: EvaluationContext[], changes: DraftChange[]): Promise<void> {
  const outcomes = contexts.map(({ outcome, person }) => ({
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
      outcomes.flatMap(({ outcome }) => outcome.removedTimers),
    ),
    setTimers(
      tx,
      outcomes.flatMap(({ outcome }) => outcome.timers),
    ),
    writeMoves(tx, changes),
    writeDecisions(
      tx,
      outcomes.flatMap(({ outcome }) => outcome.decisions),
    ),
  ]);
  // Decisions are made with the project locked. A conflict on the unique row means that other code starts runs too.
  if (inserted.size !== begun.length) throw new Error('a run of this rule was under way already');
}

/** Returns the new drafts of projects that use AI drafting. They can be sent without it, but its text may still arrive. */
function unworded(
  contexts: EvaluationContext[],
  changes: DraftChange[],
): Pick<Draft, 'projectId' | 'id' | 'userId'>[] {
  const projects = new Set(
    contexts
      .filter(({ model: { project } }) => project.livemode && project.settings.drafting === 'model')
      .map(({ person }) => person.projectId),
  );
  return changes.flatMap(({ draft, move }) => {
    const isNew = move.number === 1 && draft.content.format === 'markdown';
    return isNew && projects.has(draft.projectId) ? [draft] : [];
  });
}

function firstTimes(contexts: EvaluationContext[]): ProjectTimer[] {
  return firstOf(
    contexts.flatMap(({ outcome, person: { projectId } }) => [
      ...outcome.timers.map(({ at }) => ({ projectId, at })),
      ...[...outcome.begun, ...outcome.changed].map(({ nextAt: at }: Run) => ({ projectId, at })),
    ]),
  );
}

function firstDrafts(changes: DraftChange[]): ProjectTimer[] {
  return firstOf(changes.map(({ draft: { projectId, dueAt: at } }) => ({ projectId, at })));
}

function firstOf(moments: { projectId: number; at: number | null }[]): ProjectTimer[] {
  return earliestPerProject(
    moments.flatMap(({ projectId, at }) => (at === null ? [] : [{ projectId, nextAt: new Date(at) }])),
  );
}
