import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { createServer } from 'node:net';
import { type Check, fail, type InspectedConfig, ok } from './checks.ts';

const ANSWER_WITHIN_MS = 2_000;
const ANSWER_MAX_CHARS = 100_000;

/** Whether letters can be handed over: the relay lets us in, or there is none and they stay here. */
export async function checkRelay({ relay }: InspectedConfig): Promise<Check[]> {
  if (!relay)
    return [ok('relay', 'SMTP_URL is not set: letters go into the outbox, and never leave this machine')];
  const why = await relay.probe();
  if (why === null) return [ok('relay', `${relay.name} lets us in`)];
  const next =
    'Check the address, the user and the password in SMTP_URL, and that its certificate is for that name';
  return [fail('relay', `${relay.name} does not let us in: ${why}`, next)];
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
    return (await isOurs(host, entry))
      ? ok('port', `${variable} ${port}: Beckon serves there`)
      : fail(
          'port',
          `${variable} ${port} is taken by another program`,
          `Stop that program, or set ${variable}`,
        );
  const message = `${variable}: nothing can listen on port ${port} of ${host} (${code})`;
  const next =
    code === 'EACCES' ? `Use a port above 1023 for ${variable}` : 'Set HOST to an address of this machine';
  return fail('port', message, next);
}

/** Null where it went well, else the system's word for why not. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => {
      server.close(() => resolve(null));
    });
  });
}

/** Every port of ours tells its release, or its numbers. */
async function isOurs(host: string, { port, tls }: { port: number; tls: boolean }): Promise<boolean> {
  const [version, metrics] = await Promise.all([
    ask({ host: reachable(host), port, tls, path: '/version' }),
    ask({ host: reachable(host), port, tls, path: '/metrics' }),
  ]);
  return /"data":\{[^{}]*"version":/.test(version) || metrics.includes('beckon_');
}

function reachable(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}

type Question = { host: string; port: number; tls: boolean; path: string };

/** The text of the answer; an empty one where there was none. */
function ask({ host, port, tls, path }: Question): Promise<string> {
  return new Promise((resolve) => {
    const options = { host, port, path, agent: false, timeout: ANSWER_WITHIN_MS };
    const read = (response: IncomingMessage): void => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > ANSWER_MAX_CHARS) response.destroy();
      });
      response.on('close', () => resolve(text));
      response.on('error', () => resolve(text));
    };
    // Whether its certificate is trusted is another question than whose port it is.
    const request = tls ? getHttps({ ...options, rejectUnauthorized: false }, read) : getHttp(options, read);
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(''));
  });
}
