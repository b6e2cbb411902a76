import { sha256 } from '../../../platform/crypto/hash.ts';
import { authorNameOf } from '../classification/read-mail.ts';
import type { InboundMail } from '../classification/mail.ts';
import type { NewReply } from '../replies/reply.ts';
import type { InboundAction } from './decide-mail.ts';

type KeepAction = Extract<InboundAction, { act: 'keep' }>;

export type ReplyFacts = Pick<NewReply, 'projectId' | 'id' | 'emailId' | 'draftId' | 'userId'> & {
  mail: InboundMail;
  /** The text without quotations. */
  text: string;
  raw: Uint8Array;
  decision: KeepAction;
  now: number;
};

const ADDRESS_MAX_CHARS = 320;
const NAME_MAX_CHARS = 200;
const SUBJECT_MAX_CHARS = 500;
const TEXT_MAX_CHARS = 64 * 1024;
const ID_CHARS = 32;

/** Builds the stored reply: the text, and the raw bytes for as long as it waits to be forwarded. */
export function replyOf({ mail, text, raw, decision, now, ...ids }: ReplyFacts): NewReply {
  const { kind, verified, forwards } = decision;
  return {
    ...ids,
    inboundId: inboundIdOf(mail),
    kind,
    verified,
    receivedAt: now,
    fromAddress: line(mail.from ?? '', ADDRESS_MAX_CHARS),
    fromName: line(nameOf(mail), NAME_MAX_CHARS),
    subject: line(mail.subject, SUBJECT_MAX_CHARS),
    text: storable(text).slice(0, TEXT_MAX_CHARS).toWellFormed(),
    raw: forwards ? raw : null,
    forwardAt: forwards ? now : null,
  };
}

/** Identifies an inbound email. A server that received no answer sends it again, under the same Message-ID. */
export function inboundIdOf({ messageId, from, subject, text }: InboundMail): string {
  return sha256(messageId ?? JSON.stringify([from, subject, text])).slice(0, ID_CHARS);
}

function nameOf({ headers }: InboundMail): string {
  return authorNameOf(headers.find(({ name }) => name === 'from')?.value ?? '');
}

function line(text: string, max: number): string {
  return storable(text).replaceAll(/\s+/g, ' ').trim().slice(0, max).toWellFormed();
}

/** Replaces control characters: PostgreSQL cannot store NUL, and the others must not reach a terminal. */
function storable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, ' ').toWellFormed();
}
