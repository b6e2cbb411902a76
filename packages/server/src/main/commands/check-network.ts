import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { connect, createServer } from 'node:net';
import { replacingProvider } from './check-relay-feedback.ts';
import { type InstallationCheck, fail, type InspectedConfig, ok, warn } from './checks.ts';

const RESPONSE_TIMEOUT_MS = 2_000;
const RESPONSE_MAX_CHARS = 100_000;

/** Checks that the relay accepts the login. */
export async function checkRelay({ relay }: InspectedConfig): Promise<InstallationCheck[]> {
  if (!relay)
    return [ok('relay', 'SMTP_URL is not set: emails go to the test inbox, and never leave this machine')];
  const problem = await relay.probe();
  if (problem === null) return [ok('relay', `${relay.name} accepts the login`)];
  const next =
    'Check the address, user and password in SMTP_URL, and the name in the certificate of the relay';
  return [fail('relay', `${relay.name} does not accept the login: ${problem}`, next)];
}

export async function checkPorts(config: InspectedConfig): Promise<InstallationCheck[]> {
  const checks: InstallationCheck[] = [];
  for (const entry of config.ports) checks.push(await checkPort(config.host, entry));
  return checks;
}

async function checkPort(host: string, entry: InspectedConfig['ports'][number]): Promise<InstallationCheck> {
  const { variable, port } = entry;
  const code = await tryListen(host, port);
  if (code === null) return ok('port', `${variable} ${port} is free`);
  if (code === 'EADDRINUSE')
    return (await isBeckon(host, entry))
      ? ok('port', `${variable} ${port}: Beckon serves there`)
      : fail(
          'port',
          `${variable} ${port} is used by another program`,
          `Stop that program, or set ${variable}`,
        );
  const next =
    code === 'EACCES' ? `Use a port above 1023 for ${variable}` : 'Set HOST to an address of this machine';
  return fail('port', `${variable}: Beckon cannot listen on port ${port} of ${host} (${code})`, next);
}

/** Each port of Beckon serves its version or its metrics. */
async function isBeckon(host: string, { port, tls }: { port: number; tls: boolean }): Promise<boolean> {
  const [version, metrics] = await Promise.all([
    responseOf({ host: reachableHost(host), port, tls, path: '/version' }),
    responseOf({ host: reachableHost(host), port, tls, path: '/metrics' }),
  ]);
  return /"data":\{[^{}]*"version":/.test(version) || metrics.includes('beckon_');
}

type Request = { host: string; port: number; tls: boolean; path: string };

/** The text of the response; empty without one. */
function responseOf({ host, port, tls, path }: Request): Promise<string> {
  return new Promise((resolve) => {
    const options = { host, port, path, agent: false, timeout: RESPONSE_TIMEOUT_MS };
    const read = (response: IncomingMessage): void => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > RESPONSE_MAX_CHARS) response.destroy();
      });
      response.on('close', () => resolve(text));
      response.on('error', () => resolve(text));
    };
    // Another check looks at the certificate.
    const request = tls ? getHttps({ ...options, rejectUnauthorized: false }, read) : getHttp(options, read);
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(''));
  });
}

const GREETING_TIMEOUT_MS = 5_000;
const GREETING_MAX_CHARS = 1_000;

/** Checks the port for inbound mail, and whether a public name leads to it. */
export async function checkMailIn({ mailIn, relay }: InspectedConfig): Promise<InstallationCheck[]> {
  if (!mailIn) return [];
  return [await checkMailPort(mailIn), checkDomain(mailIn.domain, relay?.name ?? null)];
}

function checkDomain(domain: string | null, relay: string | null): InstallationCheck {
  const provider = relay === null ? null : replacingProvider(relay);
  if (domain !== null && provider)
    return ok(
      'mail in',
      `Replies are sent to ${domain} (MAIL_DOMAIN). ${provider.title} replaces the return path of emails, so their bounces do not arrive there`,
    );
  if (domain !== null) return ok('mail in', `Bounces and replies are sent to ${domain} (MAIL_DOMAIN)`);
  if (relay === null)
    return ok(
      'mail in',
      'MAIL_DOMAIN is not set: emails stay in the test inbox, where you can reply to them',
    );
  return warn(
    'mail in',
    'MAIL_DOMAIN is not set: Beckon receives no bounces, complaints and replies',
    'Set MAIL_DOMAIN to a public name of this host, point its MX record here, and forward port 25 to MAIL_IN_PORT',
  );
}

async function checkMailPort({
  host,
  port,
}: NonNullable<InspectedConfig['mailIn']>): Promise<InstallationCheck> {
  if (port === 0) return ok('mail in', 'MAIL_IN_PORT is 0: the system chooses a free port');
  const address = `MAIL_IN_PORT ${port} of ${host}`;
  const code = await tryListen(host, port);
  if (code === null) return ok('mail in', `${address} is free`);
  if (code !== 'EADDRINUSE') {
    const next =
      code === 'EACCES'
        ? 'Use a port above 1023, and forward port 25 of the public address to it'
        : 'Set MAIL_IN_HOST to an address of this machine';
    return fail('mail in', `Beckon cannot listen at ${address} (${code})`, next);
  }
  return (await greetingOf(host, port)).includes('Beckon')
    ? ok('mail in', `${address}: Beckon receives mail there`)
    : fail('mail in', `${address} is used by another program`, 'Stop that program, or set MAIL_IN_PORT');
}

/** The first line of a mail server; empty without one. */
function greetingOf(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: reachableHost(host), port, timeout: GREETING_TIMEOUT_MS });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
      if (text.includes('\n') || text.length > GREETING_MAX_CHARS) socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(text));
  });
}

/** Tries to listen on a port. Returns null if it is free, else the error code of the system. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

/** The address at which a listener on this host can be reached from this machine. */
function reachableHost(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}
