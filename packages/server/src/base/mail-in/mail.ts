/** A header as it was sent: its name in lower case, its value on one line. */
export type MailHeader = { name: string; value: string };

/** A part that is not shown as the message itself: a report, a returned message, a file. */
export type MailPart = { type: string; text: string };

/** A message as it came in, read within bounds; whatever cannot be read of it is empty. */
export type InboundMail = {
  /** In order, those of the message itself. */
  headers: MailHeader[];
  /** Of `From`, in lower case; null where that names nobody, or several. */
  from: string | null;
  /** Of `To`, `Cc` and `Delivered-To`, in lower case. */
  to: string[];
  subject: string;
  /** With angle brackets, as are all those below. */
  messageId: string | null;
  inReplyTo: string[];
  references: string[];
  /** What a person reads of it; of a letter in HTML alone, its text. Lines end with `\n`. */
  text: string;
  /** Whether `text` was made from HTML. */
  textIsFromHtml: boolean;
  html: string | null;
  parts: MailPart[];
  /** True where it held more than the bounds let through. */
  cut: boolean;
};
