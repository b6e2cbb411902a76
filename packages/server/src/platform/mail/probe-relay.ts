import { type SmtpConnectionOptions, openSmtpConnection } from './connection.ts';
import { readRelayUrl } from './relay-url.ts';

/**
 * Checks whether a relay accepts our connection, including encryption and password. Returns the reason if not, else null. It sends no
 * email.
 */
export async function probeRelay(
  url: string,
  {
    withinMs,
    tls,
    resolveHost,
  }: { withinMs: number } & Pick<SmtpConnectionOptions, 'resolveHost'> & {
      tls?: SmtpConnectionOptions['tls'];
    },
): Promise<string | null> {
  const cut = new AbortController();
  const timeouts = { connectMs: withinMs, silenceMs: withinMs, emailMs: withinMs, idleMs: 0 };
  const opening = await openSmtpConnection({
    address: readRelayUrl(url),
    name: undefined,
    tls,
    resolveHost,
    timeouts,
    signal: cut.signal,
  });
  if (!opening.line) {
    const { stage, reply, reason } = opening.ending;
    return `${stage}: ${reply || reason}`;
  }
  opening.line.hangUp('');
  return null;
}
