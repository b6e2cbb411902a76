import { inSession } from '../../platform/db/session-transactions.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { readProjectLock, withClockAhead } from '../../platform/locks/project-lock.ts';
import {
  askAgain,
  type Draft,
  type DraftChange,
  isRefused,
  keepUnknown,
  lockDrafts,
  writeTransitions,
} from '../drafts/index.ts';
import type { Model } from '../rules/index.ts';
import {
  type AskUpdate,
  connectionKey,
  findAcceptance,
  findRelayRefs,
  keepBucket,
  type RelayRef,
  takeFreeSendLock,
  takeSendLock,
  updateAsks,
  upsertDomainLimits,
} from '../sending/index.ts';
import { findPeople, type Person, personKey } from '../users/index.ts';
import { type AskFacts, decideAsk, keepReasonOf, type UnknownEmail } from './decide-ask.ts';
import type { Room, SendDeps } from './draft-batch.ts';
import { findSentAgain, listDueAsks } from './ask-rows.ts';
import { type FrozenRow, findFrozen } from './email-rows.ts';
import { findRelayDomainGates, findSender, type ProjectSender } from './find-sender.ts';
import type { GateFacts } from './gate/facts.ts';
import { addressOf, type Gates, loadGates, passGates } from './send-checks.ts';
import type { TransportEmail } from './transport.ts';

/** A question to a relay: the same request as the first one, with the same key. */
export type Ask = TransportEmail & { relay: RelayRef; claimedAt: number };

const ASKS_MAX = 50;
/** Asked in each round even if the relay is full of emails, which would otherwise take every free slot until the window has passed. */
const ASKS_MIN = 5;
/** A relay that is paused is tried again after this time at the earliest. */
const PAUSED_FOR_MS = 5_000;

/**
 * Decides about the emails of one project whose relays are due to be asked again, in one transaction with the send lock. The first request
 * may never have arrived, so a question may send the email. It has to pass the same send checks. Its next time is committed before it is
 * asked; the caller asks after the commit.
 */
export function claimAsks(baseDeps: SendDeps, projectId: number, room: Room): Promise<Ask[]> {
  return inSession(baseDeps.db, async (tx) => {
    await takeSendLock(tx, projectId);
    const [sendLock, acceptance, projectLock] = await Promise.all([
      takeFreeSendLock(tx, projectId),
      findAcceptance(tx),
      readProjectLock(tx, projectId),
    ]);
    if (!sendLock || !acceptance) return [];
    const deps = withClockAhead(baseDeps, projectLock.aheadMs);
    const now = deps.db.clock.now();
    const model = (await deps.models.of(tx, [projectLock])).get(projectId);
    const due = await listDueAsks(tx, { projectId, now: new Date(now), limit: ASKS_MAX });
    if (!model || due.length === 0) return [];
    const drafts = await lockDrafts(
      tx,
      projectId,
      due.map(({ draftId }) => draftId),
    );
    const batch = {
      tx,
      projectId,
      model,
      now,
      room,
      bucket: sendLock.bucket,
      sendServices: deps.sendServices,
    };
    const context = await loadAskContext(batch, due, drafts);
    const restored = { restoredAt: acceptance.since, isSuspended: sendLock.isSuspended };
    const result: AskResult = { asks: [], updates: [], moved: [], claims: new Map() };
    const byId = new Map(drafts.map((draft) => [draft.id, draft]));
    for (const email of due) {
      const draft = byId.get(email.draftId);
      if (draft?.state === 'unknown') decideOne(batch, { draft, email }, { ...context, ...restored, result });
      else result.updates.push({ draftId: email.draftId, askAt: null, isAsked: false });
    }
    const { gates } = context;
    await Promise.all([
      updateAsks(tx, { projectId, updates: result.updates }),
      writeTransitions(tx, result.moved),
      gates.bucket ? keepBucket(tx, projectId, gates.bucket) : undefined,
      gates.domainLimits ? upsertDomainLimits(tx, gates.domainLimits.changedRows()) : undefined,
    ]);
    await tx.commit();
    return result.asks;
  });
}

type AskBatch = {
  tx: Tx;
  projectId: number;
  model: Model;
  now: number;
  room: Room;
  bucket: Gates['bucket'];
  sendServices: SendDeps['sendServices'];
};

type AskContext = {
  people: Map<string, Person>;
  relays: Map<string, RelayRef>;
  frozen: Map<string, FrozenRow>;
  sentAgain: Set<string>;
  domainGates: Map<string, GateFacts['domain']>;
  gates: Gates;
};

type AskResult = {
  asks: Ask[];
  updates: AskUpdate[];
  moved: DraftChange[];
  /** How many questions are asked, by the key of their connection. */
  claims: Map<string, number>;
};

async function loadAskContext(batch: AskBatch, due: UnknownEmail[], drafts: Draft[]): Promise<AskContext> {
  const { tx, projectId, model, now, bucket, sendServices } = batch;
  const draftIds = drafts.map(({ id }) => id);
  const [found, sender, relays, frozen, sentAgain, domainGates] = await Promise.all([
    findPeople(
      tx,
      [...new Set(drafts.map(({ userId }) => userId))].map((userId) => ({ projectId, userId })),
    ),
    findSender(tx, model, sendServices),
    findRelayRefs(tx, { projectId, ids: [...new Set(due.map(({ relay }) => relay))] }),
    findFrozen(tx, { projectId, draftIds }),
    findSentAgain(tx, { projectId, draftIds }),
    findRelayDomainGates(tx, model, { names: due.map(({ domain }) => domain), sendServices }),
  ]);
  const people = new Map(found.map((person) => [personKey(person), person]));
  const gates = await loadGates(tx, { model, now, bucket, people, sender: relayed(sender), sendServices });
  return { people, relays, frozen, sentAgain, domainGates, gates };
}

/** The email was sent through a relay, whatever its project uses now. So the checks for relays apply. */
function relayed(sender: ProjectSender): ProjectSender {
  return { ...sender, outlet: { ...sender.outlet, kind: 'relay' } };
}

type OneContext = AskContext & Pick<AskFacts, 'restoredAt' | 'isSuspended'> & { result: AskResult };

function decideOne(
  batch: AskBatch,
  { draft, email }: { draft: Draft; email: UnknownEmail },
  context: OneContext,
): void {
  const { now } = batch;
  const { result } = context;
  const { id: draftId } = draft;
  const person = context.people.get(personKey(draft));
  const relay = context.relays.get(email.relay) ?? null;
  const frozen = context.frozen.get(draftId);
  const keep = (reason: string, detail: Record<string, unknown> = {}): void => {
    result.updates.push({ draftId, askAt: null, isAsked: false });
    note(result, keepUnknown(draft, { reason, now, detail }));
  };
  const reason = keepReasonOf({
    email,
    now,
    relay,
    restoredAt: context.restoredAt,
    isSuspended: context.isSuspended,
    isSentAgain: context.sentAgain.has(draftId),
    hasBytes: frozen !== undefined,
    address: person && addressOf(person),
  });
  if (reason !== null || !person || !relay || !frozen) keep(reason ?? 'erased');
  else askOrWait(batch, { draft, email, person, relay, frozen, keep }, context);
}

type Askable = {
  draft: Draft;
  email: UnknownEmail;
  person: Person;
  relay: RelayRef;
  frozen: FrozenRow;
  keep: (reason: string, detail?: Record<string, unknown>) => void;
};

/** Decides by the room of the relay and the send checks. */
function askOrWait(
  { now, room }: AskBatch,
  { draft, email, person, relay, frozen, keep }: Askable,
  { result, gates, domainGates }: OneContext,
): void {
  const { id: draftId } = draft;
  const key = connectionKey(relay);
  const { capacity, closedUntil } = room.of(relay);
  if (closedUntil !== null) {
    const askAt = Math.max(closedUntil, now + PAUSED_FOR_MS);
    if (askAt >= email.askUntil) return keep('relay_unreachable');
    return void result.updates.push({ draftId, askAt, isAsked: false });
  }
  if ((result.claims.get(key) ?? 0) >= Math.max(capacity, ASKS_MIN)) return;
  const domainGate = domainGates.get(email.domain);
  const gateResult = passGates(gates, draft, { person, isTriedAgain: true, domainGate });
  const decision = decideAsk(email, gateResult, now);
  if (decision.act === 'keep') return keep(decision.reason, decision.detail);
  if (decision.act === 'wait')
    return void result.updates.push({ draftId, askAt: decision.until, isAsked: false });
  result.claims.set(key, (result.claims.get(key) ?? 0) + 1);
  result.updates.push({ draftId, askAt: decision.nextAt, isAsked: true });
  note(result, askAgain(draft, { now, detail: { until: new Date(email.askUntil).toISOString() } }));
  result.asks.push(toAsk(draft, email, { relay, frozen, now }));
}

function note(result: AskResult, decided: ReturnType<typeof askAgain>): void {
  if (!isRefused(decided)) result.moved.push(decided);
}

function toAsk(
  { projectId, id: draftId, userId, content }: Draft,
  { id: emailId, address }: UnknownEmail,
  { relay, frozen, now: claimedAt }: { relay: RelayRef; frozen: FrozenRow; now: number },
): Ask {
  return { projectId, draftId, emailId, userId, address, content, ...frozen, relay, claimedAt };
}
