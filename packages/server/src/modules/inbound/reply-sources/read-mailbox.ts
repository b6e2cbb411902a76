import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { protocolError } from '../../../platform/imap/imap-error.ts';
import type { ImapFolder, ImapSession } from '../../../platform/imap/session.ts';
import type { ReplySource, SourceResult } from './source.ts';

/** What a pass over a mailbox does with it. */
export type MailboxHandler = {
  /** Processes an email. Everything has taken effect when it returns. */
  receive(raw: Buffer): Promise<SourceResult>;
  /** Called for each email after it was processed, and for emails that are left out. */
  count(result: SourceResult): Promise<void>;
  /** Stores the position. Returns false if the reader must stop. */
  move(cursor: NonNullable<ReplySource['cursor']>): Promise<boolean>;
};

export type MailboxPass = {
  source: Pick<ReplySource, 'cursor' | 'attempts' | 'changedAt' | 'readAt'>;
  folder: string;
  stopping: AbortSignal;
};

/** The server did not return an email. The next pass tries it again. */
export class EmailFailed extends Error {
  constructor(cause: unknown) {
    super('The server did not return an email', { cause });
    this.name = 'EmailFailed';
  }
}

/** Each pass reads at most this much, so that one mailbox does not keep the others waiting. */
const EMAILS_MAX = 100;
const BYTES_MAX = 50 * 1024 * 1024;
const PASS_MS = 60_000;
/** UIDs may have gaps. One search covers this many of them, so that its answer is short. */
const WINDOW = 10_000;
const WINDOWS_MAX = 100;
/** A server may be unable to return a damaged email, which must not block those after it. */
const ATTEMPTS_MAX = 10;
const DAY_MS = 86_400_000;
/** SEARCH compares days in the time zone of the server. */
const OVERLAP_MS = 2 * DAY_MS;

/**
 * Reads the emails after the position of a mailbox, in the order of their UIDs. The position moves after each email. Returns true if there
 * are more.
 */
export async function readMailbox(
  imap: ImapSession,
  { source, folder: name, stopping }: MailboxPass,
  handler: MailboxHandler,
): Promise<boolean> {
  const folder = await imap.examine(name);
  const { uidValidity, uidNext } = folder;
  const pass: Pass = {
    uidValidity,
    lastUid: await startAfter(imap, folder, source),
    skips: source.attempts >= ATTEMPTS_MAX && source.cursor?.uidValidity === uidValidity,
    emails: 0,
    bytes: 0,
    until: performance.now() + PASS_MS,
  };
  if (!(await handler.move(pass))) return false;
  for (let windows = 0; windows < WINDOWS_MAX; windows += 1) {
    if (pass.lastUid + 1 >= uidNext) return false;
    const to = Math.min(uidNext - 1, pass.lastUid + WINDOW);
    for (const uid of await imap.uidsBetween(pass.lastUid + 1, to)) {
      if (stopping.aborted || isUsedUp(pass)) return true;
      await readNext(imap, { pass, uid }, handler);
      if (!(await handler.move(pass))) return false;
    }
    pass.lastUid = to;
    if (!(await handler.move(pass))) return false;
  }
  return true;
}

/** The state of a pass. `skips`: the next email could not be read too often. */
type Pass = {
  uidValidity: number;
  lastUid: number;
  skips: boolean;
  emails: number;
  bytes: number;
  until: number;
};

function isUsedUp({ emails, bytes, until }: Pass): boolean {
  return emails >= EMAILS_MAX || bytes >= BYTES_MAX || performance.now() >= until;
}

async function readNext(
  imap: ImapSession,
  { pass, uid }: { pass: Pass; uid: number },
  handler: MailboxHandler,
): Promise<void> {
  if (pass.skips) await handler.count('unreadable');
  else pass.bytes += await receiveOne(imap, uid, handler);
  pass.skips = false;
  pass.emails += 1;
  pass.lastUid = uid;
}

/** Returns the number of bytes that were read. */
async function receiveOne(imap: ImapSession, uid: number, handler: MailboxHandler): Promise<number> {
  const raw = await fetchOne(imap, uid);
  await handler.count(raw === 'too_large' ? raw : await handler.receive(raw));
  return raw.length;
}

async function fetchOne(imap: ImapSession, uid: number): Promise<Buffer | 'too_large'> {
  try {
    const size = await imap.sizeOf(uid);
    if (size !== null && size > MAIL_BYTES_MAX) return 'too_large';
    const raw = await imap.fetch(uid, MAIL_BYTES_MAX);
    if (raw !== null) return raw;
  } catch (error) {
    throw new EmailFailed(error);
  }
  // An email that was deleted since the search is not listed by the next one.
  throw new EmailFailed(protocolError('it does not return an email that it listed'));
}

/**
 * Returns the UID after which to read. With another UIDVALIDITY all emails have new UIDs, so the emails since the last pass are read again.
 * Those that took effect are recognized. The first pass begins shortly before the mailbox was set up.
 */
async function startAfter(
  imap: ImapSession,
  { uidValidity, uidNext }: ImapFolder,
  { cursor, changedAt, readAt }: MailboxPass['source'],
): Promise<number> {
  if (cursor?.uidValidity === uidValidity) return cursor.lastUid;
  const [first] = await imap.uidsSince(new Date((readAt ?? changedAt) - OVERLAP_MS));
  return (first ?? uidNext) - 1;
}
