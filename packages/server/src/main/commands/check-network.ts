import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { type Check, fail, type InspectedConfig, ok } from './checks.ts';
import { reachableHost, tryListen } from './listen-port.ts';

const RESPONSE_TIMEOUT_MS = 2_000;
const RESPONSE_MAX_CHARS = 100_000;

/** Checks that the relay accepts the login. */
export async function checkRelay({ relay }: InspectedConfig): Promise<Check[]> {
  if (!relay)
    return [ok('relay', 'SMTP_URL is not set: emails go to the test inbox, and never leave this machine')];
  const problem = await relay.probe();
  if (problem === null) return [ok('relay', `${relay.name} accepts the login`)];
  const next =
    'Check the address, user and password in SMTP_URL, and the name in the certificate of the relay';
  return [fail('relay', `${relay.name} does not accept the login: ${problem}`, next)];
}

export async function checkPorts(config: InspectedConfig): Promise<Check[]> {
  const checks: Check[] = [];
  for (const entry of config.ports) checks.push(await checkPort(config.host, entry));
  return checks;
}

async function checkPort(host: string, entry: InspectedConfig['ports'][number]): Promise<Check> {
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
