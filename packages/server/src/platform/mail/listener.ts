/**
 * Receives email by SMTP. An email is confirmed with 250 only after the caller has accepted it, so that the sending server keeps what we
 * have not stored. Every failure on our side is a 451, and that server keeps the email.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import {
  SMTPServer,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server';
import { equalInConstantTime } from '../crypto/hash.ts';
import type { Log } from '../log.ts';
import { onePerTurn } from '../pace.ts';

export type MailListenerOptions = {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Our own name; defaults to the host name. */
  name?: string;
  sizeMax: number;
  /** Concurrent connections; defaults to 100. */
  clientsMax?: number;
  /** Recipients of one email; defaults to 50. */
  recipientsMax?: number;
  /** Null if every client that can connect may submit emails. */
  credentials: { user: string; pass: string } | null;
  /** Offered by STARTTLS, but never required: a bounce in plain text is better than none. */
  tls?: Certificate | null;
  door?: ConnectionPolicy;
  /** A returned refusal is permanent. If it throws, the sending server retries. */
  accept: (mail: ReceivedMail) => Promise<MailRefusal | void>;
  log: Log;
};

export type Certificate = { key: Buffer; cert: Buffer };

/** Decides by the client's address which clients may connect and which recipients they may use; null admits. */
export type ConnectionPolicy = {
  connects: (remote: string) => MailRefusal | null;
  /** Called for every admitted client. */
  leaves: (remote: string) => void;
  writesTo: (address: string, remote: string) => MailRefusal | null;
};

export type MailListener = {
  port: number;
  /** Applies to new connections. */
  renew: (certificate: Certificate) => void;
  close: () => Promise<void>;
};

const CLIENTS_MAX = 100;
const RECIPIENTS_MAX = 50;
const SILENCE_MS = 60_000;
/** A client that sends a byte now and then cannot hold a connection longer than this. */
const CONNECTION_MS = 15 * 60_000;
const CLOSE_MS = 5_000;
const OPEN_DOOR: ConnectionPolicy = { connects: () => null, leaves: () => {}, writesTo: () => null };

export async function startMailListener(options: MailListenerOptions): Promise<MailListener> {
  const { host, port, log } = options;
  const server = new SMTPServer(serverOptions(options));
  server.on('error', (error) => log.warn({ err: error }, 'inbound_email.connection_failed'));
  server.server.on('connection', endInTime);
  // Each of several processes has its own socket, because a client admitted by one must not reach another.
  const listening = server.listen({ port, host, exclusive: true });
  await once(listening, 'listening');
  const address = listening.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    renew: ({ key, cert }) => server.updateSecureContext({ key, cert }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function serverOptions(options: MailListenerOptions): SMTPServerOptions {
  const { sizeMax, credentials, name, tls, door = OPEN_DOOR } = options;
  const { recipientsMax = RECIPIENTS_MAX, clientsMax = CLIENTS_MAX } = options;
  const inside = new Set<string>();
  const held = { bytes: 0 };
  const pace = onePerTurn();
  return {
    ...(name === undefined ? {} : { name }),
    ...(tls ? { key: tls.key, cert: tls.cert } : {}),
    size: sizeMax,
    maxClients: clientsMax,
    socketTimeout: SILENCE_MS,
    closeTimeout: CLOSE_MS,
    banner: 'Beckon',
    disableReverseLookup: true,
    hideDSN: false,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(credentials ? [] : ['AUTH'])],
    authMethods: ['PLAIN', 'LOGIN'],
    authOptional: credentials === null,
    allowInsecureAuth: true,
    onConnect({ id, remoteAddress }, callback) {
      const rejection = door.connects(remoteAddress);
      if (rejection === null) inside.add(id);
      callback(rejection && refusal(rejection));
    },
    onClose({ id, remoteAddress }) {
      if (inside.delete(id)) door.leaves(remoteAddress);
    },
    onAuth({ username, password }, _session, callback) {
      if (credentials && isCorrectLogin({ user: username ?? '', pass: password ?? '' }, credentials)) {
        return callback(null, { user: credentials.user });
      }
      callback(refusal({ code: 535, text: '5.7.8 Wrong user name or password' }));
    },
    onRcptTo({ address }, { envelope, remoteAddress }, callback) {
      const isFull = envelope.rcptTo.length >= recipientsMax;
      const rejection = isFull ? TOO_MANY : door.writesTo(address, remoteAddress);
      callback(rejection && refusal(rejection));
    },
    onData(stream, session, callback) {
      const respond = async (): Promise<void> => {
        const rejection = await takeEmail(stream, session, { ...options, held, pace });
        callback(rejection, '2.0.0 Taken');
      };
      void respond();
    },
  };
}

const TOO_MANY: MailRefusal = { code: 452, text: '4.5.3 Too many recipients' };

function endInTime(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), CONNECTION_MS);
  timer.unref();
  socket.on('close', () => clearTimeout(timer));
}

function isCorrectLogin(
  login: { user: string; pass: string },
  expected: { user: string; pass: string },
): boolean {
  const userIsRight = equalInConstantTime(Buffer.from(login.user), Buffer.from(expected.user));
  return equalInConstantTime(Buffer.from(login.pass), Buffer.from(expected.pass)) && userIsRight;
}

export type ReceivedMail = {
  from: string;
  to: string[];
  envid: string | null;
  raw: Buffer;
  /** The address of the client, and its name in HELO. */
  remote: string;
  helo: string;
};

/** `text` begins with the enhanced status, such as `5.1.1`. */
export type MailRefusal = { code: number; text: string };

type ReceiveOptions = {
  sizeMax: number;
  /** Bytes of all emails that are being received. */
  held: { bytes: number };
  /**
   * Waits for a turn before each chunk. Otherwise thirty connections that send 8 MiB each fill a turn of the event loop with 2 MB of line
   * scanning. Other requests of the process then wait 400 ms.
   */
  pace: () => Promise<void>;
  accept: (mail: ReceivedMail) => Promise<MailRefusal | void>;
  log: Log;
};

/** A few of the largest, so that concurrent emails do not fill the memory. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;

/** Returns null if the email was accepted. A 5xx is the fault of the email; any exception is ours and becomes a 451. */
export async function takeEmail(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  options: ReceiveOptions,
): Promise<Error | null> {
  const email = { chunks: [] as Buffer[], bytes: 0, kept: 0 };
  try {
    const rejection = await read(stream, email, options);
    if (rejection) return refusal(rejection);
    const rejected = await options.accept({ ...envelopeOf(session), raw: Buffer.concat(email.chunks) });
    return rejected ? refusal(rejected) : null;
  } catch (error) {
    options.log.error({ err: error }, 'inbound_email.not_accepted');
    return refusal({ code: 451, text: '4.3.0 The email could not be stored, try again later' });
  } finally {
    options.held.bytes -= email.kept;
  }
}

/** An email beyond the limit is read to its end, so that the client gets the reason, but it is not stored. */
async function read(
  stream: SMTPServerDataStream,
  email: { chunks: Buffer[]; bytes: number; kept: number },
  { sizeMax, held, pace }: ReceiveOptions,
): Promise<MailRefusal | null> {
  let isTooMuch = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    await pace();
    email.bytes += chunk.length;
    isTooMuch ||= held.bytes + chunk.length > HELD_BYTES_MAX;
    if (email.bytes <= sizeMax && !isTooMuch) {
      email.chunks.push(chunk);
      email.kept += chunk.length;
      held.bytes += chunk.length;
    } else {
      email.chunks.length = 0;
      held.bytes -= email.kept;
      email.kept = 0;
    }
  }
  if (email.bytes > sizeMax || stream.sizeExceeded) {
    return { code: 552, text: `5.3.4 The email is larger than ${sizeMax} bytes` };
  }
  return isTooMuch ? { code: 452, text: '4.3.1 Too many emails at once, try again later' } : null;
}

function envelopeOf({
  envelope,
  remoteAddress,
  hostNameAppearsAs,
}: SMTPServerSession): Omit<ReceivedMail, 'raw'> {
  const { mailFrom, rcptTo, dsn } = envelope;
  return {
    from: mailFrom ? mailFrom.address : '',
    to: rcptTo.map(({ address }) => address),
    envid: dsn?.envid ?? null,
    remote: remoteAddress,
    helo: hostNameAppearsAs,
  };
}

function refusal({ code, text }: MailRefusal): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
