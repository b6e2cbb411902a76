import { isIP } from 'node:net';
import { Fault } from '../fault.ts';

export type RelayAddress = {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  /** The use of STARTTLS: required, used if offered, or never used. */
  startTls: 'required' | 'optional' | 'none';
  credentials: { user: string; pass: string } | null;
  /** The number of connections that the relay allows us; null if not given. */
  connections: number | null;
};

/**
 * `smtp://user:pass@host:port?tls=required|optional|none&connections=10`, or `smtps://`. Encryption is required for every relay that is not
 * on this host, unless the URL says otherwise.
 */
export function readRelayUrl(text: string): RelayAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') throw badUrl();
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decoded(url.username);
  return {
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    startTls: readStartTls(url.searchParams.get('tls'), host),
    credentials: user ? { user, pass: decoded(url.password) } : null,
    connections: readConnections(url.searchParams.get('connections')),
  };
}

function readStartTls(value: string | null, host: string): RelayAddress['startTls'] {
  if (value === null) return isLoopback(host) ? 'none' : 'required';
  if (value !== 'required' && value !== 'optional' && value !== 'none') throw badUrl();
  return value;
}

const CONNECTIONS_MAX = 100;

function readConnections(value: string | null): number | null {
  if (value === null) return null;
  const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (count < 1 || count > CONNECTIONS_MAX) throw badUrl();
  return count;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl();
  }
}

/** The URL is not repeated, because it contains a password. */
function badUrl(): Fault {
  const message =
    'The address of the relay has the form smtp://user:password@host:port or smtps://…, with ?tls=required, optional or none, and ?connections=1 to 100.';
  return new Fault('validation_failed', { details: [{ message, field: 'SMTP_URL' }] });
}
