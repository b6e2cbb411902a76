import type { RelayContext, RelayEmail } from '../../src/platform/relays/adapter.ts';
import { createOutbound, type Outbound, type OutboundOptions } from '../../src/platform/outbound/outbound.ts';
import { SNS_CERTIFICATE_URL, snsPair } from '../servers/relays/ses.ts';
import { goodEmail } from './outgoing-email.ts';

/** The certificate of the fake SNS is made when a test first needs it, and is valid from then on. So this time is an hour later. */
export const HOOK_TIME = Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000;

/** The real outbound client, which gets the certificate of SNS from the fake instead of the internet. */
export function relayOutbound(options: Partial<OutboundOptions> = {}): Outbound & { urls: string[] } {
  const outbound = createOutbound({ allowPrivate: true, ...options });
  const urls: string[] = [];
  return {
    ...outbound,
    urls,
    get(request) {
      urls.push(request.url);
      if (request.url !== SNS_CERTIFICATE_URL) return outbound.get(request);
      const file = { type: 'application/x-pem-file', bytes: snsPair().certificate };
      return Promise.resolve({ ok: true, status: 200, retryAfter: null, body: '', file, ms: 1 });
    },
  };
}

export function relayContext(
  settings: Record<string, string>,
  outbound: Outbound,
  now = Date.now(),
): RelayContext {
  return { settings, outbound, key: 'relay', now: () => now };
}

/** The token of an email has this form. */
export const RELAY_TOKEN = `${'abcdefghijklmnopqrstuvwxyz2345673q'}.${'abcdefghijklmn23'}`;

export async function relayEmail(changed: Partial<RelayEmail> = {}): Promise<RelayEmail> {
  return {
    token: RELAY_TOKEN,
    mailFrom: 'b+abc.def@bounce.acme.test',
    rcptTo: 'ada@example.test',
    mime: await goodEmail({ date: new Date(0), subject: 'Grüße: drei Schritte fehlen' }),
    idempotencyKey: '0198b1c2-0000-7000-8000-000000000001',
    ...changed,
  };
}
