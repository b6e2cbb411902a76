import { backoffMs } from '../../../platform/async/backoff.ts';
import { emailToken, type TokenKeys } from '../../../platform/crypto/email-token.ts';
import { listSettings } from '../../workspace/index.ts';
import { endForward, type ForwardedReply, takeForward } from './store.ts';
import { renderTeamEmail } from '../../rendering/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';
import type { Log } from '../../../platform/log.ts';
import { composeForward } from './compose-forward.ts';
import { composeMail } from '../../../platform/mail/compose.ts';
import { type DkimSigningKey, wireAddress } from '../../../platform/mail/outgoing-email.ts';
import { failureText, type SendResult } from '../../../platform/mail/send-result.ts';
import type { Relay } from '../../../platform/mail/submit.ts';
import { LOOP_HEADER } from '../mail/decide-mail.ts';
import { findSender, type SendServices, TEST_INBOX_DOMAIN } from '../../delivery/index.ts';

export type ForwardDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  relay: Pick<Relay, 'submit'>;
  sendServices: Pick<SendServices, 'outlet' | 'signers'>;
  /** The sender address of the installation, for projects that cannot send themselves; null if there is no such address. */
  mailFrom: string | null;
  tokenKeys: TokenKeys;
};

/** The limit per run, because other jobs may be due. */
const AT_ONCE_MAX = 500;

/** Forwards replies to the teams. Two processes take different ones. */
export async function forwardReplies(
  { log, ...deps }: ForwardDeps & { log: Log },
  { stopping }: JobRun,
): Promise<void> {
  for (let n = 0; n < AT_ONCE_MAX && !stopping.aborted; n += 1) {
    const forwarded = await forwardNext(deps);
    if (!forwarded) return;
    const { projectId, id, failure } = forwarded;
    const ids = { project_id: projectId, reply_id: id };
    if (failure === null) log.info(ids, 'reply.forwarded');
    else log.warn({ ...ids, reason: failure }, 'reply.not_forwarded');
  }
}

/** `id`: the reply. `failure`: why it waits for the next attempt, or why it was given up. */
type Forwarded = { projectId: number; id: string; failure: string | null };

/** Longer than a relay takes: no other process claims the reply before, and one does afterwards. */
const LEASE_MS = 15 * 60_000;
/** About a day and a half in total. */
const ATTEMPTS_MAX = 14;
const RETRY = { baseMs: 60_000, maxMs: 6 * 3_600_000 };
const REASON_MAX_CHARS = 500;

/**
 * Forwards the reply that has waited longest to the team; returns null if none is due. The claim is committed before the email is sent. If
 * the result stays unknown, the reply is sent again with the same Message-ID. A duplicate is better for the team than a lost reply.
 */
export async function forwardNext(deps: ForwardDeps): Promise<Forwarded | null> {
  const { db } = deps;
  const now = db.clock.now();
  const reply = await takeForward(db, { now, leaseUntil: now + LEASE_MS });
  if (!reply) return null;
  const { projectId, id } = reply;
  const sendResult = await submitReply(deps, reply);
  if (sendResult.result === 'sent') {
    await endForward(db, { projectId, id, forwardedAt: db.clock.now() });
    return { projectId, id, failure: null };
  }
  const isFinal = 'code' in sendResult && sendResult.code !== undefined && sendResult.code >= 500;
  // A server that rejects the email for its attachment or size may accept the text alone.
  const withoutRaw = isFinal && reply.raw !== null;
  const isRetried = reply.forwardAttempts < ATTEMPTS_MAX && (!isFinal || withoutRaw);
  const retryAt = isRetried ? db.clock.now() + backoffMs(reply.forwardAttempts - 1, RETRY) : null;
  const failure = failureText(sendResult).slice(0, REASON_MAX_CHARS);
  await endForward(db, { projectId, id, failure, retryAt, withoutRaw });
  return { projectId, id, failure };
}

async function submitReply(deps: ForwardDeps, reply: ForwardedReply): Promise<SendResult> {
  try {
    const route = await findForwardRoute(deps, reply);
    if (typeof route === 'string') return { result: 'deferred', reason: route };
    const mime = await compose(deps, reply, route);
    return await deps.relay.submit({ from: route.mailFrom, to: route.to, envid: null }, mime);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it could not be composed';
    return { result: 'deferred', reason };
  }
}

type ForwardRoute = {
  to: string;
  mailFrom: string;
  from: string;
  projectName: string;
  dkim: DkimSigningKey | null;
};

/** Determines sender and recipient, or the reason why the reply cannot be sent now. */
async function findForwardRoute(
  deps: ForwardDeps,
  { projectId, draftId }: ForwardedReply,
): Promise<ForwardRoute | string> {
  const { db, sendServices, mailFrom, tokenKeys } = deps;
  const project = (await listSettings(db, [projectId])).get(projectId);
  const to = project?.settings.replyForwardTo ?? null;
  if (!project || to === null) return 'The setting reply_forward_to is not set';
  if (project.isDemo || !project.livemode) return 'A demo or sandbox project sends no email';
  const sender = await findSender(db, { project }, sendServices);
  const shared = { to, projectName: project.name };
  if (sendServices.outlet.kind === 'test_inbox') {
    const token = emailToken({ projectId, emailId: draftId }, 'test', tokenKeys);
    return { ...shared, from: sender.address, mailFrom: `x+${token}@${TEST_INBOX_DOMAIN}`, dkim: null };
  }
  if (sender.gate === 'pass')
    return { ...shared, from: sender.address, mailFrom: sender.address, dkim: sender.signer?.dkim ?? null };
  if (mailFrom === null) return `Sending as the project is not possible: ${sender.gate.detail}`;
  return { ...shared, from: mailFrom, mailFrom, dkim: null };
}

const NAME_MAX_CHARS = 200;
const NO_REPLY_ADDRESS =
  'Replies to this email do not reach them, because their address cannot be used in Reply-To.';

/** Composes the email: the original with its attachments, or only its text if that does not work. */
async function compose({ db }: ForwardDeps, reply: ForwardedReply, route: ForwardRoute): Promise<Buffer> {
  const { fromAddress, fromName, subject, text, raw } = reply;
  // Replies are accepted from addresses that cannot be used in Reply-To; the team gets their text all the same.
  const canReply = wireAddress(fromAddress) !== null;
  const note = canReply ? null : `${fromAddress} wrote this. ${NO_REPLY_ADDRESS}`;
  const name = textOr(fromName, fromAddress).slice(0, NAME_MAX_CHARS);
  const head = {
    messageId: `${reply.id}@${route.from.slice(route.from.lastIndexOf('@') + 1)}`,
    date: new Date(db.clock.now()),
    from: { name: `${name} via ${route.projectName}`, address: route.from },
    replyTo: canReply ? { name: plain(fromName), address: fromAddress } : null,
    subject: textOr(subject, '(no subject)'),
    // The second header keeps auto-responders silent. It does not keep the email out of a help desk.
    headers: [
      { name: LOOP_HEADER, value: reply.id },
      { name: 'X-Auto-Response-Suppress', value: 'All' },
    ],
  };
  const whole = raw && (await composeForward(raw, { ...head, to: route.to, note }, route.dkim));
  if (whole) return whole;
  const words = `${note === null ? '' : `${note}\n\n`}${text}\n\n(Only the text of this reply could be forwarded, not the original email.)\n`;
  return composeMail(
    {
      ...head,
      from: { name: plain(head.from.name), address: route.from },
      subject: plain(head.subject),
      to: { name: '', address: route.to },
      text: words,
      html: renderTeamEmail({ subject: head.subject, text: words }),
    },
    route.dkim,
  );
}

function textOr(text: string, other: string): string {
  return text === '' ? other : text;
}

function plain(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
