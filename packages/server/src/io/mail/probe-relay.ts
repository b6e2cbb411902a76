import { type LineOptions, openLine } from './line.ts';
import { readRelayUrl } from './relay-url.ts';

/** Whether a relay lets us in, encryption and password included: why not, or null where it does. Nothing is sent. */
export async function probeRelay(
  url: string,
  { withinMs, tls }: { withinMs: number; tls?: LineOptions['tls'] },
): Promise<string | null> {
  const cut = new AbortController();
  const timeouts = { connectMs: withinMs, silenceMs: withinMs, letterMs: withinMs, idleMs: 0 };
  const opening = await openLine({
    address: readRelayUrl(url),
    name: undefined,
    tls,
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
