import { setImmediate } from 'node:timers/promises';
import { createSlots } from '../async/slots.ts';
import { wireAddress } from './outgoing-email.ts';
import { type SmtpConnection, type SmtpConnectionOptions, openSmtpConnection } from './connection.ts';
import { refusal, resultOfSession, type SendResult, type SmtpEnd, unreachable } from './send-result.ts';
import type { MailEnvelope, Relay, RelayOptions, RelayTimeouts } from './submit.ts';
import type { SmtpReply } from './smtp-reply.ts';
import { readRelayUrl } from './relay-url.ts';

/** Few relays allow fewer. Concurrent emails share a commit before and one after each email. */
const SLOTS = 10;
const WAITING_MAX = 1_000;
const EMAILS_A_LINE = 500;
const CLOSE_LIMIT_MS = 10_000;
const TIMEOUTS: RelayTimeouts = { connectMs: 20_000, silenceMs: 120_000, emailMs: 300_000, idleMs: 30_000 };

type Deps = { kept: KeptLines; open: (signal: AbortSignal) => ReturnType<typeof openSmtpConnection> };
type Submission = { envelope: MailEnvelope; mime: Uint8Array; signal: AbortSignal };

/**
 * Sends emails to one relay, a few at a time, over connections that are kept for the next email. The pool is our own, because the library's
 * does not distinguish the ways to fail: see `resultOfSession`. It never resends an email, with one safe exception: a kept connection that
 * fails before the reply to MAIL is replaced by a fresh one.
 */
export function openRelay(options: RelayOptions): Relay {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const address = readRelayUrl(options.url);
  const count = options.slots ?? address.connections ?? SLOTS;
  const slots = createSlots(count, WAITING_MAX);
  const kept = keepLines(timeouts.idleMs);
  const inFlight = new Set<AbortController>();
  const lines: Omit<SmtpConnectionOptions, 'signal'> = {
    address,
    name: options.name,
    tls: options.tls,
    resolveHost: options.resolveHost,
    timeouts,
    dotSent: options.dotSent,
  };
  const deps: Deps = { kept, open: (signal) => openSmtpConnection({ ...lines, signal }) };

  async function submit(envelope: MailEnvelope, mime: Uint8Array): Promise<SendResult> {
    const checked = checkEnvelope(envelope);
    if ('code' in checked) return refusal(checked, options.classify);
    if (!(await slots.take())) return unreachable('connect', 'No connection to the relay is free');
    const cut = new AbortController();
    inFlight.add(cut);
    const deadline = setTimeout(() => cut.abort(), timeouts.emailMs);
    const { ending, line } = await submitOverConnection(
      { envelope: checked, mime, signal: cut.signal },
      deps,
    );
    clearTimeout(deadline);
    inFlight.delete(cut);
    const settled = settle(line, ending, kept).finally(slots.free);
    const result = resultOfSession(ending, options.classify);
    options.log.debug({ result: result.result, stage: ending.stage, code: ending.code }, 'email.submitted');
    // The next email of the same caller finds its connection ready. After a refusal, that takes one more reply of the relay.
    if (result.result === 'sent') await settled;
    return result;
  }

  return {
    slots: count,
    submit,
    async close(limitMs = CLOSE_LIMIT_MS) {
      kept.close();
      const drained = slots.close();
      const late = setTimeout(() => inFlight.forEach((cut) => cut.abort()), limitMs);
      await drained;
      clearTimeout(late);
    },
  };
}

async function submitOverConnection(
  submission: Submission,
  deps: Deps,
): Promise<{ ending: SmtpEnd; line: SmtpConnection | null }> {
  const used = deps.kept.take();
  if (used) {
    const ending = await sendOver(used, submission);
    if (!wasDeadBefore(ending) || submission.signal.aborted) return { ending, line: used };
    used.hangUp('The relay had closed the connection');
  }
  const opening = await deps.open(submission.signal);
  if (!opening.line) return { ending: opening.ending, line: null };
  return { ending: await sendOver(opening.line, submission), line: opening.line };
}

async function sendOver(line: SmtpConnection, { envelope, mime, signal }: Submission): Promise<SmtpEnd> {
  const cut = (): void => line.hangUp('The relay took too long, or the server stopped');
  signal.addEventListener('abort', cut);
  const ending = await line.send(envelope, mime);
  signal.removeEventListener('abort', cut);
  return ending;
}

/** A relay that ends an idle session sends 421 or nothing, whether or not MAIL crossed it on the wire. */
function wasDeadBefore({ stage, code, bodyRead }: SmtpEnd): boolean {
  return stage === 'mail' && !bodyRead && (code === null || code === 421);
}

async function settle(line: SmtpConnection | null, ending: SmtpEnd, kept: KeptLines): Promise<void> {
  if (!line || line.isDead()) return;
  const accepted = ending.code !== null && ending.code < 300;
  const resettable =
    ending.code !== null && ending.code >= 400 && ending.code !== 421 && ending.stage !== 'mail';
  if (!accepted && !(resettable && (await line.reset()))) {
    return line.hangUp('The SMTP session cannot continue');
  }
  // An excess reply appears now, and not as the reply to the next email.
  await setImmediate();
  if (line.isDead()) return;
  if (line.emails() >= EMAILS_A_LINE)
    return line.hangUp('The connection has reached its maximum number of emails');
  kept.keep(line);
}

/** Refuses an address that the envelope cannot contain, like the relay would. */
function checkEnvelope({ from, to, envid }: MailEnvelope): MailEnvelope | SmtpReply {
  const [sender, recipient] = [wireAddress(from), wireAddress(to)];
  if (sender === null) return { stage: 'mail', code: 553, reply: '553 5.1.7 The sender is not an address' };
  if (recipient === null)
    return { stage: 'rcpt', code: 553, reply: '553 5.1.3 The recipient is not an address' };
  return { from: sender, to: recipient, envid };
}

/** Connections that wait for the next email. The most recently used one is taken first, so that unneeded ones expire. */
type KeptLines = {
  take: () => SmtpConnection | null;
  keep: (line: SmtpConnection) => void;
  close: () => void;
};

function keepLines(idleMs: number): KeptLines {
  const kept: { line: SmtpConnection; timer: NodeJS.Timeout }[] = [];
  let closed = false;

  function drop(line: SmtpConnection): void {
    const at = kept.findIndex((entry) => entry.line === line);
    if (at >= 0) kept.splice(at, 1);
    line.hangUp('The connection was not needed');
  }

  function take(): SmtpConnection | null {
    const last = kept.pop();
    if (!last) return null;
    clearTimeout(last.timer);
    return last.line.isDead() ? take() : last.line;
  }

  return {
    take,
    keep(line) {
      if (closed) return line.hangUp('The connection is no longer needed');
      kept.push({ line, timer: setTimeout(() => drop(line), idleMs).unref() });
    },
    close() {
      closed = true;
      for (const { line, timer } of kept.splice(0)) {
        clearTimeout(timer);
        line.hangUp('The connection is no longer needed');
      }
    },
  };
}
