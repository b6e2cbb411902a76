import { isIP, isIPv4 } from 'node:net';
import { deliveryAddress } from '../platform/net/address.ts';
import { isEmail } from '../platform/records/email.ts';
import { readClient } from '../modules/ingest/index.ts';
import type { Parsed } from './env-reader.ts';

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
