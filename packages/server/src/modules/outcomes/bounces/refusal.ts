/**
 * - `hard`: the address does not exist.
 * - `soft`: the address cannot accept the email now.
 * - `policy`: the email or its sender was not wanted, which says nothing about the address.
 * - `infrastructure`: a failure of the route or of a server on it.
 */
export type ReplyClass = 'hard' | 'soft' | 'policy' | 'infrastructure';

/** The answered stage: a command before the recipient, the recipient, or the email itself. */
export type Stage = 'before' | 'rcpt' | 'letter';

/** A refusal, reported by the server itself or by a bounce report. */
export type Refusal = {
  /** The texts, the most trusted first. */
  texts: string[];
  /** The enhanced status, such as `5.1.1`. */
  status: string | null;
  /** The SMTP code, such as 550. */
  replyCode: number | null;
  /** Null if unknown. */
  stage: Stage | null;
  /** The class that the reporting server gives in a word of its own. */
  category?: ReplyClass | null;
};
