/**
 * What arrives where no relay is set. The server hands its letters over by SMTP as it would to any relay, and is the far end
 * itself: each is kept as it came, whole, to be looked at. Nothing leaves the machine.
 */
export type KeptMail = {
  projectId: number;
  /** The id of the message; for a letter to the team the one that its sender gave it. */
  id: string;
  /** 1 for what arrived first. A letter that arrives twice is a fault of ours, and is shown as two. */
  copy: number;
  /** How many arrived under this id. */
  copies: number;
  /** Null for a letter to the team. */
  draftId: string | null;
  userId: string | null;
  mailFrom: string;
  rcptTo: string;
  subject: string;
  /** Bytes, as it came. */
  size: number;
  at: number;
};

export type NewMail = Pick<
  KeptMail,
  'projectId' | 'id' | 'draftId' | 'userId' | 'mailFrom' | 'rcptTo' | 'at'
> & { raw: Uint8Array };

/** A letter has at most 1 MB; a larger one is kept all the same, so that its size can be complained about. */
export const MAIL_MAX_BYTES = 4 * 1024 * 1024;
export const TEST_INBOX_PAGE_MAX = 1_000;
export const TEST_INBOX_KEPT_MS = 30 * 86_400_000;
export const TEST_INBOX_KEPT_MAX = 10_000;
