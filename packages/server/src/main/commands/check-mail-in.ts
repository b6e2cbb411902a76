import { connect } from 'node:net';
import { type Check, fail, type InspectedConfig, ok, warn } from './checks.ts';
import { reachableHost, tryListen } from './listen-port.ts';

const GREETING_TIMEOUT_MS = 5_000;
const GREETING_MAX_CHARS = 1_000;

/** Checks the port for inbound mail, and whether a public name leads to it. */
export async function checkMailIn({ mailIn, relay }: InspectedConfig): Promise<Check[]> {
  if (!mailIn) return [];
  return [await checkPort(mailIn), checkDomain(mailIn.domain, relay !== null)];
}

function checkDomain(domain: string | null, hasRelay: boolean): Check {
  if (domain !== null) return ok('mail in', `Bounces and replies are sent to ${domain} (MAIL_DOMAIN)`);
  if (!hasRelay)
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

async function checkPort({ host, port }: NonNullable<InspectedConfig['mailIn']>): Promise<Check> {
  if (port === 0) return ok('mail in', 'MAIL_IN_PORT is 0: the system chooses a free port');
  const place = `MAIL_IN_PORT ${port} of ${host}`;
  const code = await tryListen(host, port);
  if (code === null) return ok('mail in', `${place} is free`);
  if (code !== 'EADDRINUSE') {
    const next =
      code === 'EACCES'
        ? 'Use a port above 1023, and forward port 25 of the public address to it'
        : 'Set MAIL_IN_HOST to an address of this machine';
    return fail('mail in', `Beckon cannot listen at ${place} (${code})`, next);
  }
  return (await greetingOf(host, port)).includes('Beckon')
    ? ok('mail in', `${place}: Beckon receives mail there`)
    : fail('mail in', `${place} is used by another program`, 'Stop that program, or set MAIL_IN_PORT');
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
