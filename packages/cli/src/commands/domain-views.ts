import type { DnsRecord, SendingDomain } from '@beckon/contract/dashboard';
import { printable } from '../output/printable.ts';
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
export function recordsText(domain: SendingDomain): string {
  return [
    ...headOf(domain),
    '',
    'Publish these DNS records:',
    ...domain.records.flatMap(recordLines),
    ...missingSettings(domain),
    '',
    `Then run: beckon domains check ${domain.name}. The server also checks them regularly.`,
  ].join('\n');
}

function recordLines({ kind, type, name, value, split, required, key_state: state }: DnsRecord): string[] {
  const notes = [
    required ? 'required' : 'recommended',
    ...(state === null ? [] : [`key ${state}${state === 'retiring' ? ', keep it for now' : ''}`]),
  ];
  return [
    '',
    `${KINDS[kind]} (${notes.join(', ')})`,
    `  ${type}  ${name}`,
    `  ${value}`,
    ...(split === null ? [] : ['  Or in parts:', `  ${split.map((part) => `"${part}"`).join(' ')}`]),
  ];
}

/** What the last check found, and what it expected. */
export function checkText(domain: SendingDomain, { when }: Words): string {
  const { tracking } = domain;
  return [
    ...headOf(domain),
    ...domain.records.flatMap(foundLines),
    ...(tracking === null
      ? []
      : [
          '',
          `Tracking host ${tracking.host}: ${TRACKING[tracking.state]}`,
          ...(tracking.found === null ? [] : [`  ${printable(tracking.found)}`]),
        ]),
    '',
    `Checked ${when(domain.checked_at) ?? 'never'}; next check ${when(domain.next_check_at) ?? 'not scheduled'}.`,
  ].join('\n');
}

function foundLines(record: DnsRecord): string[] {
  const { kind, type, name, value, status, found, message: says, warning, required } = record;
  const isOk = status === 'ok';
  const notes = `${isOk && warning ? ', with a warning' : ''}${isOk || required ? '' : ' (not required)'}`;
  return [
    '',
    `${KINDS[kind]}: ${status}${notes}`,
    `  ${type}  ${name}`,
    ...(says === null ? [] : [`  ${printable(says)}`]),
    ...(isOk || status === 'unknown' ? [] : [`  expected: ${value}`]),
    ...(isOk ? [] : found.map((text) => `  found:    ${printable(text)}`)),
  ];
}

const TRACKING: Record<NonNullable<SendingDomain['tracking']>['state'], string> = {
  pending: 'not used yet',
  working: 'in use',
  failed: 'not used: it does not lead to this server',
};

/** What is left to do after a tracking host was set. */
export function trackingText({ name, tracking }: SendingDomain): string {
  if (tracking === null) return `Links in emails from ${name} use the server's own address.`;
  const { host, cname_target: leads_to } = tracking;
  return [
    `Links in emails from ${name} will begin with https://${host}. Publish this DNS record:`,
    '',
    `  CNAME  ${host}`,
    `  ${leads_to}`,
    '',
    'The host needs a TLS certificate of its own: in the proxy in front of the server, or in TLS_CERT_DIR',
    `(${host}.crt and ${host}.key). The server checks the host and uses it once it leads here.`,
    "Until then, links use the server's own address.",
    ...(leads_to === 'localhost'
      ? ['', 'PUBLIC_URL leads to localhost. Set it to an https address that readers can open.']
      : []),
  ].join('\n');
}

function headOf({ name, state, paused_at, paused_reason: reason }: SendingDomain): string[] {
  return [
    `${name} is ${state}: ${STATES[state]}.`,
    ...(paused_at === null
      ? []
      : [
          `It is paused${reason === null ? '' : `: ${printable(reason)}`}. Resume: beckon domains resume ${name}`,
        ]),
  ];
}

function missingSettings({ records }: SendingDomain): string[] {
  const has = (kind: DnsRecord['kind']): boolean => records.some((record) => record.kind === kind);
  const missing = [
    ...(has('return_path_mx') ? [] : ['MAIL_DOMAIN (return path)']),
    ...(has('return_path_spf') ? [] : ['SMTP_SPF_INCLUDE (SPF)']),
  ];
  if (missing.length === 0) return [];
  return [
    '',
    `Some records are missing here, because these server settings are not set: ${missing.join(', ')}.`,
  ];
}
