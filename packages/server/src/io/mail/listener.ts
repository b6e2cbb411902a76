import { once } from 'node:events';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { equalInConstantTime } from '../../base/hash.ts';
import type { Log } from '../../base/log.ts';

/**
 * Mail that comes in by SMTP. A letter is answered with 250 only once whoever asked for it has taken it, so that the server
 * before us forgets nothing that we do not have; whatever goes wrong on our side is a 451, and that server keeps it.
 */
export type ReceivedMail = {
  from: string;
  to: string[];
  envid: string | null;
  raw: Buffer;
  /** The address of whoever handed it over. */
  remote: string;
};

export type MailListenerOptions = {
  host: string;
  /** 0 for any that is free. */
  port: number;
  sizeMax: number;
  /** Null where anybody who can connect may hand letters over. */
  credentials: { user: string; pass: string } | null;
  accept: (mail: ReceivedMail) => Promise<void>;
  log: Log;
};

export type MailListener = { port: number; close: () => Promise<void> };

const CLIENTS_MAX = 100;
const RECIPIENTS_MAX = 50;
const SILENCE_MS = 60_000;
const CLOSE_MS = 5_000;

export async function startMailListener(options: MailListenerOptions): Promise<MailListener> {
  const { host, port, sizeMax, credentials, log } = options;
  const server = new SMTPServer({
    size: sizeMax,
    maxClients: CLIENTS_MAX,
    socketTimeout: SILENCE_MS,
    closeTimeout: CLOSE_MS,
    banner: 'Beckon',
    disableReverseLookup: true,
    hideDSN: false,
    disabledCommands: credentials ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    authMethods: ['PLAIN', 'LOGIN'],
    authOptional: credentials === null,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, callback) {
      if (credentials && isKnown({ user: username ?? '', pass: password ?? '' }, credentials)) {
        return callback(null, { user: credentials.user });
      }
      callback(answer(535, '5.7.8 Wrong user name or password'));
    },
    onRcptTo(_address, session, callback) {
      const full = session.envelope.rcptTo.length >= RECIPIENTS_MAX;
      callback(full ? answer(452, '4.5.3 Too many recipients') : null);
    },
    onData(stream, session, callback) {
      const answered = async (): Promise<void> => {
        const refused = await take(stream, session, options);
        callback(refused, '2.0.0 Taken');
      };
      void answered();
    },
  });
  server.on('error', (error) => log.warn({ err: error }, 'mail.client_failed'));
  const listening = server.listen(port, host);
  await once(listening, 'listening');
  const address = listening.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Null where the letter was taken. */
async function take(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  options: MailListenerOptions,
): Promise<Error | null> {
  try {
    return await receive(stream, session, options);
  } catch (error) {
    options.log.error({ err: error }, 'mail.not_taken');
    return answer(451, '4.3.0 The letter could not be kept, try again later');
  }
}

/** A refusal that is the letter's own fault; anything thrown is ours. */
async function receive(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  { sizeMax, accept }: MailListenerOptions,
): Promise<Error | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // What is too long is read to its end, so that the client hears why, and kept no longer.
    if (bytes <= sizeMax) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > sizeMax || stream.sizeExceeded) {
    return answer(552, `5.3.4 The letter is larger than ${sizeMax} bytes`);
  }
  const { mailFrom, rcptTo, dsn } = session.envelope;
  await accept({
    from: mailFrom ? mailFrom.address : '',
    to: rcptTo.map(({ address }) => address),
    envid: dsn?.envid ?? null,
    raw: Buffer.concat(chunks),
    remote: session.remoteAddress,
  });
  return null;
}

function isKnown(given: { user: string; pass: string }, known: { user: string; pass: string }): boolean {
  const userIsRight = equalInConstantTime(Buffer.from(given.user), Buffer.from(known.user));
  return equalInConstantTime(Buffer.from(given.pass), Buffer.from(known.pass)) && userIsRight;
}

function answer(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
