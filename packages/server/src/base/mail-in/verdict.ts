import type { MailHeader } from './mail.ts';

/** In the order in which they are asked about. */
export type MailKind = 'dsn' | 'complaint' | 'auto_reply' | 'unsubscribe' | 'reply' | 'other';

export type RecipientClass =
  | 'hard'
  | 'soft'
  | 'policy'
  | 'infrastructure'
  | 'complaint'
  | 'auto_reply'
  /** Accepted, or passed on: no outcome. */
  | 'delivered';

export type MailRecipient = {
  /** Null where the report conceals it, or names nobody. */
  address: string | null;
  class: RecipientClass;
  /** False while it is still being tried: no outcome yet. */
  final: boolean;
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** What the server said of it, on one line. */
  reason: string;
};

/** What a message is, and whom it is about. Nothing in it is proven: tokens are (`base/letter-token.ts`). */
export type MailVerdict = {
  kind: MailKind;
  /** Of a report on delivery, a complaint or an automatic answer. */
  recipients: MailRecipient[];
  /** `Message-ID` of the letter that came back, with its angle brackets. */
  originalMessageId: string | null;
  /** `Original-Envelope-Id` of the report: what was said as ENVID. */
  envelopeId: string | null;
  /** Of the letter that came back, where it is enclosed or quoted: in them are the tokens. */
  originalHeaders: MailHeader[];
  /** Of a feedback report, `not-spam` and `auth-failure` too, which are no complaints. */
  feedbackType: string | null;
};

/** What was said over SMTP; null where it is not known. */
export type MailEnvelope = {
  /** Empty for `MAIL FROM:<>`. */
  from: string | null;
  /** The addresses that it was accepted for. */
  to: string[];
};
