import type { FairQueue } from '../../../platform/async/fair-queue.ts';
import { readEmailToken, type TokenKeys } from '../../../platform/crypto/email-token.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import { withProjectClock } from '../../../platform/locks/project-lock.ts';
import type { RelayEvent } from '../../../platform/relays/adapter.ts';
import { recordOutcomes, resolveDelivered, type ReportedOutcome } from '../../outcomes/index.ts';
import { type ConfiguredRelay, INSTALLATION, markFeedbackProven, type RelayId } from '../../sending/index.ts';
import { decideEvent, provesFeedback } from './decide-event.ts';
import {
  type FeedbackEmail,
  findAppliedEvents,
  findEmailsById,
  findEmailsByRelayId,
  insertAppliedEvents,
} from './store.ts';

export type FeedbackDeps = {
  db: Database;
  newId: NewId;
  tokenKeys: TokenKeys;
  log: Log;
  /** One change of a project at a time, because each locks the project and few connections can wait for the lock. */
  projectQueue: FairQueue;
};

/** `applied`: events about emails of ours. `repeated`: events that were applied before. */
export type AppliedFeedback = { events: number; applied: number; repeated: number };

/** A provider may put thousands of events into one request. */
const EVENTS_AT_ONCE = 500;

/**
 * Applies events of a relay, each once. An event about an email that was not sent through this relay changes nothing, even if it is signed correctly.
 *
 * The events are marked as applied last. After a crash before that, the provider sends them again, and recording an outcome again changes
 * nothing.
 */
export async function applyEvents(
  deps: FeedbackDeps,
  relay: FeedbackRelay,
  events: RelayEvent[],
): Promise<AppliedFeedback> {
  const total: AppliedFeedback = { events: events.length, applied: 0, repeated: 0 };
  for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) {
    const { applied, repeated } = await applySlice(deps, relay, events.slice(from, from + EVENTS_AT_ONCE));
    total.applied += applied;
    total.repeated += repeated;
  }
  if (total.applied > 0)
    deps.log.info(
      { relay_id: relay.id, events: events.length, outcomes: total.applied },
      'relay_feedback.applied',
    );
  return total;
}

/** The emails of the kind `smtp_url` were sent through the relay of `SMTP_URL`, which has no row. */
type FeedbackRelay = RelayId & Pick<ConfiguredRelay, 'kind'>;

type MatchedEvent = { event: RelayEvent; email: FeedbackEmail };

async function applySlice(
  deps: FeedbackDeps,
  { kind, ...relay }: FeedbackRelay,
  received: RelayEvent[],
): Promise<Pick<AppliedFeedback, 'applied' | 'repeated'>> {
  const { db, tokenKeys } = deps;
  const distinct = new Map(received.map((event) => [storedId(event), event]));
  const eventIds = [...distinct.keys()];
  const known = await findAppliedEvents(db, { ...relay, eventIds });
  const fresh = [...distinct].flatMap(([id, event]) => (known.has(id) ? [] : [event]));
  const repeated = received.length - fresh.length;
  if (fresh.length === 0) return { applied: 0, repeated };
  const isProof = (event: RelayEvent): boolean => isProofOf(event, relay, tokenKeys);
  const matched = await matchEvents(deps, { ...relay, kind }, fresh);
  for (const [projectId, group] of Map.groupBy(matched, ({ email }) => email.projectId))
    await applyToProject(deps, projectId, group);
  const at = db.clock.now();
  if (matched.some(({ event }) => provesFeedback(event)) || fresh.some(isProof))
    await markFeedbackProven(db, { ...relay, at });
  await insertAppliedEvents(db, { ...relay, eventIds: fresh.map(storedId), at });
  return { applied: matched.length, repeated };
}

/** The id of an event may contain an address, which must not outlive its user. */
function storedId({ eventId }: RelayEvent): string {
  return sha256(eventId);
}

/** Returns whether an event is about the email that was sent to prove the feedback of this relay. Its token names the relay itself. */
function isProofOf(event: RelayEvent, relay: RelayId, tokenKeys: TokenKeys): boolean {
  const name = event.token === null ? null : readEmailToken(event.token, 'relay', tokenKeys);
  if (name === null || !provesFeedback(event)) return false;
  return name.emailId === relay.id && name.projectId === relay.projectId;
}

/**
 * Finds the emails of events: by the signed token that the provider returned, or else by the provider's own id. Both identify only emails
 * that were sent through this relay.
 */
async function matchEvents(
  { db, tokenKeys }: FeedbackDeps,
  relay: FeedbackRelay,
  events: RelayEvent[],
): Promise<MatchedEvent[]> {
  const named = events.map((event) => ({
    event,
    name: event.token === null ? null : readEmailToken(event.token, 'relay', tokenKeys),
  }));
  const names = named.flatMap(({ name }) => name ?? []);
  const relayEmailIds = named.flatMap(({ event, name }) => (name ? [] : (event.relayEmailId ?? [])));
  const projectId = relay.projectId === INSTALLATION ? null : relay.projectId;
  const isSmtpUrl = relay.kind === 'smtp_url';
  const byToken =
    names.length > 0 ? await findEmailsById(db, { relay: isSmtpUrl ? null : relay.id, names }) : [];
  const byRelayId =
    relayEmailIds.length > 0 && !isSmtpUrl
      ? await findEmailsByRelayId(db, { relay: relay.id, projectId, relayEmailIds })
      : [];
  const emailsById = new Map(byToken.map((email) => [`${email.projectId} ${email.emailId}`, email]));
  const emailsByRelayId = new Map(byRelayId.map((email) => [email.relayEmailId, email]));
  return named.flatMap(({ event, name }) => {
    const email = name
      ? emailsById.get(`${name.projectId} ${name.emailId}`)
      : event.relayEmailId === null
        ? undefined
        : emailsByRelayId.get(event.relayEmailId);
    return email ? [{ event, email }] : [];
  });
}

async function applyToProject(
  baseDeps: FeedbackDeps,
  projectId: number,
  matched: MatchedEvent[],
): Promise<void> {
  const deps = await withProjectClock(baseDeps, projectId);
  const now = deps.db.clock.now();
  const outcomes: ReportedOutcome[] = [];
  const delivered: string[] = [];
  for (const { event, email } of matched) {
    const action = decideEvent(event);
    const { emailId } = email;
    if (action.act === 'outcome')
      outcomes.push({ projectId, emailId, occurredAt: event.at ?? now, ...action.data });
    if (action.act === 'delivered') delivered.push(emailId);
  }
  await deps.projectQueue.run(projectId, async () => {
    if (outcomes.length > 0) await recordOutcomes(deps, outcomes);
    if (delivered.length > 0) await resolveDelivered(deps.db, { projectId, emailIds: delivered, now });
  });
}
