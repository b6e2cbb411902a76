import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { ImapError } from '../../../platform/imap/imap-error.ts';
import { openImap } from '../../../platform/imap/session.ts';
import type { JobRun } from '../../../platform/jobs/scheduler.ts';
import type { ResolveHost } from '../../../platform/outbound/host-guard.ts';
import { maySendEmails, type RestoreGuard } from '../../sending/index.ts';
import type { ReceiveDeps } from '../mail/receive-mail.ts';
import { folderOf, imapAddressOf } from './kinds.ts';
import { EmailFailed, readMailbox } from './read-mailbox.ts';
import { receiveFromSource } from './receive-from-source.ts';
import { decryptSource } from './secrets.ts';
import type { SourceWithSecrets } from './reads.ts';
import { countResult, moveCursor, recordFailure, recordRead, takeDueSource } from './store.ts';

export type MailboxDeps = ReceiveDeps & {
  encrypter: Encrypter;
  /** Returns which hosts a mailbox of a project may have. */
  resolveHostOf: (owner: { projectId: number }) => ResolveHost;
  restoreGuard?: RestoreGuard | undefined;
  /** Trusted in tests, in addition to the usual authorities. */
  ca?: string | undefined;
};

const EVERY_MS = 60_000;
/** A wrong password is not tried so often that the server locks the account. */
const AFTER_SIGN_IN_MS = 15 * 60_000;
const AFTER_FAILURE_MS = 2 * 60_000;
/** A mailbox that keeps failing is tried less often, so that it does not take the time of the others. */
const AFTER_FAILURE_MAX_MS = 30 * 60_000;
/** Longer than a session takes. */
const LEASE_MS = 10 * 60_000;
const IMAP_TIMES = { connectMs: 10_000, silenceMs: 30_000, totalMs: 2 * 60_000 };
const AT_ONCE = 8;
/** One run of the job reads at most this many mailboxes, each of which may be read several times. */
const READS_MAX = 1_000;

/**
 * Reads the mailboxes that are due. Each is read by one worker at a time. A restored database reads none until the restore is confirmed:
 * the original still receives these replies.
 */
export async function readDueMailboxes(deps: MailboxDeps, { stopping }: JobRun): Promise<void> {
  if (!(await maySendEmails({ ...deps, restoreGuard: deps.restoreGuard ?? 'auto' }))) return;
  const run: Run = { stopping, reads: READS_MAX };
  const first = await takeDue(deps);
  if (!first) return;
  const others = Array.from({ length: AT_ONCE - 1 }, () => readWhileDue(deps, run));
  await Promise.all([readOne(deps, first, stopping), ...others]);
}

/** `reads`: how many more mailboxes this run reads. */
type Run = { stopping: AbortSignal; reads: number };

async function readWhileDue(deps: MailboxDeps, run: Run): Promise<void> {
  while (!run.stopping.aborted && run.reads > 0) {
    run.reads -= 1;
    const due = await takeDue(deps);
    if (!due) return;
    await readOne(deps, due, run.stopping);
  }
}

function takeDue({ db }: MailboxDeps): Promise<SourceWithSecrets | undefined> {
  const now = db.clock.now();
  return takeDueSource(db, { now, leaseUntil: now + LEASE_MS });
}

async function readOne(deps: MailboxDeps, due: SourceWithSecrets, stopping: AbortSignal): Promise<void> {
  const { db, log } = deps;
  const { source } = due;
  try {
    const hasMore = await readSource(deps, due, stopping);
    const readAt = db.clock.now();
    await recordRead(db, source, {
      readAt: hasMore ? null : readAt,
      nextReadAt: hasMore ? readAt : readAt + EVERY_MS,
    });
  } catch (error) {
    const at = db.clock.now();
    const { failure, waitMs, logged } = failureOf(error, at - (source.failing?.since ?? at));
    const isAtEmail = error instanceof EmailFailed;
    log.warn({ project_id: source.projectId, ...logged }, 'reply_source.not_read');
    await recordFailure(db, source, { failure, at, nextReadAt: at + waitMs, isAtEmail });
  }
}

async function readSource(
  deps: MailboxDeps,
  due: SourceWithSecrets,
  stopping: AbortSignal,
): Promise<boolean> {
  const { db, encrypter, resolveHostOf, ca } = deps;
  const { source } = due;
  const { projectId } = source;
  const settings = decryptSource(encrypter, due);
  const imap = await openImap({
    address: imapAddressOf(settings),
    username: settings['username'] ?? '',
    password: settings['password'] ?? '',
    resolveHost: resolveHostOf(source),
    ca,
    ...IMAP_TIMES,
  });
  const hangUp = (): void => imap.close();
  stopping.addEventListener('abort', hangUp);
  try {
    return await readMailbox(
      imap,
      { source, folder: folderOf(settings), stopping },
      {
        receive: (raw) => receiveFromSource(deps, { projectId, raw }),
        count: (result) => countResult(db, { ...source, result }),
        move: (cursor) => moveCursor(db, source, cursor),
      },
    );
  } finally {
    stopping.removeEventListener('abort', hangUp);
    imap.close();
  }
}

type MailboxFailure = { failure: string; waitMs: number; logged: { reason: string } | { err: unknown } };

/**
 * The message of an `ImapError` is for members. It has words of the server, so the log has only the kind of the failure. `failingMs`: how
 * long the mailbox has been failing.
 */
export function failureOf(error: unknown, failingMs = 0): MailboxFailure {
  const cause = error instanceof EmailFailed ? error.cause : error;
  const waitMs = Math.min(Math.max(failingMs / 4, AFTER_FAILURE_MS), AFTER_FAILURE_MAX_MS);
  if (!(cause instanceof ImapError)) return { failure: INTERNAL, waitMs, logged: { err: cause } };
  const isSignIn = cause.failure === 'sign_in';
  return {
    failure: cause.message,
    waitMs: isSignIn ? Math.max(waitMs, AFTER_SIGN_IN_MS) : waitMs,
    logged: { reason: cause.failure },
  };
}

const INTERNAL = 'An email could not be processed. The log of the server has the reason.';
