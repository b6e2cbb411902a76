import type { NewId } from '../../base/ids.ts';
import { type Decision, writeDecisions } from '../../features/decisions/index.ts';
import {
  cancel,
  claim,
  closeEditor,
  type Decided,
  type Draft,
  dueAction,
  ENGINE,
  hold,
  isRefused,
  listDueDrafts,
  type Moved,
  release,
  writeMoved,
} from '../../features/drafts/index.ts';
import { type Person, personKey } from '../../features/people/index.ts';
import {
  claimMessages,
  type GateAnswer,
  keepBucket,
  type MessageRow,
  refill,
  takeFreeSendTurn,
} from '../../features/sending/index.ts';
import { endRuns, wakeRuns } from '../../features/sequences/index.ts';
import { dueEarlier, dueNext, holdDue, readTurn, type Turn } from '../../features/turns/index.ts';
import type { Database } from '../../io/db/index.ts';
import { loadProjectModels, type Model, type Models } from '../models.ts';
import { nextMoment } from '../next-due.ts';
import { type BatchTx, inSession } from '../session.ts';
import { addressOf, type Gates, openGates, passGates, policyOf } from './ask-gates.ts';
import { evaluateAgain, type Evidence, gatherEvidence } from './evaluate.ts';
import type { OutgoingLetter } from './transport.ts';

export type SendDeps = {
  db: Database;
  newId: NewId;
  models: Models;
  /** Whether there is a way to send at all. */
  hasTransport: boolean;
  /** See `SenderOptions`. */
  togetherMs: number;
};

/** `lateMs`: for how long the first of them was due. */
export type SendBatch = { letters: OutgoingLetter[]; drafts: number; lateMs: number };

const BATCH_MAX = 500;
/** However few letters the throttle lets go: what only time moves waits for no token. */
const LOOKED_AT_MIN = 50;
/** Whatever keeps letters in may be mended at any time. */
const ASK_AGAIN_MS = 3_600_000;
const NOTHING: SendBatch = { letters: [], drafts: 0, lateMs: 0 };

/**
 * Claims what is due of one project, in the order in which it is due, in one transaction under the project's send turn: each
 * draft is evaluated again, asked through the gates, and then claimed, or held with the reason. What is claimed is handed
 * over after the commit, by whoever called.
 */
export function claimBatch(deps: SendDeps, projectId: number): Promise<SendBatch> {
  return inSession(deps.db, async (tx) => {
    const turn = await takeFreeSendTurn(tx, projectId);
    if (!turn) return NOTHING;
    const now = deps.db.clock.now();
    const digestTurn = await readTurn(tx, projectId);
    const known = (await deps.models.of(tx, [digestTurn])).get(projectId);
    if (!known) return NOTHING;
    const { throttle } = policyOf(known);
    const { left, bucket } = refill(turn.bucket, throttle, now);
    // While a project is paused its drafts stand still as they are; who lets it go on sets the alarm again.
    const limit = known.project.settings.paused ? 0 : Math.min(BATCH_MAX, Math.max(left, LOOKED_AT_MIN));
    const due = limit > 0 ? await listDueDrafts(tx, { projectId, now, limit }) : [];
    const model = await withVersions({ tx, turn: digestTurn, now }, known, due);
    const batch: Batch = { tx, deps, projectId, model, now };
    const done = await handle(batch, due, { bucket, left });
    const after = refill(done.bucket, throttle, now);
    await finish(batch, { done, nextAt: after.left < 1 ? after.nextAt : null });
    const firstAt = Math.min(now, ...due.map(({ dueAt }) => dueAt ?? now));
    return { letters: done.letters, drafts: done.moved.length, lateMs: now - firstAt };
  });
}

type Batch = { tx: BatchTx; deps: SendDeps; projectId: number; model: Model; now: number };
type Done = {
  moved: Moved[];
  letters: OutgoingLetter[];
  messages: MessageRow[];
  decisions: Decision[];
  bucket: Gates['bucket'];
};

/** One that was sent again may be of a version that nobody is under way in any more. */
async function withVersions(
  { tx, turn, now }: { tx: BatchTx; turn: Turn; now: number },
  model: Model,
  due: Draft[],
): Promise<Model> {
  const older = due.filter(({ ruleId, version }) => !model.rules.version(ruleId, version));
  if (older.length === 0) return model;
  const loaded = await loadProjectModels(tx, [turn], { now, versions: older });
  return loaded.get(turn.projectId) ?? model;
}

type Tokens = { bucket: Gates['bucket']; left: number };

async function handle(batch: Batch, due: Draft[], { bucket, left }: Tokens): Promise<Done> {
  const { tx, model, now, deps } = batch;
  const done: Done = { moved: [], letters: [], messages: [], decisions: [], bucket };
  const leaving = left < 1 ? [] : due.filter((draft) => dueAction(draft, now) === 'leave');
  const evidence = leaving.length > 0 ? await gatherEvidence(tx, leaving, { model, now }) : null;
  const gates =
    evidence &&
    (await openGates(tx, { model, now, bucket, people: evidence.people, domain: domainOf(deps) }));
  for (const draft of due) {
    if (evidence && gates && dueAction(draft, now) === 'leave')
      leave(batch, draft, { evidence, gates, done });
    else note(batch, done, { draft, decided: actOn(draft, now) });
  }
  done.bucket = gates ? gates.bucket : bucket;
  return done;
}

function domainOf({ hasTransport }: SendDeps): Gates['domain'] {
  return hasTransport ? 'pass' : { reason: 'no_sender', detail: 'this installation has no way to send yet' };
}

/** What time alone brings. */
function actOn(draft: Draft, now: number): Decided | null {
  const action = dueAction(draft, now);
  switch (action) {
    case 'expire':
    case 'give_up':
      return cancel(draft, { reason: 'expired', now });
    case 'close_editor':
      return closeEditor(draft, { actor: ENGINE, now });
    case 'release':
      return release(draft, { now });
    case 'wait':
    case 'leave':
      return null;
    default:
      return action satisfies never;
  }
}

type Leaving = { evidence: Evidence; gates: Gates; done: Done };

function leave(batch: Batch, draft: Draft, { evidence, gates, done }: Leaving): void {
  const { now } = batch;
  const person = evidence.people.get(personKey(draft));
  const changed = evaluateAgain(draft, evidence);
  if (changed || !person) return note(batch, done, { draft, decided: changed });
  const answer = passGates(gates, draft, person);
  if (answer.passes) return send(batch, done, { draft, person });
  // The throttle concerns nobody in particular: the draft stays first in line.
  if (answer.reason === 'throttle') return;
  note(batch, done, { draft, decided: keepIn(draft, answer, now), detail: answer.detail });
}

type No = Extract<GateAnswer, { passes: false }>;

/** Held, not dropped; but for those to whom nobody writes any more, whose drafts a suppression ends. */
function keepIn(draft: Draft, { reason, until, detail }: No, now: number): Decided {
  if (reason === 'suppressed' && until === null) return cancel(draft, { reason, now, detail });
  const isMendable = reason === 'domain' || reason === 'no_sender' || reason === 'public_url';
  return hold(draft, { reason, until: isMendable ? now + ASK_AGAIN_MS : until, now, detail });
}

function send(batch: Batch, done: Done, { draft, person }: { draft: Draft; person: Person }): void {
  const { projectId, deps, now } = batch;
  const address = addressOf(person);
  if (address === null) throw new Error('a letter without an address passed the gates');
  const decided = claim(draft, { now });
  note(batch, done, { draft, decided });
  if (isRefused(decided)) return;
  const messageId = deps.newId();
  const { id: draftId, ruleId, userId, counts, content } = draft;
  const claimed = { projectId, draftId, ruleId, userId, counts, address, claimedAt: now };
  done.messages.push({ ...claimed, id: messageId });
  done.letters.push({ projectId, draftId, messageId, userId, address, content });
}

type Noted = { draft: Draft; decided: Decided | null; detail?: Record<string, unknown> };

/** Every move with its row in the ledger, so that explain tells what the draft of a rule waits for. */
function note({ now, projectId }: Batch, done: Done, { draft, decided, detail = {} }: Noted): void {
  if (!decided || isRefused(decided)) return;
  done.moved.push(decided);
  const { action, reason, to } = decided.move;
  const { userId, ruleId, key, id } = draft;
  done.decisions.push({
    projectId,
    userId,
    ruleId,
    key,
    reason: action === 'claim' ? 'claimed' : letterReason(reason ?? to),
    detail: { draft_id: id, ...detail },
    at: now,
  });
}

/** These are reasons of an entry too, which has a row of its own. */
function letterReason(reason: string): string {
  return reason === 'suppressed' || reason === 'rule_off' ? `letter_${reason}` : reason;
}

async function finish(batch: Batch, { done, nextAt }: { done: Done; nextAt: number | null }): Promise<void> {
  const { tx, deps, projectId, now, model } = batch;
  const over = done.moved.filter(({ draft }) => draft.endedAt !== null && draft.againOf === null);
  const runsOf = (some: Moved[]): string[] => some.flatMap(({ draft }) => draft.runId ?? []);
  const [claimed] = await Promise.all([
    claimMessages(tx, done.messages),
    writeMoved(tx, done.moved),
    writeDecisions(tx, done.decisions),
    done.bucket ? keepBucket(tx, projectId, done.bucket) : undefined,
  ]);
  // One message for each draft, for ever: whoever claims it twice takes everything back.
  if (claimed.size !== done.messages.length)
    throw new Error('a draft was claimed that has a message already');
  const suppressed = runsOf(over.filter(({ draft }) => draft.reason === 'suppressed'));
  await endRuns(tx, { projectId, ids: suppressed, reason: 'suppressed', at: now });
  const awake = await wakeRuns(tx, { projectId, ids: runsOf(over), at: now });
  if (awake.length > 0) await dueEarlier(tx, 'digest', [{ projectId, nextAt: new Date(now) }]);
  await holdDue(tx, projectId, 'send');
  const next = model.project.settings.paused ? null : await nextMoment(tx, projectId, 'send');
  // What is overdue keeps its moment: by it the longest overdue project comes first.
  const soonest = nextAt ?? (next && next.getTime() > now ? now + deps.togetherMs : -Infinity);
  const alarm = next && new Date(Math.max(next.getTime(), soonest));
  await dueNext(tx, { projectId, work: 'send', nextAt: alarm });
  await tx.commit();
}
