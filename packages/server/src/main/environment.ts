import { isIP, isIPv4 } from 'node:net';
import { readClient } from '../modules/ingest/index.ts';
import { deliveryAddress } from '../platform/net/address.ts';
import { isEmail } from '../platform/records/email.ts';

export type Env = Record<string, string | undefined>;
export type ReadText = (path: string) => string;
export type ConfigFault = { variable: string; message: string };
/** The value, or a description of the allowed values. */
type Parsed<T> = { value: T } | { allowed: string };

const PORT_MAX = 65_535;

/** Collects faults instead of throwing, so that all of them are reported at once. Null: not set, or invalid and noted. */
export function createReader(env: Env, readText: ReadText) {
  const faults: ConfigFault[] = [];
  const fault = (variable: string, message: string): null => {
    faults.push({ variable, message });
    return null;
  };
  // A variable that a compose file passes as `NAME=` is not set.
  const text = (name: string): string | null => env[name]?.trim() || null;

  const parsed = <T>(name: string, parse: (text: string) => Parsed<T>): T | null =>
    checked(name, text(name), parse);
  function checked<T>(name: string, raw: string | null, parse: (text: string) => Parsed<T>): T | null {
    if (raw === null) return null;
    const result = parse(raw);
    return 'value' in result ? result.value : fault(name, `must be ${result.allowed}`);
  }

  return {
    faults,
    fault,
    text,
    parsed,
    isSet: (name: string) => text(name) !== null,
    /** Directly or by a file. */
    isSecretSet: (name: string) => text(name) !== null || text(`${name}_FILE`) !== null,
    port: (name: string) => parsed(name, readPort),
    count: (name: string, max: number) => parsed<number>(name, (raw) => readCount(raw, max)),
    oneOf: <T extends string>(name: string, values: readonly T[]) =>
      parsed<T>(name, (raw) => {
        const value = values.find((candidate) => candidate === raw);
        const allowed = values.length === 1 ? `${values[0]} or not set` : `one of ${values.join(', ')}`;
        return value === undefined ? { allowed: `${allowed}, not ${JSON.stringify(raw)}` } : { value };
      }),
    list: (name: string, allowed: string, isAllowed: (entry: string) => boolean) =>
      parsed<string[]>(name, (raw) => {
        const entries = raw.split(',').map((entry) => entry.trim());
        const wrong = entries.find((entry) => !isAllowed(entry));
        return wrong === undefined
          ? { value: entries }
          : { allowed: `${allowed}, separated by commas, not ${JSON.stringify(wrong)}` };
      }),
    secret,
    parsedSecret: <T>(name: string, parse: (text: string) => Parsed<T>) =>
      checked(text(`${name}_FILE`) === null ? name : `${name}_FILE`, secret(name), parse),
  };

  /** Reads the variable itself or the file that `<name>_FILE` names; its value is in no message. */
  function secret(name: string): string | null {
    const [value, file] = [text(name), text(`${name}_FILE`)];
    if (value !== null && file !== null) return fault(name, `must not be set together with ${name}_FILE`);
    if (file === null) return value;
    const read = readSecretFile(readText, file);
    return 'value' in read ? read.value : fault(`${name}_FILE`, read.wrong);
  }
}

/** Returns the content of the file, or what is wrong with it. */
function readSecretFile(readText: ReadText, file: string): { value: string } | { wrong: string } {
  try {
    const value = readText(file).trim();
    return value === '' ? { wrong: `names an empty file: ${file}` } : { value };
  } catch (error) {
    return { wrong: `must name a readable file (${error instanceof Error ? error.message : String(error)})` };
  }
}

function readPort(raw: string): Parsed<number> {
  return /^\d{1,5}$/.test(raw) && Number(raw) <= PORT_MAX
    ? { value: Number(raw) }
    : { allowed: `a port from 0 (any that is free) to ${PORT_MAX}, not ${JSON.stringify(raw)}` };
}

function readCount(raw: string, max: number): Parsed<number> {
  return /^[1-9]\d{0,5}$/.test(raw) && Number(raw) <= max
    ? { value: Number(raw) }
    : { allowed: `a whole number from 1 to ${max}, not ${JSON.stringify(raw)}` };
}

export function readPublicUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  const isOrigin =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.pathname === '/' &&
    url.search + url.hash + url.username + url.password === '';
  return isOrigin
    ? { value: url.origin }
    : { allowed: `an address such as https://beckon.example, without a path, not ${JSON.stringify(text)}` };
}

/** The text itself is in no message: it contains a password. */
export function readDatabaseUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  return url && ['postgres:', 'postgresql:'].includes(url.protocol)
    ? { value: text }
    : { allowed: 'a PostgreSQL address such as postgres://user:password@host:5432/database' };
}

/** Parses `beckon-js/1.4.0,beckon-py/0.9.0`. Names are in lower case, because the products of a User-Agent are compared that way. */
export function readMinimums(text: string): Parsed<Map<string, string>> {
  const minimums = new Map<string, string>();
  for (const entry of text.split(',')) {
    const client = readClient(entry.trim());
    if (!client || entry.trim() !== `${client.name}/${client.version}`)
      return {
        allowed: `clients and versions such as beckon-js/1.4.0, separated by commas, not ${JSON.stringify(entry)}`,
      };
    minimums.set(client.name.toLowerCase(), client.version);
  }
  return { value: minimums };
}

export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128));
}

/** The text itself is in no message: it contains a password. */
export function readSmtpUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  const isRelay = url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '';
  return isRelay && ['', '/'].includes(url.pathname) && url.hash === ''
    ? { value: text }
    : {
        allowed:
          'the address of a relay such as smtp://user:password@mail.example:587 or smtps://mail.example',
      };
}

const LABEL = '[a-z0-9_](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})+$`);

export function readHostName(text: string): Parsed<string> {
  const name = text.toLowerCase();
  return HOST_NAME.test(name)
    ? { value: name }
    : { allowed: `a host name such as mail.beckon.example, not ${JSON.stringify(text)}` };
}

export function readMailbox(text: string): Parsed<string> {
  return isEmail(text)
    ? { value: deliveryAddress(text) }
    : { allowed: `an email address such as beckon@acme.example, not ${JSON.stringify(text)}` };
}

/** Accepts what Node's resolver accepts: an address, followed by a port if it is not 53. */
export function isServerAddress(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  return isIP(bracketed ?? plain) !== 0 && (port === undefined || Number(port) <= 65_535);
}

/** Parses the URL of a model, without its key. A fragment names the protocol. */
export function readModelUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  const isEndpoint =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username + url.password + url.search === '' &&
    ['', '#anthropic'].includes(url.hash);
  return isEndpoint
    ? { value: text }
    : {
        allowed:
          'the address of a model such as https://api.openai.com/v1, followed by #anthropic for the Anthropic protocol, and without a key',
      };
}
