import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

/** An email at the receiving server. */
export type SunkEmail = { from: string; to: string[]; envid: string | null; raw: string };
export type SinkRefusal = { code: number; text: string } | null;

/** A receiving mail server: it accepts every email, counts the copies of each Message-ID, and refuses where a test says so. */
export type Sink = {
  port: number;
  /** Copies by Message-ID, without the angle brackets. */
  copies: Map<string, number>;
  emails: SunkEmail[];
  /** Returns how many clients have connected so far. */
  connections: () => number;
  close: () => Promise<void>;
};

export type SinkOptions = {
  port?: number;
  /** False if there are too many to keep. The copies are counted all the same. */
  keep?: boolean;
  size?: number;
  credentials?: { user: string; pass: string };
  tls?: { key: string; cert: string };
  pipelining?: boolean;
  atRcpt?: (address: string) => SinkRefusal;
  atBody?: (email: SunkEmail) => SinkRefusal;
};

export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const copies = new Map<string, number>();
  const emails: SunkEmail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    ...options.tls,
    ...(options.size === undefined ? {} : { size: options.size }),
    hideDSN: false,
    hidePIPELINING: options.pipelining === false,
    disableReverseLookup: true,
    authOptional: !options.credentials,
    allowInsecureAuth: true,
    disabledCommands: [...(options.tls ? [] : ['STARTTLS']), ...(options.credentials ? [] : ['AUTH'])],
    closeTimeout: 100,
    onConnect(_session, callback) {
      connections += 1;
      callback();
    },
    onAuth({ username, password }, _session, callback) {
      const isValid = username === options.credentials?.user && password === options.credentials?.pass;
      callback(isValid ? null : refusal({ code: 535, text: '5.7.8 No' }), { user: username ?? '' });
    },
    onRcptTo: ({ address }, _session, callback) => callback(refusal(options.atRcpt?.(address) ?? null)),
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('latin1');
        const { mailFrom, rcptTo, dsn } = session.envelope;
        const from = mailFrom ? mailFrom.address : '';
        const email = { from, to: rcptTo.map(({ address }) => address), envid: dsn?.envid ?? null, raw };
        const no = options.atBody?.(email) ?? null;
        if (no) return callback(refusal(no));
        const id = messageIdOf(raw);
        copies.set(id, (copies.get(id) ?? 0) + 1);
        if (options.keep !== false) emails.push(email);
        callback(null, `2.0.0 Ok: queued as ${session.id.toUpperCase()}`);
      });
    },
  });
  // Clients that hang up in the middle are the subject of some tests.
  server.on('error', () => {});
  const listening = server.listen(options.port ?? 0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    copies,
    emails,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function messageIdOf(raw: string): string {
  return /^message-id:\s*<([^>]*)>/im.exec(raw)?.[1] ?? '';
}

function refusal(no: SinkRefusal): Error | null {
  return no && Object.assign(new Error(no.text), { responseCode: no.code });
}
