import type { MailHeader } from './mail.ts';

/** In the order in which they are checked. */
export type MailKind = 'dsn' | 'complaint' | 'auto_reply' | 'unsubscribe' | 'reply' | 'other';

export type RecipientClass =
  | 'hard'
  | 'soft'
  | 'policy'
  | 'infrastructure'
  | 'complaint'
  | 'auto_reply'
  /** Accepted or relayed: not an outcome. */
  | 'delivered';

export type MailRecipient = {
  /** Null if the report conceals it or names none. */
  address: string | null;
  class: RecipientClass;
  /** False while delivery is still being attempted, so that there is no outcome yet. */
  final: boolean;
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** The server's text about it, on one line. */
  reason: string;
};

/** The kind of a message, and its recipients. None of it is proven; tokens are (`platform/crypto/email-token.ts`). */
export type MailClassification = {
  kind: MailKind;
  /** For a delivery report, a complaint or an automatic reply. */
  recipients: MailRecipient[];
  /** `Message-ID` of the bounced email, with its angle brackets. */
  originalMessageId: string | null;
  /** `Original-Envelope-Id` of the report: the ENVID of the submission. */
  envelopeId: string | null;
  /** Headers of the bounced email, if it is enclosed or quoted. They contain the tokens. */
  originalHeaders: MailHeader[];
  /** Set for every feedback report, including `not-spam` and `auth-failure`, which are not complaints. */
  feedbackType: string | null;
};

/** The SMTP envelope; null fields are unknown. */
export type InboundEnvelope = {
  /** Empty for `MAIL FROM:<>`. */
  from: string | null;
  /** The accepted recipients. */
  to: string[];
};
