import type { FairQueue } from '../../../platform/async/fair-queue.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Log } from '../../../platform/log.ts';
import { isOnlyTitledAuto } from '../classification/auto-reply.ts';
import type { MailClassification } from '../classification/classification.ts';
import { snippetOf } from '../classification/reply-text.ts';
import { redactTokens, findEmail as findSentEmail, markFeedbackProvenBy } from '../../sending/index.ts';
import { insertReply } from '../replies/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { LookUp } from '../../../platform/dns/resolver.ts';
import { authenticateMail, type MailAuthentication } from './authenticate.ts';
import type { MailReader, ReadInbound } from './reader.ts';
import type { MailRefusal } from '../../../platform/mail/listener.ts';
import { choose } from '../preferences/choose.ts';
import { withProjectClock } from '../../../platform/locks/project-lock.ts';
import { type ReportedOutcome, type OutcomeData, recordOutcomes } from '../../outcomes/index.ts';
import { type InboundReference, readRecipient, type InboundRecipient } from './match-email.ts';
import { type ClaimedInbound, findClaimed } from './find-claimed.ts';
import { decideMail, type InboundAction, needsAuthentication, UNPROVEN } from './decide-mail.ts';
import { inboundIdOf, replyOf } from './reply-of.ts';
import { findEmailById } from '../../delivery/index.ts';
import { getSettings } from '../../workspace/index.ts';

export type ReceiveDeps = {
  db: Database;
  newId: NewId;
  tokenKeys: TokenKeys;
  mailDomain: string | null;
  lookUp: LookUp;
  read: MailReader;
  /** One email of a project at a time, because each locks the project and few connections can wait for the lock. */
  projectQueue: FairQueue;
  log: Log;
};

export type ArrivedMail = {
  from: string;
  to: string[];
  raw: Buffer;
  remote: string;
  helo: string;
  /** True if a front server of this installation passed the email on. */
  isNear: boolean;
};

/**
 * Processes an inbound email completely before it is acknowledged. Every step is idempotent: a server that received no answer sends the
 * same email again, and nothing happens twice. A refusal is permanent.
 */
export async function receiveMail(deps: ReceiveDeps, arrived: ArrivedMail): Promise<MailRefusal | null> {
  const { raw, from, to } = arrived;
  const recipients = to.flatMap((address) => readRecipient(address, deps) ?? []);
  if (raw.length > ROLE_BYTES_MAX && recipients.every(({ use }) => use === 'role')) return TOO_LARGE;
  const read = await deps.read({ raw, envelope: { from, to } });
  if (!read) return { code: 554, text: '5.6.0 The email cannot be parsed' };
  const { classification, mail } = read;
  let authentication: Promise<MailAuthentication> | null = null;
  const authenticate = () =>
    (authentication ??= authenticateMail({ ...arrived, author: mail.from }, deps.lookUp));
  const received: InboundContext = { ...read, arrived, authenticate };
  const results: ReceiveResult[] = [];
  for (const recipient of recipients) results.push(await receiveFor(deps, received, recipient));
  if (!isWritten(classification, recipients) || results.includes('done')) return null;
  return results.includes('unsigned') ? UNSIGNED : UNREAD;
}

/**
 * Returns true for an email that a person wrote. If no recipient takes it, it is refused, so that its author learns of it. Reports are not
 * refused, because no one reads the answer.
 *
 * The word "unsubscribe" alone unsubscribes no user. A machine sends it to the unsubscribe address; at any other address it is an email for
 * a person to read.
 */
function isWritten({ kind, feedbackType }: MailClassification, recipients: InboundRecipient[]): boolean {
  if (kind === 'unsubscribe') return recipients.every(({ use }) => use !== 'unsubscribe');
  return kind === 'reply' || (kind === 'other' && feedbackType === null);
}

const UNREAD: MailRefusal = { code: 550, text: '5.1.1 This address is no longer in use' };
const UNSIGNED: MailRefusal = { code: 550, text: '5.6.0 From must contain exactly one plain address' };

/** Anyone may write to a role address, and a report with the headers of an email is small. */
const ROLE_BYTES_MAX = 1_000_000;
const TOO_LARGE: MailRefusal = {
  code: 552,
  text: `5.3.4 A report to this address has at most ${ROLE_BYTES_MAX} bytes`,
};

/** An inbound email as it was read. `authenticate` checks its author once, however many recipients there are. */
export type InboundContext = ReadInbound & {
  arrived: Pick<ArrivedMail, 'raw' | 'to'> & { from: string | null };
  authenticate: () => Promise<MailAuthentication>;
  /** Set for an email from a reply source: only emails of this project are considered. */
  projectId?: number;
};
/**
 * `unknown`: the email no longer exists here. `full`: no more replies to it are stored. `unsigned`: nothing is stored, because the email
 * has no author. `unproven`, `nothing`: an email from a reply source names an email, and nothing proves its author, or no action is
 * required.
 */
export type ReceiveResult = 'done' | 'unknown' | 'full' | 'unsigned' | 'unproven' | 'nothing';

export async function receiveFor(
  baseDeps: ReceiveDeps,
  received: InboundContext,
  recipient: InboundRecipient,
): Promise<ReceiveResult> {
  const { arrived, mail } = received;
  const fields = { kind: received.classification.kind, purpose: recipient.use, bytes: arrived.raw.length };
  const { claim, email } = await findClaimed(baseDeps, received, recipient);
  if (!claim || !email) {
    const reason = claim ? 'no such email' : 'names no email';
    baseDeps.log.info({ ...fields, action: 'nothing', reason }, 'inbound_email.received');
    return 'unknown';
  }
  const { projectId, emailId } = email;
  const deps = await withProjectClock(baseDeps, projectId);
  const classification = await classificationFor(deps, { ...received, email }, recipient);
  const decision = decideMail({
    classification,
    mail,
    addressed: recipient.use,
    claim: claim.by,
    sentAt: timeOf(emailId),
    now: deps.db.clock.now(),
    address: email.address,
    authentication: needsAuthentication(classification.kind, recipient.use)
      ? await received.authenticate()
      : null,
  });
  const result =
    resultWithoutAction(decision, { recipient, claim, received }) ??
    (await deps.projectQueue.run(projectId, () => act(deps, { ...received, email }, decision)));
  const ids = { project_id: projectId, email_id: emailId };
  const reason = decision.act === 'nothing' ? decision.why : claim.by;
  deps.log.info(
    { ...fields, ...ids, action: decision.act, reason, result: result },
    'inbound_email.received',
  );
  return result;
}

/** Treats an apparent automatic reply as a reply if only its subject looks automatic and the original email has that subject. */
async function classificationFor(
  { db }: ReceiveDeps,
  { classification, mail, arrived: { from, to }, email: { projectId, emailId } }: ReceivedForEmail,
  { use }: InboundRecipient,
): Promise<MailClassification> {
  if (classification.kind !== 'auto_reply' || use === 'unsubscribe') return classification;
  const sent = await findSentEmail(db, { projectId, id: emailId });
  const isReply = sent !== undefined && isOnlyTitledAuto(mail, { from, to, subject: sent.subject });
  return isReply ? { ...classification, kind: 'reply' } : classification;
}

type Judged = { recipient: InboundRecipient; claim: InboundReference; received: InboundContext };

/** An email to a role address that requires no action is handled like one to an unknown recipient. Null: the decision is carried out. */
function resultWithoutAction(
  decision: InboundAction,
  { recipient, claim, received: { projectId, mail } }: Judged,
): ReceiveResult | null {
  if (decision.act !== 'nothing') return null;
  if (recipient.use === 'role') return 'unknown';
  if (projectId !== undefined)
    return decision.why === UNPROVEN && claim.by === 'message_id' ? 'unproven' : 'nothing';
  return mail.from === null ? 'unsigned' : null;
}

/** Returns the creation time that an id begins with. */
function timeOf(emailId: string): number {
  return Number.parseInt(emailId.replace('-', '').slice(0, 12), 16);
}

type ReceivedForEmail = InboundContext & { email: ClaimedInbound };

async function act(
  deps: ReceiveDeps,
  received: ReceivedForEmail,
  decision: InboundAction,
): Promise<ReceiveResult> {
  switch (decision.act) {
    case 'nothing':
      return 'done';
    case 'bounce': {
      const { bounceClass, status, reason, verified } = decision;
      return record(deps, received, {
        type: 'email.bounced',
        bounceClass,
        status,
        // The reason may contain the recipient address of the bounce, whose token proves whose bounce it is.
        reason: redactTokens(reason),
        verified,
        source: 'dsn',
      });
    }
    case 'complaint':
      return record(deps, received, { type: 'email.unsubscribed', method: 'complaint' });
    case 'unsubscribe': {
      const { projectId, emailId } = received.email;
      const preferences = await choose(
        deps,
        { projectId, emailId },
        { kind: 'unsubscribe', method: 'mailto' },
      );
      return preferences === null ? 'unknown' : 'done';
    }
    case 'keep':
      return keep(deps, received, decision);
    default:
      return decision satisfies never;
  }
}

async function record(
  deps: ReceiveDeps,
  { email: { projectId, emailId } }: ReceivedForEmail,
  what: OutcomeData,
): Promise<ReceiveResult> {
  const now = deps.db.clock.now();
  const happened: ReportedOutcome = { projectId, emailId, occurredAt: now, ...what };
  await recordOutcomes(deps, [happened]);
  if (what.type === 'email.bounced' && what.verified)
    await markFeedbackProvenBy(deps.db, { projectId, emailId, at: now });
  return 'done';
}

/**
 * Stores the reply first, then records its outcome. After a crash in between, the server sends the email again and both steps are repeated.
 */
async function keep(
  deps: ReceiveDeps,
  received: ReceivedForEmail,
  decision: Extract<InboundAction, { act: 'keep' }>,
): Promise<ReceiveResult> {
  const { db, newId } = deps;
  const { email, mail, arrived } = received;
  const { projectId, emailId } = email;
  // If the email contains only a quotation, that is the stored text. Tokens in it would give access to readers of the thread.
  const text = redactTokens(received.text);
  const now = db.clock.now();
  const forwards = decision.forwards && (await isForwarded(db, received));
  const inserted = await db.transaction(async (tx) => {
    // A concurrent erasure of the user waits for this transaction, and then finds the reply too.
    const found = await findEmailById(tx, { projectId, emailId });
    if (!found) return 'gone' as const;
    const { draftId, userId } = found;
    const ids = { projectId, id: newId(), emailId, draftId, userId };
    return insertReply(
      tx,
      replyOf({ ...ids, mail, text, raw: arrived.raw, decision: { ...decision, forwards }, now }),
    );
  });
  if (inserted === 'gone') return 'unknown';
  if (inserted === 'full') return 'full';
  if (!decision.isReply) return 'done';
  return record(deps, received, {
    type: 'email.replied',
    inboundId: inboundIdOf(mail),
    snippet: snippetOf(text),
  });
}

/** Without an address to forward to, a reply from a reply source stays where it was received. */
async function isForwarded(db: Database, { projectId }: InboundContext): Promise<boolean> {
  if (projectId === undefined) return true;
  return (await getSettings(db, projectId)).settings.replyForwardTo !== null;
}
