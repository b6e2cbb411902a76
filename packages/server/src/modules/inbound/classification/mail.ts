/** A header as it was sent: its name in lower case, its value on one line. */
export type MailHeader = { name: string; value: string };

/** A part that is not shown as the message itself: a report, a returned message or a file. */
export type MailPart = { type: string; text: string };

/** An incoming message, read within bounds. Unreadable parts are empty. */
export type InboundMail = {
  /** In order; only those of the message itself. */
  headers: MailHeader[];
  /** From `From`, in lower case; null if it has no address or several. */
  from: string | null;
  /** From `To`, `Cc` and `Delivered-To`, in lower case. */
  to: string[];
  subject: string;
  /** With angle brackets, like all ids below. */
  messageId: string | null;
  inReplyTo: string[];
  references: string[];
  /** The readable text; for an email with HTML only, the text of the HTML. Lines end with `\n`. */
  text: string;
  /** True if `text` was made from HTML. */
  textIsFromHtml: boolean;
  html: string | null;
  parts: MailPart[];
  /** True if the message exceeded the bounds. */
  cut: boolean;
};
