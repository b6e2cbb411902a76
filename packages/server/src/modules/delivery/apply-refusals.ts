import { normaliseReply, addSuppression, liftSuppressionsBy } from '../outcomes/index.ts';
import { sha256 } from '../../platform/crypto/hash.ts';
import { upsertDomainLimits } from '../sending/index.ts';
import { slowerPace } from './domain-limits.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { failureText, type SendResult } from '../../platform/mail/send-result.ts';
import type { EmailResult } from './transport.ts';
import { countSentTo, type SubmittedEmail, listLastReplies, listDomainLimits } from './email-rows.ts';

/**
 * `failures`: replies that refused so many recipients that the cause must be on our side. They count only from emails that got them for the
 * first time. A retry with the same reply adds nothing new, because its recipient may really be gone.
 */
export type RefusalResult = { results: EmailResult[]; failures: string[] };

type RefusalInput = { results: EmailResult[]; messages: Map<string, SubmittedEmail>; now: number };

/** Applies refusals to later emails: suppresses addresses, and slows down for mailbox providers. */
export async function applyRefusals(tx: Tx, projectId: number, input: RefusalInput): Promise<RefusalResult> {
  await slowDown(tx, projectId, input);
  const { results, messages, now } = input;
  const hard = results.flatMap((result) => hardBounceOf(result, messages) ?? []);
  if (hard.length === 0) return { results, failures: [] };
  const last = await listLastReplies(tx, projectId);
  const lastReplies = new Map(
    last.map(({ address, reply }) => [address, reply === null ? null : normaliseReply(reply)]),
  );
  for (const { address, text } of hard) lastReplies.set(address, text);
  const ourTexts = new Set(
    hard.filter(({ text }) => isAboutUs([...lastReplies.values()], text)).map(({ text }) => text),
  );
  for (const { address, text } of hard) {
    if (ourTexts.has(text)) continue;
    await addSuppression(tx, {
      projectId,
      kind: 'email',
      value: address,
      reason: 'hard_bounce',
      until: null,
      createdAt: now,
      createdBy: replyActor(text),
    });
  }
  for (const text of ourTexts)
    await liftSuppressionsBy(tx, { projectId, reason: 'hard_bounce', createdBy: replyActor(text) });
  const innocent = new Set(hard.filter(({ text }) => ourTexts.has(text)).map(({ draftId }) => draftId));
  return {
    results: results.map((result) => (innocent.has(result.email.draftId) ? deferredResult(result) : result)),
    failures: [
      ...new Set(hard.flatMap(({ text, isAgain }) => (ourTexts.has(text) && !isAgain ? [text] : []))),
    ],
  };
}

const SAMPLE_MIN = 10;
const SHARE_MAX = 0.2;

/** Returns true if a fifth of the last recipients got the same reply. Mailboxes that do not exist are not that frequent. */
function isAboutUs(replies: (string | null)[], text: string): boolean {
  const same = replies.filter((reply) => reply === text).length;
  return replies.length >= SAMPLE_MIN && same > 1 && same / replies.length >= SHARE_MAX;
}

/** `isAgain`: the same email got this reply before. */
type HardBounce = { draftId: string; address: string; text: string; isAgain: boolean };

function hardBounceOf(
  { email, sendResult }: EmailResult,
  messages: RefusalInput['messages'],
): HardBounce | null {
  const message = messages.get(email.draftId);
  const text = hardBounceReply(sendResult);
  if (text === null || !message) return null;
  const isAgain = message.reply !== null && normaliseReply(message.reply) === text;
  return { draftId: email.draftId, address: message.address, text, isAgain };
}

/** Returns the normalized reply of a hard bounce; null for any other result. */
export function hardBounceReply(sendResult: SendResult): string | null {
  if (sendResult.result !== 'failed' || sendResult.bounce?.class !== 'hard') return null;
  return normaliseReply(failureText(sendResult));
}

/** Identifies the reply, so that all suppressions by one reply can be lifted together. */
function replyActor(text: string): string {
  return `reply:${sha256(text).slice(0, 16)}`;
}

function deferredResult({ email, sendResult }: EmailResult): EmailResult {
  const reply = 'reply' in sendResult && sendResult.reply !== undefined ? { reply: sendResult.reply } : {};
  return { email, sendResult: { result: 'deferred', reason: 'relay_failing', ...reply } };
}

const MINUTE_MS = 60_000;

async function slowDown(tx: Tx, projectId: number, { results, messages, now }: RefusalInput): Promise<void> {
  const slowMessages = results.flatMap(({ email, sendResult }) =>
    sendResult.result === 'deferred' && sendResult.slowDown === true
      ? (messages.get(email.draftId) ?? [])
      : [],
  );
  const targets = new Map(
    slowMessages.map(({ domain, provider }) => [`${domain} ${provider}`, { domain, provider }]),
  );
  for (const { domain, provider } of targets.values()) {
    const existing =
      (await listDomainLimits(tx, { projectId, domain })).find((row) => row.provider === provider) ?? null;
    const since = now - MINUTE_MS;
    const sentLastMinute = await countSentTo(tx, { projectId, domain, provider, since });
    const pace = slowerPace(existing, { sentLastMinute, now });
    await upsertDomainLimits(tx, [{ projectId, domain, provider, ...pace, tokens: 0, refilledAt: now }]);
  }
}
