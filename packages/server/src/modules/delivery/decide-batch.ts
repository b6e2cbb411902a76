import { domainPart } from '../../platform/net/address.ts';
import { draftTemplate, localeOfPerson, zoneOfPerson } from '../rules/index.ts';
import {
  cancel,
  dueAction,
  heldOn,
  hold,
  release,
  closeEditor,
  type DraftActionResult,
  isRefused,
  type Draft,
  ENGINE,
} from '../drafts/index.ts';
import { connectionKey, type NewEmail } from '../sending/index.ts';
import { type Person, personKey } from '../users/index.ts';
import { WORK_MAX } from '../rendering/index.ts';
import { addressOf, type Gates, loadGates, passGates } from './send-checks.ts';
import { trackingOf } from './compose-email.ts';
import { evaluateAgain, type DraftEvaluationInput, loadEvidence } from './evaluate.ts';
import { findSender, findDomainGates, type ProjectSender } from './find-sender.ts';
import { type DraftBatch, type DraftBatchResult, type Tokens } from './draft-batch.ts';
import { hasRoom } from './has-room.ts';
import { type EarlierEmail, findEarlier, findFrozen } from './email-rows.ts';
import type { GateResult } from './gate/gate.ts';
import type { GateFacts } from './gate/facts.ts';
import { claim, finish } from './send-draft.ts';

const CHECK_AGAIN_MS = 3_600_000;
/** Rendering changed drafts blocks the process: about a fifth of a second in one batch. */
const RENDERED_MAX = 2 * WORK_MAX;
/** A claimed email is submitted within this time, or it is returned. */
const CLAIMED_FOR_MS = 60_000;

/** Decides about each draft that is due. */
export async function decideBatch(
  batch: DraftBatch,
  due: Draft[],
  { bucket, remaining }: Tokens,
): Promise<DraftBatchResult> {
  const { now } = batch;
  const result: DraftBatchResult = {
    moved: [],
    later: [],
    emails: [],
    messages: [],
    ends: [],
    domainLimits: null,
    decisions: [],
    claims: new Map(),
    blocked: new Map(),
    bucket,
  };
  const sendable = remaining < 1 ? [] : due.filter((draft) => dueAction(draft, now) === 'leave');
  const context = sendable.length > 0 ? await loadContext(batch, sendable, bucket) : null;
  for (const draft of inSendOrder(due, context?.gates.warmup ?? null)) {
    const action = dueAction(draft, now);
    if (action === 'leave' && context) evaluateAndSend(batch, draft, { ...context, result });
    else if (action === 'give_up') fail(batch, result, { draft, reason: 'expired' });
    else note(batch, result, { draft, decided: actOn(draft, now) });
  }
  if (context) await findOldBytes(batch, result, context);
  return context
    ? { ...result, bucket: context.gates.bucket, domainLimits: context.gates.domainLimits }
    : result;
}

/** Adds the stored bytes to emails that were tried before, so that they are sent unchanged. */
async function findOldBytes(
  { tx, projectId }: DraftBatch,
  { emails }: DraftBatchResult,
  { earlier }: DraftBatchContext,
): Promise<void> {
  const tried = emails.filter(({ draftId }) => earlier.has(draftId));
  const frozen = await findFrozen(tx, { projectId, draftIds: tried.map(({ draftId }) => draftId) });
  for (const email of tried) email.frozen = frozen.get(email.draftId) ?? null;
}

type DraftBatchContext = {
  evidence: DraftEvaluationInput;
  gates: Gates;
  sender: ProjectSender;
  /** The earlier emails of drafts that were handed to the relay before and deferred. */
  earlier: Map<string, EarlierEmail>;
  /** The answers of the other domains that some of these emails are signed for. */
  domainGates: Map<string, GateFacts['domain']>;
};

async function loadContext(
  batch: DraftBatch,
  drafts: Draft[],
  bucket: Gates['bucket'],
): Promise<DraftBatchContext> {
  const { tx, model, now, deps, projectId } = batch;
  const { sendServices } = deps;
  const [evidence, sender, earlier] = await Promise.all([
    loadEvidence(tx, drafts, { model, now }),
    findSender(tx, model, sendServices),
    findEarlier(tx, { projectId, draftIds: drafts.map(({ id }) => id) }),
  ]);
  const { people } = evidence;
  const gates = await loadGates(tx, { model, now, bucket, people, sender, sendServices });
  const domains = [...earlier.values()].flatMap(({ attempts, domain }) => (attempts > 0 ? [domain] : []));
  const domainGates = await findDomainGates(tx, { projectId, sender, domains }, sendServices);
  return { evidence, sender, earlier, gates, domainGates };
}

/** Warm-up slots go to the highest priority. Without a warm-up, drafts are taken in the order in which they are due. */
function inSendOrder(due: Draft[], warmup: Gates['warmup']): Draft[] {
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

type SendContext = DraftBatchContext & { result: DraftBatchResult };

function evaluateAndSend(batch: DraftBatch, draft: Draft, context: SendContext): void {
  const { evidence, earlier, result } = context;
  if (evidence.rendering.work > RENDERED_MAX) return;
  const person = evidence.people.get(personKey(draft));
  const message = earlier.get(draft.id);
  const before = message && message.attempts > 0 ? message : null;
  // An email that was handed to the relay before is frozen. Everything else is evaluated again.
  const changed = before && person ? null : evaluateAgain(draft, evidence);
  if (changed || !person) return note(batch, result, { draft, decided: changed });
  if (before && before.address !== addressOf(person)) {
    return fail(batch, result, { draft, reason: 'address_changed' });
  }
  const route = context.sender.ofDomain(domainOf(before, context));
  if (hasRoom(batch, result, { draft, relay: route.relay }))
    sendOrHold(batch, draft, { ...context, person, before, route });
}

/** An email is sent from the domain that it is signed for, unless that is not a domain of the project any more. */
function domainOf(before: EarlierEmail | null, { domainGates, sender }: DraftBatchContext): string {
  const earlier = before?.domain ?? '';
  return domainGates.has(earlier) ? earlier : sender.domain;
}

/** `before`: the email of an earlier attempt. Its bytes are signed for the domain of that attempt. */
type SendAttempt = SendContext & {
  person: Person;
  before: EarlierEmail | null;
  /** The domain of the email, and the relay that it is sent through. */
  route: ReturnType<ProjectSender['ofDomain']>;
};

function sendOrHold(
  batch: DraftBatch,
  draft: Draft,
  { gates, result, person, before, route, ...context }: SendAttempt,
): void {
  const domainGate = context.domainGates.get(before?.domain ?? '');
  const gateResult = passGates(gates, draft, { person, isTriedAgain: before !== null, domainGate });
  if (gateResult.passes)
    return send(batch, result, { draft, person, sender: { ...context.sender, ...route }, gates });
  // The throttle is not about this draft, so the draft stays first in line.
  if (gateResult.reason === 'throttle') return;
  const later = BY_THE_EMAIL.has(gateResult.reason) ? heldOn(draft, gateResult) : null;
  if (later !== null) return void result.later.push({ draftId: draft.id, dueAt: later });
  note(batch, result, {
    draft,
    decided: holdOrCancel(draft, gateResult, batch.now),
    detail: gateResult.detail,
  });
}

/** These checks let one email pass after another, and all waiting drafts are checked each time. */
const BY_THE_EMAIL: ReadonlySet<string> = new Set(['domain_throttle', 'provider_throttle']);

/** Ends a draft that was deferred until it expired, or whose user has another address now. */
function fail(
  batch: DraftBatch,
  result: DraftBatchResult,
  { draft, reason }: { draft: Draft; reason: string },
): void {
  const { projectId, now } = batch;
  const sendResult = { result: 'failed', reason } as const;
  // A draft that is no longer deferred was released again by a member.
  const isDeferred = draft.reason === 'deferred';
  const decided = isDeferred ? finish(draft, sendResult, { now }) : cancel(draft, { reason, now });
  note(batch, result, { draft, decided });
  result.ends.push({ projectId, draftId: draft.id, epoch: null, sendResult, isAgain: false });
}

type FailedGate = Extract<GateResult, { passes: false }>;

/** Holds a draft that fails a send check. Only permanently suppressed users and refused topics cancel it. */
function holdOrCancel(draft: Draft, { reason, until, detail }: FailedGate, now: number): DraftActionResult {
  const isUnwanted = reason === 'topic_unsubscribed' || (reason === 'suppressed' && until === null);
  if (isUnwanted) return cancel(draft, { reason, now, detail });
  // A deferred draft keeps this reason, whatever else holds it. It is checked again after an hour, because fixing the other cause would not
  // wake it.
  const isDeferred = draft.reason === 'deferred' && until === null;
  const isFixable =
    isDeferred || reason === 'domain_not_ready' || reason === 'no_sender' || reason === 'public_url';
  return hold(draft, { reason, until: isFixable ? now + CHECK_AGAIN_MS : until, now, detail });
}

function relayColumns(relay: ProjectSender['relay']): Pick<NewEmail, 'relay' | 'relayGeneration'> {
  return { relay: relay?.id ?? null, relayGeneration: relay?.generation ?? null };
}

type ClaimInput = { draft: Draft; person: Person; sender: ProjectSender; gates: Gates };

function send(
  batch: DraftBatch,
  result: DraftBatchResult,
  { draft, person, sender, gates }: ClaimInput,
): void {
  const { projectId, deps, now, model } = batch;
  const address = addressOf(person);
  if (address === null || person.email === null)
    throw new Error('an email without an address passed the send checks');
  const decided = claim(draft, { now });
  note(batch, result, { draft, decided });
  if (isRefused(decided)) return;
  const { id: draftId, ruleId, userId, counts, content } = draft;
  const { domain, relay } = sender;
  const provider = gates.sendServices.providers.of(domainPart(address));
  const emailId = deps.newId();
  const claimed = { projectId, draftId, ruleId, userId, counts, address, claimedAt: now, domain, provider };
  const email = draftTemplate(model, draft)?.name ?? null;
  result.messages.push({
    ...claimed,
    id: emailId,
    template: email,
    ...relayColumns(relay),
    leaseUntil: now - deps.db.aheadMs + CLAIMED_FOR_MS,
  });
  const key = connectionKey(relay);
  result.claims.set(key, (result.claims.get(key) ?? 0) + 1);
  const { quietHours: window } = gates.policy;
  result.emails.push({
    projectId,
    draftId,
    emailId,
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

type NotedChange = { draft: Draft; decided: DraftActionResult | null; detail?: Record<string, unknown> };

/** Records every move with a row in the decision log, so that an explanation shows what the draft waits for. */
function note(
  { now, projectId }: DraftBatch,
  result: DraftBatchResult,
  { draft, decided, detail = {} }: NotedChange,
): void {
  if (!decided || isRefused(decided)) return;
  result.moved.push(decided);
  const { action, reason, to } = decided.move;
  const { userId, ruleId, key, id } = draft;
  result.decisions.push({
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
