import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, rootCertificates } from 'node:tls';
import type { ResolveHost } from '../outbound/host-guard.ts';
import { ImapError, type ImapFailure } from './imap-error.ts';

export type ImapAddress = {
  host: string;
  port: number;
  /** `none` is for servers of the operator only: the password would be readable on the way. */
  encryption: 'tls' | 'starttls' | 'none';
};

export type ConnectOptions = {
  address: ImapAddress;
  /** Returns the address to connect to, so that no setting reaches a host within the network of the server. */
  resolveHost: ResolveHost;
  /** Trusted in addition to the usual authorities. */
  ca?: string | undefined;
  connectMs: number;
};

/** Opens a connection, with TLS unless the address says otherwise. Nothing is read from it yet. */
export async function openSocket({ address, ...options }: ConnectOptions): Promise<Socket> {
  const { host, port, encryption } = address;
  const target = await resolved(options.resolveHost, host);
  const socket = connectTcp({ host: target, port });
  await opened(socket, { event: 'connect', failure: 'connect', withinMs: options.connectMs });
  return encryption === 'tls' ? secure(socket, { host, ...options }) : socket;
}

/** Encrypts an open connection. The certificate must be for the name that the member entered. */
export async function secure(
  socket: Socket,
  { host, ca, connectMs }: { host: string } & Pick<ConnectOptions, 'ca' | 'connectMs'>,
): Promise<Socket> {
  const options: ConnectionOptions = {
    socket,
    minVersion: 'TLSv1.2',
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  };
  const encrypted = connectTls(options);
  await opened(encrypted, { event: 'secureConnect', failure: 'tls', withinMs: connectMs });
  return encrypted;
}

async function resolved(resolveHost: ResolveHost, host: string): Promise<string> {
  try {
    return await resolveHost(host);
  } catch (error) {
    throw new ImapError('connect', error instanceof Error ? `${error.message}.` : 'Unknown host.');
  }
}

type Opening = { event: 'connect' | 'secureConnect'; failure: ImapFailure; withinMs: number };

async function opened(socket: Socket, { event, failure, withinMs }: Opening): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (error: Error): void => reject(failureOf(error, failure));
  const end = (): void => reject(new ImapError(failure, 'The server closed the connection.'));
  const late = setTimeout(
    () => reject(new ImapError('timeout', 'The server did not answer in time.')),
    withinMs,
  );
  socket.once(event, resolve).once('error', fail).once('close', end);
  // An error after the connection was opened is seen as its end by whoever reads it.
  socket.on('error', () => {});
  try {
    await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
    socket.off(event, resolve).off('error', fail).off('close', end);
  }
}

/** The messages of Node.js contain addresses, so only their code is shown. */
function failureOf(error: Error, failure: ImapFailure): ImapError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
  const what = failure === 'tls' ? 'The TLS connection failed' : 'The connection failed';
  return new ImapError(failure, `${what} (${code}).`);
}
