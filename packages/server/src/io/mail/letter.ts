export type Mailbox = { name: string; address: string };

/** All that a letter is made of. Whoever calls has decided every word of it: the same letter gives the same bytes. */
export type Letter = {
  /** Without the angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: Mailbox;
  replyTo: Mailbox | null;
  subject: string;
  html: string;
  text: string;
  /** List-Unsubscribe and its like, in the order in which they are to stand. */
  headers: { name: string; value: string }[];
};

/** `privateKey` as PEM. Many letters that share one object share the reading of the key. */
export type DkimKey = { domain: string; selector: string; privateKey: string };
