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
  keepBucket,
  type MessageRow,
  refill,
  takeFreeSendTurn,
} from '../../features/sending/index.ts';
import { wakeRuns } from '../../features/sequences/index.ts';
import { dueEarlier, dueNext, holdDue, readTurn } from '../../features/turns/index.ts';
import type { Database } from '../../io/db/index.ts';
import type { Model, Models } from '../models.ts';
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
};

/** `lateMs`: for how long the first of them was due. */
export type SendBatch = { letters: OutgoingLetter[]; drafts: number; lateMs: number };

const BATCH_MAX = 500;
/**
 * Where nothing more is due now, what falls due within this time is claimed together, by whichever worker: a batch of two
 * letters costs as much as twenty more in a larger one.
 */
const TOGETHER_MS = 100;
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
    const model = (await deps.models.of(tx, [await readTurn(tx, projectId)])).get(projectId);
    if (!model) return NOTHING;
    const batch: Batch = { tx, deps, projectId, model, now };
    const { left, nextAt, bucket } = refill(turn.bucket, policyOf(model).throttle, now);
    // While a project is paused its drafts stand still as they are; who lets it go on sets the alarm again.
    const limit = model.project.settings.paused ? 0 : Math.min(BATCH_MAX, left);
    const due = limit > 0 ? await listDueDrafts(tx, { projectId, now, limit }) : [];
    const done = await handle(batch, due, bucket);
    await finish(batch, { done, nextAt: left < 1 ? nextAt : null });
    const firstAt = Math.min(now, ...due.map(({ dueAt }) => dueAt ?? now));
    return { letters: done.letters, drafts: due.length, lateMs: now - firstAt };
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

async function handle(batch: Batch, due: Draft[], bucket: Gates['bucket']): Promise<Done> {
  const { tx, model, now, deps } = batch;
  const done: Done = { moved: [], letters: [], messages: [], decisions: [], bucket };
  const leaving = due.filter((draft) => dueAction(draft, now) === 'leave');
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
  const { reason, until, detail } = answer;
  // The throttle concerns nobody in particular: the draft stays first in line.
  if (reason === 'throttle') return;
  note(batch, done, { draft, decided: hold(draft, { reason, until, now, detail }), detail });
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
    reason: action === 'claim' ? 'claimed' : (reason ?? to),
    detail: { draft_id: id, ...detail },
    at: now,
  });
}

async function finish(batch: Batch, { done, nextAt }: { done: Done; nextAt: number | null }): Promise<void> {
  const { tx, projectId, now, model } = batch;
  const ended = done.moved.flatMap(({ draft }) =>
    draft.endedAt !== null && draft.runId !== null && draft.againOf === null ? [draft.runId] : [],
  );
  const [claimed] = await Promise.all([
    claimMessages(tx, done.messages),
    writeMoved(tx, done.moved),
    writeDecisions(tx, done.decisions),
    done.bucket ? keepBucket(tx, projectId, done.bucket) : undefined,
  ]);
  // One message for each draft, for ever: whoever claims it twice takes everything back.
  if (claimed.size !== done.messages.length)
    throw new Error('a draft was claimed that has a message already');
  const awake = await wakeRuns(tx, { projectId, ids: ended, at: now });
  if (awake.length > 0) await dueEarlier(tx, 'digest', [{ projectId, nextAt: new Date(now) }]);
  await holdDue(tx, projectId, 'send');
  const next = model.project.settings.paused ? null : await nextMoment(tx, projectId, 'send');
  const soonest = nextAt ?? (next && next.getTime() > now ? now + TOGETHER_MS : now);
  const alarm = next && new Date(Math.max(next.getTime(), soonest));
  await dueNext(tx, { projectId, work: 'send', nextAt: alarm });
  await tx.commit();
}
