import { once } from 'node:events';
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { equalInConstantTime } from '../crypto/hash.ts';
import { onePerTurn } from '../pace.ts';
import type { Log } from '../log.ts';
import { type MailRefusal, type ReceivedMail, refusal, takeLetter } from './receive-email.ts';

/**
 * Receives email by SMTP. An email is confirmed with 250 only after the caller has accepted it, so that the sending server keeps what we
 * have not stored. Every failure on our side is a 451, and that server keeps the email.
 */
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
  door?: MailDoor;
  /** A returned refusal is permanent. If it throws, the sending server retries. */
  accept: (mail: ReceivedMail) => Promise<MailRefusal | void>;
  log: Log;
};

export type Certificate = { key: Buffer; cert: Buffer };

/** Decides by the client's address which clients may connect and which recipients they may use; null admits. */
export type MailDoor = {
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
const OPEN_DOOR: MailDoor = { connects: () => null, leaves: () => {}, writesTo: () => null };

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
      const refused = door.connects(remoteAddress);
      if (refused === null) inside.add(id);
      callback(refused && refusal(refused));
    },
    onClose({ id, remoteAddress }) {
      if (inside.delete(id)) door.leaves(remoteAddress);
    },
    onAuth({ username, password }, _session, callback) {
      if (credentials && isKnown({ user: username ?? '', pass: password ?? '' }, credentials)) {
        return callback(null, { user: credentials.user });
      }
      callback(refusal({ code: 535, text: '5.7.8 Wrong user name or password' }));
    },
    onRcptTo({ address }, { envelope, remoteAddress }, callback) {
      const isFull = envelope.rcptTo.length >= recipientsMax;
      const refused = isFull ? TOO_MANY : door.writesTo(address, remoteAddress);
      callback(refused && refusal(refused));
    },
    onData(stream, session, callback) {
      const answered = async (): Promise<void> => {
        const refused = await takeLetter(stream, session, { ...options, held, pace });
        callback(refused, '2.0.0 Taken');
      };
      void answered();
    },
  };
}

const TOO_MANY: MailRefusal = { code: 452, text: '4.5.3 Too many recipients' };

function endInTime(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), CONNECTION_MS);
  timer.unref();
  socket.on('close', () => clearTimeout(timer));
}

function isKnown(given: { user: string; pass: string }, known: { user: string; pass: string }): boolean {
  const userIsRight = equalInConstantTime(Buffer.from(given.user), Buffer.from(known.user));
  return equalInConstantTime(Buffer.from(given.pass), Buffer.from(known.pass)) && userIsRight;
}
