export type Mailbox = { name: string; address: string };

/** All parts of an email. The caller has decided every word: the same `Letter` gives the same bytes. */
export type Letter = {
  /** Without angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: Mailbox;
  replyTo: Mailbox | null;
  subject: string;
  html: string;
  text: string;
  /** List-Unsubscribe and similar fields, in the order in which they are written. */
  headers: { name: string; value: string }[];
};

/** `privateKey` is PEM. Emails that share one object share the parsed key. */
export type DkimKey = { domain: string; selector: string; privateKey: string };
