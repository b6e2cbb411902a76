import { Fault } from '../../platform/fault.ts';
import type { NewId } from '../../platform/ids.ts';
import { approve, skip, undo } from './approve-draft.ts';
import {
  type By,
  type DraftActionResult,
  isRefused,
  type ActionRefusal,
  closeEditor,
  edit,
  openEditor,
  type DraftContent,
  type Draft,
  keepContents,
  writeTransitions,
  listMoves,
  lockDraft,
  type DraftTransition,
  type DraftChange,
  sendAgain,
} from '../drafts/index.ts';
import { postpone } from './postpone-draft.ts';
import { endSkipped, takeBackSkipped } from '../sending/index.ts';
import { findRunsById, waitAgain, wakeRuns, createModels, type Model, type Models } from '../rules/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { cleanEdit } from './clean-edit.ts';
import {
  evaluateAgain,
  loadEvidence,
  type LookAhead,
  lookAhead,
  type SendServices,
  findEarlier,
  type GateResult,
} from '../delivery/index.ts';

/** A member's action on a draft. */
export type MemberAction =
  /** `anyway`: even though its rule no longer holds. */
  | { kind: 'approve'; anyway?: boolean }
  | { kind: 'edit'; content: DraftContent }
  | { kind: 'postpone'; until: number; extend?: boolean }
  | { kind: 'skip'; reason: string | null }
  | { kind: 'undo' }
  | { kind: 'open_editor' | 'close_editor' }
  | { kind: 'send_again'; confirmed?: boolean };

/** The acting member and, optionally, the state that the member saw. */
export type ActionAuthor = Omit<By, 'now'>;
export type DraftRef = { projectId: number; draftId: string };

/** The current draft and, if it is to be sent, the current result of the send checks. */
export type MoveResult = { draft: Draft; gate: GateResult | null };

export type MoveDeps = {
  db: Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
  newId: NewId;
  sendServices: SendServices;
  /** Shared between many actions, so that the definitions are loaded once. */
  models?: Models;
};

/**
 * Applies one action to one draft, or throws a fault with the reason. The second of two concurrent actions gets an error that describes the
 * first.
 */
export async function moveDraft(
  { db, newId, sendServices, models = createModels(db.clock) }: MoveDeps,
  { projectId, draftId }: DraftRef,
  { act, by }: { act: MemberAction; by: ActionAuthor },
): Promise<MoveResult> {
  const ref = { projectId, draftId };
  const cleaned =
    act.kind === 'edit' && isDraftId(draftId)
      ? await cleanEdit({ db, renderer: sendServices.renderer }, ref, act.content)
      : null;
  const acted = await db.transaction(async (tx) => {
    const draft = isDraftId(draftId) ? await lockDraft(tx, projectId, draftId) : undefined;
    if (!draft) throw unknownDraft(draftId);
    const stage: Stage = { tx, now: db.clock.now(), newId, sendServices, models };
    if (cleaned !== null && cleaned.before !== draft.contentHash) throw conflict(CHANGED);
    return act.kind === 'approve'
      ? approveOn(stage, draft, { act, by })
      : actOn(stage, draft, { act: cleaned ? { ...act, kind: 'edit', content: cleaned.content } : act, by });
  });
  if (isRefused(acted)) throw acted.refused;
  return acted;
}

const CHANGED = 'The draft changed while your edit was checked. Reload the draft, then edit it again';
const DRAFT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns true if the text can be the id of a draft. */
export function isDraftId(text: string): boolean {
  return DRAFT_ID.test(text);
}

export function unknownDraft(draftId: string): Fault {
  const message = `No draft has the ID ${JSON.stringify(draftId)}. List the drafts with: beckon drafts list`;
  return new Fault('not_found', { details: [{ message, field: 'draft' }] });
}

type Stage = { tx: Tx; now: number; newId: NewId; sendServices: SendServices; models: Models };
type ActionDecision<A extends MemberAction> = { act: A; by: ActionAuthor };
type ApproveAction = Extract<MemberAction, { kind: 'approve' }>;
type SendAgainAction = Extract<MemberAction, { kind: 'send_again' }>;

/**
 * Approves a draft with current facts. If a fact changed since it was written, the content is refreshed first. A caller that passed the
 * hash of an older text then gets a conflict. Without this, the approval would be withdrawn ten seconds later.
 */
async function approveOn(
  stage: Stage,
  draft: Draft,
  { act, by }: ActionDecision<ApproveAction>,
): Promise<MoveResult | ActionRefusal> {
  const { tx, now } = stage;
  const followed = await followFacts(stage, draft);
  const { moves: seen, ...rest } = by;
  // A content refresh is not a concurrent change by another member.
  const moves = followed && seen === draft.moves ? followed.draft.moves : seen;
  const whole: By = { ...rest, now, ...(moves === undefined ? {} : { moves }) };
  const decided = approve(followed?.draft ?? draft, { ...whole, anyway: act.anyway ?? false });
  const first = followed ? [followed] : [];
  if (!isRefused(decided)) return write(stage, draft, { changes: [...first, decided], act });
  await writeTransitions(tx, first);
  await followUp(tx, { before: draft, changes: first, now });
  return decided;
}

/** A held draft that was approved before loses its approval together with the old text. */
const FACT_ACTIONS: ReadonlySet<string> = new Set(['refresh_content', 'void_approval']);

async function followFacts(stage: Stage, draft: Draft): Promise<DraftChange | null> {
  const { tx, now } = stage;
  const model = await modelOf(stage, draft.projectId);
  if (!model || (draft.state !== 'scheduled' && draft.state !== 'held')) return null;
  if (await wasSubmitted(tx, draft)) return null;
  const evidence = await loadEvidence(tx, [draft], { model, now });
  // The condition of the rule is checked separately; here only the content matters.
  const decided = evaluateAgain(draft, { ...evidence, forcedDraftIds: new Set([draft.id]) });
  return decided && !isRefused(decided) && FACT_ACTIONS.has(decided.move.action) ? decided : null;
}

/** Returns true if the email was deferred by the relay and is now held for review. It is sent with the bytes that were submitted before. */
async function wasSubmitted(tx: Tx, { projectId, id }: Draft): Promise<boolean> {
  const earlier = await findEarlier(tx, { projectId, draftIds: [id] });
  return (earlier.get(id)?.attempts ?? 0) > 0;
}

async function actOn(
  stage: Stage,
  draft: Draft,
  { act, by }: ActionDecision<Exclude<MemberAction, ApproveAction>>,
): Promise<MoveResult | ActionRefusal> {
  const { tx, now, newId } = stage;
  const needsMoves = act.kind === 'undo' || act.kind === 'send_again';
  const moves = needsMoves ? await listMoves(tx, draft.projectId, draft.id) : [];
  const whole = { ...by, now };
  if (act.kind === 'send_again') {
    const decided = sendAgain(draft, moves, { ...whole, id: newId(), confirmed: act.confirmed ?? false });
    return isRefused(decided) ? decided : write(stage, draft, { changes: decided.again, act });
  }
  if (act.kind === 'edit' && (await wasSubmitted(tx, draft)))
    throw conflict(
      'The email was already submitted to the relay, so its content is fixed. Approve the draft unchanged, or skip it',
    );
  const decided = decideOn(draft, { act, by: whole, moves });
  return isRefused(decided) ? decided : write(stage, draft, { changes: [decided], act });
}

type SimpleAction = Exclude<MemberAction, ApproveAction | SendAgainAction>;

function decideOn(
  draft: Draft,
  { act, by, moves }: { act: SimpleAction; by: By; moves: DraftTransition[] },
): DraftActionResult {
  switch (act.kind) {
    case 'edit':
      return edit(draft, act.content, by);
    case 'postpone':
      return postpone(draft, { ...by, until: act.until, extend: act.extend ?? false });
    case 'skip':
      return skip(draft, { ...by, reason: act.reason });
    case 'undo':
      return undo(draft, moves, by);
    case 'open_editor':
      return openEditor(draft, by);
    case 'close_editor':
      return closeEditor(draft, by);
    default:
      return act satisfies never;
  }
}

async function write(
  stage: Stage,
  before: Draft,
  { changes, act }: { changes: DraftChange[]; act: MemberAction },
): Promise<MoveResult> {
  const { tx, now } = stage;
  await writeTransitions(tx, changes);
  await followUp(tx, { before, changes, now });
  const draft = (changes.at(-1) ?? { draft: before }).draft;
  const { projectId, id: draftId } = draft;
  if (draft.state === 'skipped') await endSkipped(tx, { projectId, draftId, at: now });
  else if (before.state === 'skipped') await takeBackSkipped(tx, { projectId, draftId });
  if (act.kind === 'edit') await keepContents(tx, [before, draft]);
  // Checked after the write, because the competition for a slot is decided among the stored drafts.
  const ahead = draft.state === 'approved' ? await lookAheadOf(stage, draft) : null;
  if (ahead && !ahead.matches) requireConfirmation(act);
  return { draft, gate: ahead?.gate ?? null };
}

/** Rejects an action that would send a draft whose rule condition does not hold, unless it was confirmed. */
function requireConfirmation(act: MemberAction): void {
  if (act.kind === 'approve' && !act.anyway) {
    throw conflict(
      "The condition of the draft's rule no longer holds. Skip the draft, or confirm that it should be sent anyway",
    );
  }
  if (act.kind === 'send_again') {
    throw conflict("The condition of the draft's rule no longer holds, so the email would not be sent again");
  }
}

async function lookAheadOf(stage: Stage, draft: Draft): Promise<LookAhead | null> {
  const model = await modelOf(stage, draft.projectId);
  return model
    ? lookAhead(stage.tx, draft, { model, now: stage.now, sendServices: stage.sendServices })
    : null;
}

async function modelOf({ tx, models }: Stage, projectId: number): Promise<Model | undefined> {
  return (await models.of(tx, [await readProjectLock(tx, projectId)])).get(projectId);
}

type WrittenMove = { before: Draft; changes: DraftChange[]; now: number };

/** Continues the run of an ended draft when that is final, or makes it wait again after an undo. */
async function followUp(tx: Tx, { before, changes, now }: WrittenMove): Promise<void> {
  for (const { draft } of changes) {
    const { projectId, dueAt } = draft;
    if (draft.id === before.id) await followRun(tx, before, { draft, now });
    if (dueAt !== null) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(dueAt) }]);
  }
}

async function followRun(
  tx: Tx,
  before: Draft,
  { draft, now }: { draft: Draft; now: number },
): Promise<void> {
  const { projectId, runId, endedAt, notBefore } = draft;
  // The run of a resent email already continued, and may wait for another draft now.
  if (runId === null || draft.resendOf !== null) return;
  if (endedAt !== null && before.endedAt === null) {
    const at = Math.max(now, notBefore ?? now);
    const awake = await wakeRuns(tx, { projectId, ids: [runId], at });
    if (awake.length > 0) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(at) }]);
  }
  if (endedAt === null && before.endedAt !== null) {
    await waitAgain(tx, { projectId, id: runId, step: draft.step });
    await checkWaits(tx, { ...draft, runId });
  }
}

/** Throws a conflict if the run has ended since then, by an exit, a goal or a suppression, or has just continued. */
async function checkWaits(
  tx: Tx,
  { projectId, runId, step }: Pick<Draft, 'projectId' | 'step'> & { runId: string },
): Promise<void> {
  const [run] = await findRunsById(tx, [{ projectId, id: runId }]);
  if (run && run.state !== 'ended' && run.waitsFor === 'draft' && run.step === step) return;
  throw conflict('The run of the user ended or reached a later step, so the draft stays skipped');
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'draft' }] });
}
