import type { TrackingState } from '../features/domains/index.ts';
import type { ShownDomain } from '../flows/domains/index.ts';

type Shown = Pick<ShownDomain, 'name' | 'tracking'>;
type Asked = Shown & { leads_to: string; public_url: string };

/** After it was set: what there is to do, since nobody but the owner of the domain can do it. */
export function printTracking({ name, tracking, leads_to: leadsTo, public_url: publicUrl }: Asked): string {
  if (!tracking) return `Links in letters from ${name} have the address of this installation`;
  return [
    `Links in letters from ${name} are to begin with https://${tracking.host}. Publish this record in the DNS:`,
    '',
    `  CNAME  ${tracking.host}`,
    `  ${leadsTo}`,
    '',
    'It has to answer with a certificate of its own: by the proxy in front of this server, or from TLS_CERT_DIR',
    `(${tracking.host}.crt and ${tracking.host}.key). The server looks by itself, and uses it once it leads here; until`,
    'then links have the address of this installation.',
    ...(publicUrl.startsWith('https:') ? [] : ['', `PUBLIC_URL is ${publicUrl}: ${PUBLIC_URL_FIRST}`]),
  ].join('\n');
}

const PUBLIC_URL_FIRST = 'set it to an https address that readers can open first, or no name can lead here.';

const STATES = {
  pending: 'is not used yet',
  working: 'is in use',
  failed: 'is not used: it does not lead here',
} as const satisfies Record<TrackingState, string>;

/** Among what was found of a domain; `found` is what a stranger's server said. */
export function trackingLines({ tracking }: Shown): string[] {
  if (!tracking) return [];
  const { host, state, found, checked_at: checkedAt } = tracking;
  return [
    '',
    `Links: https://${host} ${STATES[state]}`,
    ...(found === null ? [] : [`  ${found.replaceAll(/\p{Cc}/gu, '\u{FFFD}')}`]),
    `  asked at ${checkedAt ?? 'no time yet'}, and again at ${tracking.next_check_at}`,
  ];
}
