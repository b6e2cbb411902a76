/**
 * `hard`: the address leads nowhere. `soft`: it cannot take the letter now. `policy`: the letter or its sender was not
 * wanted, which says nothing about the address. `infrastructure`: the way there, or a server on it.
 */
export type ReplyClass = 'hard' | 'soft' | 'policy' | 'infrastructure';

/** What was answered: something before the recipient was named, the recipient, or the letter itself. */
export type Stage = 'before' | 'rcpt' | 'letter';

/** A refusal, whoever tells of it: the server itself, or a report. */
export type Refusal = {
  /** What was said in words, the most trusted first. */
  texts: string[];
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** The SMTP code, such as 550. */
  replyCode: number | null;
  /** Null where it is not known. */
  stage: Stage | null;
  /** A class that the telling server gives in a word of its own. */
  category?: ReplyClass | null;
};
