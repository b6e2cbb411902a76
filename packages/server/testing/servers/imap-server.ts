import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

/**
 * What the server does wrong with the next email that is fetched. `cut`: the connection ends in the middle of the email. `hang`: nothing
 * more is sent. `oversized`: the announced size is far too large. `short`: fewer bytes than announced, and then a new response.
 * `other`: the bytes of an email with another UID. `unclosed`: a list without its end.
 */
export type ImapFault = 'cut' | 'hang' | 'oversized' | 'short' | 'other' | 'unclosed';

export type StoredMail = { uid: number; raw: string; receivedAt: Date };

/**
 * An IMAP server written from RFC 3501 and RFC 9051, with one folder, INBOX. It knows the commands that a reader of a mailbox needs, and
 * keeps everything that a client sends.
 */
export type ImapServer = {
  port: number;
  username: string;
  password: string;
  uidValidity: number;
  /** The lines of all clients, such as `b1 CAPABILITY`. */
  commands: string[];
  /** One for each of the next fetched emails. */
  faults: ImapFault[];
  /** Replaces the answer to a sign-in, such as `NO Invalid credentials`. */
  signInAnswer: string | null;
  /** Without it, the server offers LOGIN only. */
  hasPlain: boolean;
  deliver(raw: string, receivedAt?: Date): number;
  /** Gives new UIDs to all emails, as after a restored backup. */
  renumber(): void;
  /** Ends all connections, and accepts new ones. */
  restart(): void;
  stored: StoredMail[];
  close(): Promise<void>;
};

/** `encryption`: `tls` from the first byte, `starttls` on request, or `none`. */
export type ImapServerOptions = {
  encryption?: 'tls' | 'starttls' | 'none';
  /** Sent instead of the greeting. */
  greeting?: string;
  /** Sent together with the answer to STARTTLS, as an attacker on the way would. */
  injected?: string;
};

const TLS = {
  cert: readFileSync(new URL('tls/names.crt', import.meta.url)),
  key: readFileSync(new URL('tls/names.key', import.meta.url)),
};
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

export async function startImapServer({
  encryption = 'none',
  greeting = '* OK IMAP4rev1 ready',
  injected = '',
}: ImapServerOptions = {}): Promise<ImapServer> {
  const sockets = new Set<Socket>();
  const state: ImapServer = {
    port: 0,
    username: 'replies@acme.test',
    password: 'correct horse "battery" staple',
    uidValidity: 1_700_000_001,
    commands: [],
    faults: [],
    signInAnswer: null,
    hasPlain: true,
    stored: [],
    deliver(raw, receivedAt = new Date()) {
      const uid = Math.max(0, ...state.stored.map((mail) => mail.uid)) + 1;
      state.stored.push({ uid, raw: raw.replaceAll(/\r?\n/g, '\r\n'), receivedAt });
      return uid;
    },
    renumber() {
      state.uidValidity += 1;
      state.stored = state.stored.map((mail, at) => ({ ...mail, uid: at + 1 }));
    },
    restart() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      state.restart();
      server.close();
      await once(server, 'close');
    },
  };
  const onConnection = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    serve(socket, { state, greeting, injected, offersTls: encryption === 'starttls' });
  };
  const server: Server =
    encryption === 'tls' ? createTlsServer(TLS, onConnection) : createServer(onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.port = (server.address() as AddressInfo).port;
  return state;
}

type Serving = { state: ImapServer; greeting: string | null; injected: string; offersTls: boolean };

function serve(socket: Socket, { state, greeting, injected, offersTls }: Serving): void {
  let held = '';
  let isSignedIn = false;
  let awaited: ((line: string) => void) | null = null;
  const say = (line: string): void => void (socket.writable && socket.write(`${line}\r\n`, 'latin1'));
  if (greeting !== null) say(greeting);

  const signIn = (tag: string, username: string, password: string): void => {
    const isRight = username === state.username && password === state.password;
    isSignedIn = state.signInAnswer === null && isRight;
    if (isSignedIn) say(`${tag} OK signed in`);
    else say(`${tag} ${state.signInAnswer ?? `NO [AUTHENTICATIONFAILED] wrong password ${password}`}`);
  };

  function answer(line: string): void {
    if (awaited) {
      const next = awaited;
      awaited = null;
      next(line);
      return;
    }
    state.commands.push(line);
    const [, tag = '*', command = '', rest = ''] = /^(\S+) (UID \S+|\S+) ?(.*)$/.exec(line) ?? [];
    const name = command.toUpperCase();
    if (isSignedIn) answerSignedIn({ tag, name, rest });
    else answerStranger({ tag, name, rest });
  }

  function answerStranger({ tag, name, rest }: { tag: string; name: string; rest: string }): void {
    switch (name) {
      case 'CAPABILITY':
        say(`* CAPABILITY IMAP4rev1${capabilities()}`);
        return say(`${tag} OK done`);
      case 'STARTTLS':
        return offersTls ? encrypt(tag) : say(`${tag} BAD not offered`);
      case 'AUTHENTICATE':
        awaited = (encoded) => {
          const [, username, password] = Buffer.from(encoded, 'base64').toString().split('\0');
          signIn(tag, String(username), String(password));
        };
        return say('+ ');
      case 'LOGIN': {
        const [username, password] = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
          text.replaceAll(/\\(.)/g, '$1'),
        );
        return signIn(tag, String(username), String(password));
      }
      default:
        return say(`${tag} NO sign in first`);
    }
  }

  function capabilities(): string {
    if (offersTls) return ' STARTTLS LOGINDISABLED';
    return state.hasPlain ? ' AUTH=PLAIN' : '';
  }

  function encrypt(tag: string): void {
    socket.removeAllListeners('data');
    socket.write(`${tag} OK begin TLS\r\n${injected}`);
    const encrypted = new TLSSocket(socket, { ...TLS, isServer: true });
    serve(encrypted, { state, greeting: null, injected: '', offersTls: false });
  }

  function answerSignedIn({ tag, name, rest }: { tag: string; name: string; rest: string }): void {
    switch (name) {
      case 'EXAMINE':
        if (rest !== '"INBOX"') return say(`${tag} NO no such folder`);
        say(String.raw`* FLAGS (\Answered \Seen)`);
        say(`* ${state.stored.length} EXISTS`);
        say(`* OK [UIDVALIDITY ${state.uidValidity}] UIDs valid`);
        say(`* OK [UIDNEXT ${Math.max(0, ...state.stored.map(({ uid }) => uid)) + 1}] Predicted next UID`);
        return say(`${tag} OK [READ-ONLY] opened`);
      case 'UID SEARCH':
        say(`* SEARCH ${search(state, rest).join(' ')}`.trimEnd());
        return say(`${tag} OK done`);
      case 'UID FETCH':
        return fetch(rest, tag);
      default:
        return say(`${tag} BAD unknown command`);
    }
  }

  function fetch(rest: string, tag: string): void {
    const [, digits = '0', what = ''] = /^(\d+) \(UID (.*)\)$/.exec(rest) ?? [];
    const mail = state.stored.find(({ uid }) => uid === Number(digits));
    if (mail && what === 'RFC822.SIZE') say(`* 1 FETCH (UID ${mail.uid} RFC822.SIZE ${mail.raw.length})`);
    if (mail && what === 'BODY.PEEK[]' && !sendBody(mail)) return;
    // A change of another email, as servers report them at any time.
    say(String.raw`* 2 FETCH (FLAGS (\Seen \Recent) UID 4000000000)`);
    say(`${tag} OK done`);
  }

  /** Returns false if the server says nothing more. */
  function sendBody({ uid, raw }: StoredMail): boolean {
    const fault = state.faults.shift();
    const size = Buffer.byteLength(raw, 'latin1');
    if (fault === 'oversized') {
      say(`* 1 FETCH (UID ${uid} BODY[] {4294967295}`);
      return false;
    }
    if (fault === 'unclosed') {
      say(`* 1 FETCH (UID ${uid} BODY[] ("half`);
      return true;
    }
    const half = raw.slice(0, raw.length / 2);
    say(`* 1 FETCH (UID ${fault === 'other' ? uid + 1 : uid} BODY[] {${size}}`);
    if (fault === 'cut' || fault === 'hang') {
      socket.write(half, 'latin1');
      if (fault === 'cut') setImmediate(() => socket.destroy());
      return false;
    }
    socket.write(fault === 'short' ? half : raw, 'latin1');
    say(')');
    return true;
  }

  socket.on('data', (bytes: Buffer) => {
    held += bytes.toString('latin1');
    for (let end = held.indexOf('\r\n'); end >= 0; end = held.indexOf('\r\n')) {
      const line = held.slice(0, end);
      held = held.slice(end + 2);
      answer(line);
    }
  });
}

function search({ stored }: ImapServer, what: string): number[] {
  const [, from, to] = /^UID (\d+):(\d+|\*)$/.exec(what) ?? [];
  const [, day, month = '', year] = /^SINCE (\d{1,2})-(\w{3})-(\d{4})$/.exec(what) ?? [];
  if (from !== undefined && to !== undefined) {
    const newest = Math.max(0, ...stored.map(({ uid }) => uid));
    const [low, high] = [Number(from), to === '*' ? newest : Number(to)].toSorted((a, b) => a - b);
    return stored.map(({ uid }) => uid).filter((uid) => uid >= (low ?? 0) && uid <= (high ?? 0));
  }
  const since = Date.UTC(Number(year), MONTHS.indexOf(month), Number(day));
  return stored.filter(({ receivedAt }) => receivedAt.getTime() >= since).map(({ uid }) => uid);
}
