import SMTPConnection, {
  type SMTPConnectionOptions,
  type SMTPConnectionSendInfo,
} from 'nodemailer/lib/smtp-connection';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import type { SmtpStage } from './smtp-reply.ts';
import type { SmtpEnd } from './send-result.ts';
import type { MailEnvelope, RelayOptions, RelayTimeouts } from './submit.ts';
import type { RelayAddress } from './relay-url.ts';

/** One connection to a relay, which sends emails one after another. */
export type SmtpConnection = {
  /** Returns the number of emails it was used for. */
  emails: () => number;
  /** Returns whether the relay or this process closed the connection. */
  isDead: () => boolean;
  send: (envelope: MailEnvelope, mime: Uint8Array) => Promise<SmtpEnd>;
  /** After a refusal, returns whether the relay is ready for the next email. */
  reset: () => Promise<boolean>;
  /** Ends the email in progress with this reason. Without one, it sends QUIT to the relay. */
  hangUp: (reason: string) => void;
};

export type SmtpConnectionOptions = {
  address: RelayAddress;
  name: string | undefined;
  tls: RelayOptions['tls'];
  resolveHost?: RelayOptions['resolveHost'];
  timeouts: RelayTimeouts;
  dotSent?: RelayOptions['dotSent'];
  /** Aborts opening. */
  signal: AbortSignal;
};

type OpenResult = { line: SmtpConnection } | { line: null; ending: SmtpEnd };

type Failure = Error & {
  responseCode?: number | undefined;
  response?: string | undefined;
  command?: string | undefined;
  code?: string | undefined;
};

const REPLY_BYTES_MAX = 65_536;
const SOCKET_CLOSE_MS = 1_000;
const RESET_MS = 5_000;

export async function openSmtpConnection(options: SmtpConnectionOptions): Promise<OpenResult> {
  const progress = watchProgress();
  const target = await targetOf(options);
  if ('reason' in target) return { line: null, ending: { ...NOT_CONNECTED, reason: target.reason } };
  const connection = new SMTPConnection({
    ...connectionOptions(options),
    host: target.host,
    logger: progress.logger,
  });
  const line = lineOver(connection, progress, options.dotSent);
  const opened = Promise.withResolvers<OpenResult>();
  const fail = (error: Failure): void =>
    opened.resolve({ line: null, ending: endingOf(error, progress, null) });
  const ready = (): void => opened.resolve({ line });
  const giveUp = (): void => fail(new Error('The relay took too long, or was no longer needed'));
  const deadline = setTimeout(giveUp, options.timeouts.connectMs);
  options.signal.addEventListener('abort', giveUp);
  connection.on('error', fail);
  connection.on('end', () => fail(new Error('The relay closed the connection')));
  const { credentials } = options.address;
  connection.connect((error) => {
    if (error) fail(error);
    else if (credentials) connection.login({ ...credentials }, (no) => (no ? fail(no) : ready()));
    else ready();
  });
  const opening = await opened.promise;
  clearTimeout(deadline);
  options.signal.removeEventListener('abort', giveUp);
  if (!opening.line) connection.close();
  return opening;
}

const NOT_CONNECTED = { code: null, reply: '', stage: 'connect', bodyRead: false, bodyEnded: false } as const;

/** Returns the host or address to connect to, or why it may not be reached. */
async function targetOf({
  address,
  resolveHost,
}: Pick<SmtpConnectionOptions, 'address' | 'resolveHost'>): Promise<{ host: string } | { reason: string }> {
  try {
    return { host: resolveHost ? await resolveHost(address.host) : address.host };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : 'The host cannot be resolved' };
  }
}

function lineOver(
  connection: SMTPConnection,
  progress: Progress,
  dotSent: SmtpConnectionOptions['dotSent'],
): SmtpConnection {
  let emails = 0;
  let dead = false;
  let abortCurrent: ((reason: string) => void) | null = null;

  function endWith(reason: string): void {
    dead = true;
    abortCurrent?.(reason);
  }
  // The library's own error comes first, but not always.
  connection.on('end', () => {
    dead = true;
    queueMicrotask(() => endWith('The relay closed the connection'));
  });

  return {
    emails: () => emails,
    isDead: () => dead,
    async send(envelope, mime) {
      emails += 1;
      const body = bodyOf(mime);
      // The library writes the final dot as soon as it has read the whole email.
      if (dotSent) body.once('end', () => setImmediate(dotSent));
      const ended = Promise.withResolvers<SmtpEnd>();
      abortCurrent = (reason) => ended.resolve(endingOf(new Error(reason), progress, body));
      progress.beginEmail();
      connection.send(envelopeOf(envelope, mime), body, (error, info) => {
        ended.resolve(error ? endingOf(error, progress, body) : acceptedEnding(info, body));
      });
      const ending = await ended.promise;
      abortCurrent = null;
      return ending;
    },
    async reset() {
      const reset = Promise.withResolvers<boolean>();
      abortCurrent = () => reset.resolve(false);
      const late = setTimeout(() => reset.resolve(false), RESET_MS);
      connection.reset((error) => reset.resolve(!error));
      const ready = await reset.promise;
      clearTimeout(late);
      abortCurrent = null;
      return ready;
    },
    hangUp(reason) {
      // The result of the email is decided before the connection is closed, because no reply is read afterwards.
      const silently = abortCurrent !== null || dead;
      endWith(reason);
      if (!silently) connection.quit();
      connection.close();
    },
  };
}

/** An email counts as being sent only once its first byte is read. The library reads it after the relay's 354. */
function bodyOf(mime: Uint8Array): Readable {
  return new Readable({
    read() {
      this.push(mime);
      this.push(null);
    },
  });
}

/** Emails are 7-bit, so 8BITMIME is not announced, and no server on the route has a reason to rewrite them. */
function envelopeOf({ from, to, envid }: MailEnvelope, mime: Uint8Array) {
  const dsn = { ret: 'HDRS', envid, notify: ['FAILURE', 'DELAY'] };
  return { from, to: [to], size: mime.byteLength, dsn };
}

function acceptedEnding(info: SMTPConnectionSendInfo | undefined, body: Readable): SmtpEnd {
  const reply = info?.response ?? '';
  return {
    code: Number(/^\d{3}/.exec(reply)?.[0] ?? 0) || null,
    reply,
    reason: 'The relay replied before it had the email',
    stage: 'body',
    bodyRead: body.readableDidRead,
    bodyEnded: body.readableEnded,
  };
}

function endingOf(error: Failure, progress: Progress, body: Readable | null): SmtpEnd {
  const { message, responseCode, response } = error;
  const bodyRead = body?.readableDidRead ?? false;
  const bodyEnded = body?.readableEnded ?? false;
  // The library compares the size of the email with the limit that the relay announced, without asking the relay.
  if (error.code === 'EMESSAGE' && error.command === 'MAIL FROM') {
    const reply = `552 5.3.4 ${message}`;
    return { code: 552, reply, reason: message, stage: 'mail', bodyRead, bodyEnded };
  }
  const stage = namedStage(error) ?? (responseCode ? progress.repliedStage() : progress.awaited());
  return { code: responseCode ?? null, reply: response ?? '', reason: message, stage, bodyRead, bodyEnded };
}

/** Returns the stage if the library names the command. */
function namedStage({ command, code }: Failure): SmtpStage | null {
  if (code === 'EDNS') return 'connect';
  if (code === 'ETLS') return 'tls';
  if (code === 'EAUTH') return 'auth';
  if (command === 'MAIL FROM') return 'mail';
  if (command === 'RCPT TO') return 'rcpt';
  if (command === 'DATA') return code === 'EMESSAGE' ? 'body' : 'data';
  return null;
}

function connectionOptions({ address, name, tls, timeouts }: SmtpConnectionOptions): SMTPConnectionOptions {
  return {
    host: address.host,
    port: address.port,
    secure: address.secure,
    requireTLS: !address.secure && address.startTls === 'required',
    ignoreTLS: !address.secure && address.startTls === 'none',
    name,
    tls: {
      minVersion: 'TLSv1.2',
      ...servernameOf(address.host),
      ...(tls ? { ...tls, ca: [...rootCertificates, tls.ca] } : {}),
    },
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.connectMs,
    dnsTimeout: timeouts.connectMs,
    socketTimeout: timeouts.silenceMs,
    socketCloseTimeout: SOCKET_CLOSE_MS,
    maxResponseSize: REPLY_BYTES_MAX,
    transactionLog: true,
  };
}

/** The certificate is for the name of the relay, also if the connection is to one of its addresses. */
function servernameOf(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

/**
 * Tracks the stage of an SMTP session from the library's log: each command sent, each reply read. The library's errors do not contain it: a
 * connection dropped at MAIL and one dropped after the email look the same.
 */
type Progress = {
  /** Returns the stage whose reply is awaited. */
  awaited: () => SmtpStage;
  /** Returns the stage that the last reply answered. */
  repliedStage: () => SmtpStage;
  beginEmail: () => void;
  logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', (...line: unknown[]) => void>;
};

/** In the order of the replies about one email. Its commands may be pipelined, so replies are counted. */
const EMAIL_STAGES: SmtpStage[] = ['mail', 'rcpt', 'data', 'body'];

function watchProgress(): Progress {
  let awaited: SmtpStage = 'connect';
  let replied: SmtpStage = 'connect';

  function note(facts: unknown, line: unknown): void {
    if (typeof facts !== 'object' || facts === null || !('tnx' in facts)) return;
    if (facts.tnx === 'network' && 'remotePort' in facts) awaited = 'greeting';
    if (facts.tnx === 'client') awaited = commandStage(String(line)) ?? awaited;
    if (facts.tnx !== 'server') return;
    replied = awaited;
    const index = EMAIL_STAGES.indexOf(awaited);
    if (index >= 0) awaited = EMAIL_STAGES[index + 1] ?? awaited;
  }

  const nothing = (): void => {};
  return {
    awaited: () => awaited,
    repliedStage: () => replied,
    beginEmail: () => {
      awaited = 'mail';
    },
    logger: { trace: nothing, debug: note, info: note, warn: nothing, error: nothing, fatal: nothing },
  };
}

function commandStage(line: string): SmtpStage | null {
  if (/^(EHLO|HELO)\b/.test(line)) return 'ehlo';
  if (line === 'STARTTLS') return 'tls';
  return line.startsWith('AUTH') ? 'auth' : null;
}
