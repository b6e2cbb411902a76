import type { DnsRecord, SendingDomain } from '@beckon/contract/dashboard';
import type { Block, View } from '../output/view.ts';
import type { Words } from '../output/words.ts';

const KINDS: Record<DnsRecord['kind'], string> = {
  dkim: 'DKIM',
  return_path_mx: 'Return path, which receives bounces',
  return_path_spf: 'SPF',
  dmarc: 'DMARC',
};

const STATES: Record<SendingDomain['state'], string> = {
  pending: 'no emails are sent from it until the required records are found',
  verified: 'emails are sent from it',
  degraded: 'emails are still sent from it, but a required record is missing or wrong',
  failed: 'no emails are sent from it until the required records are correct again',
};

/** The records to publish. Every value has a line of its own, so that it can be copied. */
export function recordsView(domain: SendingDomain): View {
  const { name, records } = domain;
  const missing = [
    ...(records.some(({ kind }) => kind === 'return_path_mx') ? [] : ['MAIL_DOMAIN (return path)']),
    ...(records.some(({ kind }) => kind === 'return_path_spf') ? [] : ['SMTP_SPF_INCLUDE (SPF)']),
  ];
  return [
    headOf(domain),
    'Publish these DNS records:',
    ...records.map(({ kind, type, name: host, value, split, required, key_state: key }) => ({
      [KINDS[kind]]: [
        `${required ? 'required' : 'recommended'}${key === null ? '' : `, key ${key}`}${key === 'retiring' ? ', keep it for now' : ''}`,
        `${type}  ${host}`,
        value,
        split && `or in parts: ${split.map((part) => `"${part}"`).join(' ')}`,
      ],
    })),
    missing.length === 0
      ? null
      : `Some records are missing here, because these server settings are not set: ${missing.join(', ')}.`,
    `Then run: beckon domains check ${name}. The server also checks them regularly.`,
  ];
}

/** The records that the last check expected and found. */
export function checkView(domain: SendingDomain, { when }: Words): Block[] {
  const { tracking, records, checked_at, next_check_at } = domain;
  return [
    headOf(domain),
    ...records.map(({ kind, type, name, value, status, found, message, warning, required }) => {
      const isOk = status === 'ok';
      const notes = `${isOk && warning ? ', with a warning' : ''}${isOk || required ? '' : ' (not required)'}`;
      return {
        [KINDS[kind]]: [
          `${status}${notes}`,
          `${type}  ${name}`,
          message,
          isOk || status === 'unknown' ? null : `expected: ${value}`,
          ...(isOk ? [] : found.map((text) => `found:    ${text}`)),
        ],
      };
    }),
    tracking && `Tracking host ${tracking.host}: ${TRACKING[tracking.state]}. ${tracking.found ?? ''}`,
    `Checked ${when(checked_at) ?? 'never'}; next check ${when(next_check_at) ?? 'not scheduled'}.`,
  ];
}

const TRACKING: Record<NonNullable<SendingDomain['tracking']>['state'], string> = {
  pending: 'not used yet',
  working: 'in use',
  failed: 'not used: it does not lead to this server',
};

/** The steps that follow after a tracking host is set. */
export function trackingView({ name, tracking }: SendingDomain): View {
  if (tracking === null) return `Links in emails from ${name} use the server's own address.`;
  const { host, cname_target: target } = tracking;
  return [
    `Links in emails from ${name} will begin with https://${host}. Publish this DNS record:`,
    { CNAME: [host, target] },
    `The host needs a TLS certificate of its own: in the proxy in front of the server, or in TLS_CERT_DIR (${host}.crt and ${host}.key).\n` +
      "The server checks the host and uses it once it leads here. Until then, links use the server's own address.",
    target === 'localhost'
      ? 'PUBLIC_URL leads to localhost. Set it to an https address that readers can open.'
      : null,
  ];
}

function headOf({ name, state, paused_at, paused_reason: reason }: SendingDomain): string {
  const paused = `\nIt is paused${reason === null ? '' : `: ${reason}`}. Resume: beckon domains resume ${name}`;
  return `${name} is ${state}: ${STATES[state]}.${paused_at === null ? '' : paused}`;
}
