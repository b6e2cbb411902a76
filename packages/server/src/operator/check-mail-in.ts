import { connect, createServer } from 'node:net';
import { type Check, fail, type InspectedConfig, ok, warn } from './checks.ts';

const GREETED_WITHIN_MS = 5_000;
const GREETING_MAX_CHARS = 1_000;

/** Where mail comes in, and whether anybody out there is told so. */
export async function checkMailIn({ mailIn, relay }: InspectedConfig): Promise<Check[]> {
  if (!mailIn) return [];
  const place = `MAIL_IN_PORT ${mailIn.port} of ${mailIn.host}`;
  const checks = [await checkPlace(mailIn, place)];
  if (mailIn.domain !== null)
    return [...checks, ok('mail in', `Bounces and answers are sent to ${mailIn.domain} (MAIL_DOMAIN)`)];
  const unheard = 'MAIL_DOMAIN is not set';
  if (!relay)
    return [
      ...checks,
      ok('mail in', `${unheard}: letters stay in the outbox, and can be answered from here`),
    ];
  const next =
    'Set MAIL_DOMAIN to a public name of this host, point the MX of that name here, and let its port 25 lead to MAIL_IN_PORT';
  return [
    ...checks,
    warn('mail in', `${unheard}: of bounces, complaints and answers by mail nothing is heard here`, next),
  ];
}

type Place = NonNullable<InspectedConfig['mailIn']>;

async function checkPlace({ host, port }: Place, place: string): Promise<Check> {
  if (port === 0) return ok('mail in', 'MAIL_IN_PORT is 0: any free port');
  const code = await tryListen(host, port);
  if (code === null) return ok('mail in', `${place} is free`);
  if (code !== 'EADDRINUSE') {
    const next =
      code === 'EACCES'
        ? 'Use a port above 1023, and let port 25 of the public address lead to it'
        : 'Set MAIL_IN_HOST to an address of this machine';
    return fail('mail in', `Nothing can listen at ${place} (${code})`, next);
  }
  return (await greetingOf(host, port)).includes('Beckon')
    ? ok('mail in', `${place}: Beckon takes mail in there`)
    : fail('mail in', `${place} is taken by another program`, 'Stop that program, or set MAIL_IN_PORT');
}

/** Null where it went well, else the system's word for why not. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

/** The line with which a mail server begins; an empty one where nothing is said. */
function greetingOf(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    const socket = connect({ host: reachable, port, timeout: GREETED_WITHIN_MS });
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
