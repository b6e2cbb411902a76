import { normaliseReply } from '../outcomes/index.ts';
import { sha256 } from '../../platform/crypto/hash.ts';
import {
  countSentTo,
  type HandedMessage,
  listLastReplies,
  listNarrow,
  upsertNarrow,
  addSuppression,
  liftSuppressionsBy,
} from '../sending/index.ts';
import { slowed } from './domain-limits.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Handed } from './transport.ts';

/**
 * `troubles`: replies that refused so many recipients that the cause must be on our side. They count only from emails that got them for the
 * first time. A retry with the same reply adds nothing new, because its recipient may really be gone.
 */
export type Heeded = { results: EmailResult[]; troubles: string[] };

type Heed = { results: EmailResult[]; messages: Map<string, HandedMessage>; now: number };

/** Applies refusals to later emails: suppresses addresses, and slows down for mailbox providers. */
export async function heedRefusals(tx: Tx, projectId: number, heed: Heed): Promise<Heeded> {
  await slowDown(tx, projectId, heed);
  const { results, messages, now } = heed;
  const hard = results.flatMap((one) => hardBounceOf(one, messages) ?? []);
  if (hard.length === 0) return { results, troubles: [] };
  const last = await listLastReplies(tx, projectId);
  const heard = new Map(
    last.map(({ address, reply }) => [address, reply === null ? null : normaliseReply(reply)]),
  );
  for (const { address, text } of hard) heard.set(address, text);
  const ours = new Set(
    hard.filter(({ text }) => isAboutUs([...heard.values()], text)).map(({ text }) => text),
  );
  for (const { address, text } of hard) {
    if (ours.has(text)) continue;
    await addSuppression(tx, {
      projectId,
      kind: 'email',
      value: address,
      reason: 'hard_bounce',
      until: null,
      createdAt: now,
      createdBy: saidBy(text),
    });
  }
  for (const text of ours)
    await liftSuppressionsBy(tx, { projectId, reason: 'hard_bounce', createdBy: saidBy(text) });
  const innocent = new Set(hard.filter(({ text }) => ours.has(text)).map(({ draftId }) => draftId));
  return {
    results: results.map((one) => (innocent.has(one.email.draftId) ? putOff(one) : one)),
    troubles: [...new Set(hard.flatMap(({ text, isAgain }) => (ours.has(text) && !isAgain ? [text] : [])))],
  };
}

const SAMPLE_MIN = 10;
const SHARE_MAX = 0.2;

/** Returns true if a fifth of the last recipients got the same reply. Mailboxes that do not exist are not that frequent. */
function isAboutUs(heard: (string | null)[], text: string): boolean {
  const same = heard.filter((one) => one === text).length;
  return heard.length >= SAMPLE_MIN && same > 1 && same / heard.length >= SHARE_MAX;
}

/** `isAgain`: the same email got this reply before. */
type HardBounce = { draftId: string; address: string; text: string; isAgain: boolean };

function hardBounceOf({ email, handed }: EmailResult, messages: Heed['messages']): HardBounce | null {
  const message = messages.get(email.draftId);
  const text = wordsOfHard(handed);
  if (text === null || !message) return null;
  const isAgain = message.reply !== null && normaliseReply(message.reply) === text;
  return { draftId: email.draftId, address: message.address, text, isAgain };
}

/** Returns the normalized reply of a hard bounce; null for any other result. */
export function wordsOfHard(handed: EmailResult['handed']): string | null {
  if (handed.result !== 'failed' || handed.bounce?.class !== 'hard') return null;
  return normaliseReply(handed.reply ?? handed.reason);
}

/** Identifies the reply, so that all suppressions by one reply can be lifted together. */
function saidBy(text: string): string {
  return `reply:${sha256(text).slice(0, 16)}`;
}

function putOff({ email, handed }: EmailResult): EmailResult {
  const reply = 'reply' in handed && handed.reply !== undefined ? { reply: handed.reply } : {};
  return { email, handed: { result: 'deferred', reason: 'relay_failing', ...reply } };
}

const MINUTE_MS = 60_000;

async function slowDown(tx: Tx, projectId: number, { results, messages, now }: Heed): Promise<void> {
  const asked = results.flatMap(({ email, handed }) =>
    handed.result === 'deferred' && handed.slowDown === true ? (messages.get(email.draftId) ?? []) : [],
  );
  const places = new Map(
    asked.map(({ domain, provider }) => [`${domain} ${provider}`, { domain, provider }]),
  );
  for (const { domain, provider } of places.values()) {
    const known =
      (await listNarrow(tx, { projectId, domain })).find((row) => row.provider === provider) ?? null;
    const since = now - MINUTE_MS;
    const sentLastMinute = await countSentTo(tx, { projectId, domain, provider, since });
    const pace = slowed(known, { sentLastMinute, now });
    await upsertNarrow(tx, [{ projectId, domain, provider, ...pace, tokens: 0, refilledAt: now }]);
  }
}

/** `returned`: the email was not submitted, because sending was interrupted. `withheld`: it could not be rendered. */
export type EmailResult = {
  /** `aheadMs`: how far the clock of the project is ahead, if known. */
  email: { projectId: number; draftId: string; epoch: number; aheadMs?: number };
  handed: Handed | { result: 'returned' } | { result: 'withheld'; reason: string };
};
