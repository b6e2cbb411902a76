import { domainPart } from '../../platform/net/address.ts';
import { emailOf, localeOfPerson, zoneOfPerson } from '../rules/index.ts';
import {
  cancel,
  dueAction,
  heldOn,
  hold,
  release,
  claim,
  finish,
  closeEditor,
  type DraftActionResult,
  isRefused,
  type Draft,
  ENGINE,
} from '../drafts/index.ts';
import { type Person, personKey } from '../users/index.ts';
import {
  type EarlierMessage,
  findEarlier,
  findFrozen,
  type GateAnswer,
  type GateFacts,
} from '../sending/index.ts';
import { WORK_MAX } from '../rendering/index.ts';
import { addressOf, type Gates, openGates, passGates } from './send-checks.ts';
import { trackingOf } from './compose-email.ts';
import { evaluateAgain, type DraftEvaluationInput, gatherEvidence } from './evaluate.ts';
import { findSender, gatesElsewhere, type ProjectSender } from './find-sender.ts';
import { type DraftBatch, type DraftBatchResult, type Tokens } from './draft-batch.ts';

const ASK_AGAIN_MS = 3_600_000;
/** Rendering changed drafts blocks the process: about a fifth of a second in one batch. */
const RENDERED_MAX = 2 * WORK_MAX;
/** A claimed email is submitted within this time, or it is returned. */
const CLAIMED_FOR_MS = 60_000;

/** Decides about each draft that is due. */
export async function decideBatch(
  batch: DraftBatch,
  due: Draft[],
  { bucket, left }: Tokens,
): Promise<DraftBatchResult> {
  const { now } = batch;
  const done: DraftBatchResult = {
    moved: [],
    later: [],
    emails: [],
    messages: [],
    ends: [],
    narrow: null,
    decisions: [],
    bucket,
  };
  const leaving = left < 1 ? [] : due.filter((draft) => dueAction(draft, now) === 'leave');
  const asked = leaving.length > 0 ? await gatherAll(batch, leaving, bucket) : null;
  for (const draft of inTurn(due, asked?.gates.warmup ?? null)) {
    const action = dueAction(draft, now);
    if (action === 'leave' && asked) leave(batch, draft, { ...asked, done });
    else if (action === 'give_up') fail(batch, done, { draft, reason: 'expired' });
    else note(batch, done, { draft, decided: actOn(draft, now) });
  }
  if (asked) await findOldBytes(batch, done, asked);
  return asked ? { ...done, bucket: asked.gates.bucket, narrow: asked.gates.narrow } : done;
}

/** Adds the stored bytes to emails that were tried before, so that they are sent unchanged. */
async function findOldBytes(
  { tx, projectId }: DraftBatch,
  { emails }: DraftBatchResult,
  { earlier }: Asked,
): Promise<void> {
  const tried = emails.filter(({ draftId }) => earlier.has(draftId));
  const frozen = await findFrozen(tx, { projectId, draftIds: tried.map(({ draftId }) => draftId) });
  for (const email of tried) email.frozen = frozen.get(email.draftId) ?? null;
}

type Asked = {
  evidence: DraftEvaluationInput;
  gates: Gates;
  sender: ProjectSender;
  /** The earlier messages of drafts that were handed to the relay before and deferred. */
  earlier: Map<string, EarlierMessage>;
  /** The answers of the other domains that some of these emails are signed for. */
  elsewhere: Map<string, GateFacts['domain']>;
};

async function gatherAll(batch: DraftBatch, leaving: Draft[], bucket: Gates['bucket']): Promise<Asked> {
  const { tx, model, now, deps, projectId } = batch;
  const { mailroom } = deps;
  const [evidence, sender, earlier] = await Promise.all([
    gatherEvidence(tx, leaving, { model, now }),
    findSender(tx, model, mailroom),
    findEarlier(tx, { projectId, draftIds: leaving.map(({ id }) => id) }),
  ]);
  const { people } = evidence;
  const gates = await openGates(tx, { model, now, bucket, people, sender, mailroom });
  const domains = [...earlier.values()].flatMap(({ attempts, domain }) => (attempts > 0 ? [domain] : []));
  const elsewhere = await gatesElsewhere(tx, { projectId, sender, domains }, mailroom);
  return { evidence, sender, earlier, gates, elsewhere };
}

/** Warm-up slots go to the highest priority. Without a warm-up, drafts are taken in the order in which they are due. */
function inTurn(due: Draft[], warmup: Gates['warmup']): Draft[] {
  return warmup ? due.toSorted((a, b) => b.priority - a.priority) : due;
}

/** Decides about a draft that changes by time alone. */
function actOn(draft: Draft, now: number): DraftActionResult | null {
  const action = dueAction(draft, now);
  switch (action) {
    case 'expire':
      return cancel(draft, { reason: 'expired', now });
    case 'close_editor':
      return closeEditor(draft, { actor: ENGINE, now });
    case 'release':
      return release(draft, { now });
    case 'wait':
    case 'leave':
    case 'give_up':
      return null;
    default:
      return action satisfies never;
  }
}

type Leaving = Asked & { done: DraftBatchResult };

function leave(batch: DraftBatch, draft: Draft, leaving: Leaving): void {
  const { evidence, earlier, done } = leaving;
  if (evidence.rendering.work > RENDERED_MAX) return;
  const person = evidence.people.get(personKey(draft));
  const message = earlier.get(draft.id);
  const before = message && message.attempts > 0 ? message : null;
  // An email that was handed to the relay before is frozen. Everything else is evaluated again.
  const changed = before && person ? null : evaluateAgain(draft, evidence);
  if (changed || !person) return note(batch, done, { draft, decided: changed });
  if (before && before.address !== addressOf(person)) {
    return fail(batch, done, { draft, reason: 'address_changed' });
  }
  // As with the throttle, the draft stays first in line until there is space to send it.
  if (done.emails.length < batch.room) sendOrHold(batch, draft, { ...leaving, person, before });
}

/** `before`: the message of an earlier attempt. Its bytes are signed for the domain of that attempt. */
type Asking = Leaving & { person: Person; before: EarlierMessage | null };

function sendOrHold(
  batch: DraftBatch,
  draft: Draft,
  { gates, done, person, before, ...asked }: Asking,
): void {
  const elsewhere = asked.elsewhere.get(before?.domain ?? '');
  const domain = (elsewhere && before?.domain) ?? asked.sender.domain;
  const answer = passGates(gates, draft, { person, isTriedAgain: before !== null, elsewhere });
  if (answer.passes) return send(batch, done, { draft, person, sender: { ...asked.sender, domain }, gates });
  // The throttle is not about this draft, so the draft stays first in line.
  if (answer.reason === 'throttle') return;
  const later = BY_THE_EMAIL.has(answer.reason) ? heldOn(draft, answer) : null;
  if (later !== null) return void done.later.push({ draftId: draft.id, dueAt: later });
  note(batch, done, { draft, decided: keepIn(draft, answer, batch.now), detail: answer.detail });
}

/** These checks let one email pass after another, and all waiting drafts are checked each time. */
const BY_THE_EMAIL: ReadonlySet<string> = new Set(['domain_throttle', 'provider_throttle']);

/** Ends a draft that was deferred until it expired, or whose user has another address now. */
function fail(
  batch: DraftBatch,
  done: DraftBatchResult,
  { draft, reason }: { draft: Draft; reason: string },
): void {
  const { projectId, now } = batch;
  const isPutOff = draft.reason === 'deferred';
  // A draft that is no longer deferred was released again by a member.
  const decided = isPutOff
    ? finish(draft, { result: 'failed', reason }, { now })
    : cancel(draft, { reason, now });
  note(batch, done, { draft, decided });
  const nothing = { reply: null, relayId: null };
  done.ends.push({ projectId, draftId: draft.id, epoch: null, state: 'failed', reason, ...nothing });
}

type No = Extract<GateAnswer, { passes: false }>;

/** Holds a draft that fails a send check. Only permanently suppressed users and refused topics cancel it. */
function keepIn(draft: Draft, { reason, until, detail }: No, now: number): DraftActionResult {
  const isUnwanted = reason === 'topic_unsubscribed' || (reason === 'suppressed' && until === null);
  if (isUnwanted) return cancel(draft, { reason, now, detail });
  // A deferred draft keeps this reason, whatever else holds it. It is checked again after an hour, because fixing the other cause would not
  // wake it.
  const isPutOff = draft.reason === 'deferred' && until === null;
  const isMendable =
    isPutOff || reason === 'domain_not_ready' || reason === 'no_sender' || reason === 'public_url';
  return hold(draft, { reason, until: isMendable ? now + ASK_AGAIN_MS : until, now, detail });
}

type Sending = { draft: Draft; person: Person; sender: ProjectSender; gates: Gates };

function send(batch: DraftBatch, done: DraftBatchResult, { draft, person, sender, gates }: Sending): void {
  const { projectId, deps, now, model } = batch;
  const address = addressOf(person);
  if (address === null || person.email === null)
    throw new Error('an email without an address passed the send checks');
  const decided = claim(draft, { now });
  note(batch, done, { draft, decided });
  if (isRefused(decided)) return;
  const { id: draftId, ruleId, userId, counts, content } = draft;
  const { domain } = sender;
  const provider = deps.mailroom.providers.of(domainPart(address));
  const messageId = deps.newId();
  const claimed = { projectId, draftId, ruleId, userId, counts, address, claimedAt: now, domain, provider };
  const email = emailOf(model, draft)?.name ?? null;
  done.messages.push({
    ...claimed,
    id: messageId,
    template: email,
    leaseUntil: now - deps.db.aheadMs + CLAIMED_FOR_MS,
  });
  const { quietHours: window } = gates.policy;
  done.emails.push({
    projectId,
    draftId,
    messageId,
    epoch: 1,
    userId,
    email: person.email,
    address,
    content,
    locale: localeOfPerson(person, model),
    projectLocale: model.project.settings.language,
    sender,
    provider,
    projectName: model.project.name,
    ruleName: model.rules.byId.get(ruleId)?.name ?? '',
    tracking: trackingOf(model, ruleId),
    quiet: window && { zone: zoneOfPerson(person, model), window },
    frozen: null,
    aheadMs: deps.db.aheadMs,
  });
}

type Noted = { draft: Draft; decided: DraftActionResult | null; detail?: Record<string, unknown> };

/** Records every move with a row in the decision log, so that an explanation shows what the draft waits for. */
function note(
  { now, projectId }: DraftBatch,
  done: DraftBatchResult,
  { draft, decided, detail = {} }: Noted,
): void {
  if (!decided || isRefused(decided)) return;
  done.moved.push(decided);
  const { action, reason, to } = decided.move;
  const { userId, ruleId, key, id } = draft;
  done.decisions.push({
    projectId,
    userId,
    ruleId,
    key,
    reason: action === 'claim' ? 'claimed' : emailReason(reason ?? to),
    detail: { draft_id: id, ...detail },
    at: now,
  });
}

/** These names are also reasons of an enrollment, which has a row of its own. */
function emailReason(reason: string): string {
  return reason === 'suppressed' || reason === 'rule_off' ? `email_${reason}` : reason;
}
