import { byteSource, type ByteSource } from './byte-source.ts';
import { type ConnectOptions, openSocket, secure } from './connect.ts';
import { ImapError, protocolError } from './imap-error.ts';
import { fetchItems, type ImapResponse, readNumber, readResponse, searchUids, textOf } from './response.ts';

export type ImapOptions = ConnectOptions & {
  username: string;
  password: string;
  /** How long the server may send nothing. */
  silenceMs: number;
  /** How long the whole session may take, so that a slow server cannot hold a worker. */
  totalMs: number;
};

/** A folder that was opened for reading. An email is identified by both `uidValidity` and its UID. */
export type ImapFolder = {
  uidValidity: number;
  /** The UID that the next email will have. */
  uidNext: number;
};

/** A session with a mailbox. It only reads: the folder is opened with EXAMINE and emails are fetched with PEEK. */
export type ImapSession = {
  examine(folder: string): Promise<ImapFolder>;
  /** Returns the UIDs from `from` to `to` in ascending order. */
  uidsBetween(from: number, to: number): Promise<number[]>;
  /** Returns the UIDs of emails that the server received on this day or later. */
  uidsSince(day: Date): Promise<number[]>;
  /** Returns the size of an email. Null: it no longer exists. */
  sizeOf(uid: number): Promise<number | null>;
  /** Returns the bytes of an email. Null: it no longer exists. */
  fetch(uid: number, maxBytes: number): Promise<Buffer | null>;
  close(): void;
};

/** Responses that are not about an email. */
const TEXT_MAX_BYTES = 512 * 1024;
/** What a server may send in front of the answer to one command. */
const UNTAGGED_MAX = 20_000;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Connects, encrypts and signs in. Throws an `ImapError` whose message can be shown. */
export async function openImap(options: ImapOptions): Promise<ImapSession> {
  const line = await openLine(options);
  try {
    await signIn(line, options);
  } catch (error) {
    line.close();
    throw error;
  }
  return sessionOf(line);
}

function sessionOf(line: Line): ImapSession {
  return {
    async examine(folder) {
      const { responses } = await line.command(`EXAMINE ${quoted(encodeFolder(folder))}`, {
        failure: 'folder',
      });
      const texts = responses.map(textOf);
      return { uidValidity: codeOf(texts, 'UIDVALIDITY'), uidNext: codeOf(texts, 'UIDNEXT') };
    },
    async uidsBetween(from, to) {
      const uids = await search(line, `UID ${from}:${to}`);
      return uids.filter((uid) => uid >= from && uid <= to);
    },
    uidsSince: (day) =>
      search(line, `SINCE ${day.getUTCDate()}-${MONTHS[day.getUTCMonth()]}-${day.getUTCFullYear()}`),
    async sizeOf(uid) {
      const items = await fetchOne(line, uid, { what: 'RFC822.SIZE', maxBytes: TEXT_MAX_BYTES });
      return items && readNumber(items.get('RFC822.SIZE'));
    },
    async fetch(uid, maxBytes) {
      const items = await fetchOne(line, uid, { what: 'BODY.PEEK[]', maxBytes: maxBytes + TEXT_MAX_BYTES });
      const body = items?.get('BODY[]');
      if (body === undefined || Array.isArray(body)) return null;
      return typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    },
    close: () => line.close(),
  };
}

async function search(line: Line, what: string): Promise<number[]> {
  const { responses } = await line.command(`UID SEARCH ${what}`);
  const uids = responses.flatMap((response) => searchUids(response) ?? []);
  return [...new Set(uids)].toSorted((a, b) => a - b);
}

type Fetching = { what: string; maxBytes: number };

/** A server may report changes of other emails in between, and could even send another email. Only the requested one counts. */
async function fetchOne(line: Line, uid: number, { what, maxBytes }: Fetching) {
  const { responses } = await line.command(`UID FETCH ${uid} (UID ${what})`, { maxBytes });
  const name = what.replace('.PEEK', '');
  for (const response of responses) {
    const items = fetchItems(response);
    if (items && readNumber(items.get('UID')) === uid && items.has(name)) return items;
  }
  return null;
}

function codeOf(texts: string[], name: string): number {
  for (const text of texts) {
    const [, digits] = new RegExp(`^\\* OK \\[${name} (\\d{1,10})\\]`, 'i').exec(text) ?? [];
    const number = readNumber(digits);
    if (number !== null) return number;
  }
  throw protocolError(`EXAMINE has no ${name}`);
}

type CommandOptions = { maxBytes?: number; failure?: 'sign_in' | 'folder'; continued?: string };
type Answer = { responses: ImapResponse[]; text: string };

/** One connection, on which commands follow one another. */
type Line = {
  greeting: string;
  /** `continued`: the line that the server asks for with `+`. Throws if the server does not answer OK. */
  command(text: string, options?: CommandOptions): Promise<Answer>;
  /** Encrypts the connection. */
  upgrade(): Promise<void>;
  close(): void;
};

async function openLine(options: ImapOptions): Promise<Line> {
  const { address, silenceMs, totalMs } = options;
  let socket = await openSocket(options);
  let source: ByteSource = byteSource(socket, { silenceMs });
  let commands = 0;
  const deadline = setTimeout(() => socket.destroy(), totalMs);
  const close = (): void => {
    clearTimeout(deadline);
    socket.destroy();
  };

  const command: Line['command'] = async (text, { maxBytes = TEXT_MAX_BYTES, failure, continued } = {}) => {
    commands += 1;
    const tag = `b${commands}`;
    socket.write(`${tag} ${text}\r\n`);
    const responses: ImapResponse[] = [];
    let isContinued = false;
    for (let left = maxBytes; ;) {
      const response = await readResponse(source, left);
      const head = textOf(response);
      const ending = endOf(head, { tag, failure, credentials: options });
      if (ending !== null) return { responses, text: ending };
      if (head.startsWith('+') && continued !== undefined && !isContinued) {
        isContinued = true;
        socket.write(`${continued}\r\n`);
      }
      left -= response.reduce((bytes, part) => bytes + part.length, 0);
      if (responses.push(response) > UNTAGGED_MAX) throw protocolError('it sends too many responses');
    }
  };

  try {
    const greeting = textOf(await readResponse(source, TEXT_MAX_BYTES));
    // A server that is signed in before TLS cannot be told apart from an attacker on the way.
    if (!/^\* OK\b/i.test(greeting)) throw protocolError('its greeting is not OK');
    const upgrade = async (): Promise<void> => {
      // What was sent before TLS may be from an attacker, and must not count as sent within TLS.
      if (source.hasMore()) throw protocolError('it sent more than the answer to STARTTLS');
      socket = await secure(socket, { ...options, host: address.host });
      source = byteSource(socket, { silenceMs });
    };
    return { greeting, command, upgrade, close };
  } catch (error) {
    close();
    throw error;
  }
}

type Ending = { tag: string; failure: CommandOptions['failure']; credentials: Credentials };

/** Returns the rest of a response that ends a command with OK. Null: the command goes on. Throws if it ended otherwise. */
function endOf(head: string, { tag, failure, credentials }: Ending): string | null {
  if (/^\* BYE\b/i.test(head)) throw new ImapError('closed', refusalText(head.slice(2), credentials));
  if (!head.startsWith(`${tag} `)) return null;
  const ending = head.slice(tag.length + 1);
  if (/^OK\b/i.test(ending)) return ending;
  throw new ImapError(failure ?? 'protocol', refusalText(ending, credentials));
}

async function signIn(line: Line, { address, username, password }: ImapOptions): Promise<void> {
  if (address.encryption === 'starttls') {
    await line.command('STARTTLS');
    await line.upgrade();
  }
  // What the greeting says before TLS does not count.
  const { responses } = await line.command('CAPABILITY');
  const capabilities = new Set(
    responses
      .map(textOf)
      .filter((text) => /^\* CAPABILITY /i.test(text))
      .flatMap((text) => text.toUpperCase().split(' ')),
  );
  if (capabilities.has('AUTH=PLAIN')) {
    const continued = plainCredentials({ username, password });
    await line.command('AUTHENTICATE PLAIN', { failure: 'sign_in', continued });
    return;
  }
  if (capabilities.has('LOGINDISABLED')) throw new ImapError('sign_in', NO_PASSWORDS);
  await line.command(`LOGIN ${quoted(username)} ${quoted(password)}`, { failure: 'sign_in' });
}

const NO_PASSWORDS = 'The server accepts no sign-in with a password.';

/** Neither a quote nor a line end can leave the string. */
function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[^\x20-\x7e]/.test(text))
    throw new ImapError('sign_in', 'The server accepts only ASCII characters in the user name and password.');
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** An ampersand begins an encoded character (RFC 3501, section 5.1.3). */
function encodeFolder(folder: string): string {
  return folder.replaceAll('&', '&-');
}

const SHOWN_MAX_CHARS = 200;

type Credentials = Pick<ImapOptions, 'username' | 'password'>;

function plainCredentials({ username, password }: Credentials): string {
  return Buffer.from(`\0${username}\0${password}`).toString('base64');
}

/** Returns the words of a server for a member, without the password, which some servers repeat. */
function refusalText(text: string, credentials: Credentials): string {
  const secrets = [credentials.password, plainCredentials(credentials)].filter((secret) => secret !== '');
  const safe = secrets.reduce((kept, secret) => kept.replaceAll(secret, '[password]'), text);
  const shown = safe
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, SHOWN_MAX_CHARS);
  return `The server answered: ${shown}`;
}
