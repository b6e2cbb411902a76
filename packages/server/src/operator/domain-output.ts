import type { DomainState, SendingDomain } from '../features/domains/index.ts';
import type { ShownDomain } from '../flows/domains/index.ts';
import { trackingLines } from './domain-tracking-output.ts';
import { table } from './table.ts';

export function printList(domains: ShownDomain[]): string {
  return table(
    domains.map(
      ({ name, state, records, checked_at: checkedAt, throttle, warm, tracking, paused_reason: paused }) => ({
        domain: name,
        state,
        paused,
        records: `${records.filter(({ status }) => status === 'ok').length} of ${records.length} right`,
        checked_at: checkedAt,
        throttle,
        warm,
        links: tracking && `${tracking.host} (${tracking.state})`,
      }),
    ),
    'There is no domain yet: domain add --domain makes one',
  );
}

export function printResumed(resumed: { name: string; was_paused: boolean; retried: number }): string {
  if (!resumed.was_paused) return `${resumed.name} was not paused`;
  return `Letters leave from ${resumed.name} again; ${resumed.retried} that were held are asked again now`;
}

/** What is to be published: values stand alone on their lines, so that they can be copied. */
export function printRecords(domain: ShownDomain): string {
  return [
    headOf(domain),
    '',
    'Publish these records in the DNS:',
    ...domain.records.flatMap(printRecord),
    ...trackingLines(domain),
    '',
    `Then: domain check --domain ${domain.name}. The server looks by itself as well.`,
    ...missingSettings(domain),
  ].join('\n');
}

function printRecord({ kind, type, name, value, split, required, key_state: state }: ShownRecord): string[] {
  const notes = [
    required ? 'required' : 'advised',
    ...(state === null ? [] : [`the key is ${state}${state === 'retiring' ? ': leave it for now' : ''}`]),
  ];
  const parts = split ? ['  or, in parts:', `  ${split.map((part) => `"${part}"`).join(' ')}`] : [];
  return ['', `${TITLES[kind]} (${notes.join(', ')})`, `  ${type}  ${name}`, `  ${value}`, ...parts];
}

function headOf({ name, state, paused_reason: paused }: ShownDomain): string {
  const is = `${name} is ${state}: ${STATES[state]}`;
  return paused === null ? is : `${is}\nIt is paused: ${paused}. Nothing leaves from it until domain resume`;
}

type ShownRecord = ShownDomain['records'][number];

const TITLES = {
  dkim: 'DKIM',
  return_path_mx: 'Return path, where bounces come back to',
  return_path_spf: 'SPF',
  dmarc: 'DMARC',
} as const satisfies Record<ShownRecord['kind'], string>;

const STATES = {
  pending: 'nothing leaves from it until the required records are seen',
  verified: 'letters leave from it',
  degraded: 'letters still leave from it, but a required record is gone or wrong',
  failed: 'nothing leaves from it until the required records are right again',
} as const satisfies Record<DomainState, string>;

function missingSettings({ records }: ShownDomain): string[] {
  const has = (kind: ShownRecord['kind']): boolean => records.some((record) => record.kind === kind);
  const missing = [
    ...(has('return_path_mx') ? [] : ['MAIL_DOMAIN for the return path']),
    ...(has('return_path_spf') ? [] : ['SMTP_SPF_INCLUDE for SPF']),
  ];
  return missing.length === 0 ? [] : [`Not shown, for the setting is not set: ${missing.join(', ')}.`];
}

/** What was found, against what was expected. */
export function printCheck(domain: ShownDomain): string {
  return [
    headOf(domain),
    ...domain.records.flatMap(printFound),
    ...trackingLines(domain),
    '',
    `Looked at ${domain.checked_at ?? 'never'}, and again at ${domain.next_check_at ?? 'no time'}`,
  ].join('\n');
}

function printFound({
  kind,
  type,
  name,
  value,
  status,
  found,
  message: says,
  warning,
  required,
}: ShownRecord): string[] {
  const note = status === 'ok' && warning ? 'ok, with a warning' : status;
  const weight = required || status === 'ok' ? '' : ' (not required)';
  return [
    '',
    `${TITLES[kind]}: ${note}${weight}`,
    `  ${type}  ${name}`,
    ...(says === null ? [] : [`  ${printable(says)}`]),
    ...(status === 'ok' || status === 'unknown' ? [] : [`  expected: ${value}`]),
    ...(status === 'ok' || found.length === 0 ? [] : found.map((one) => `  found:    ${printable(one)}`)),
  ];
}

/** Whoever owns a zone could otherwise move the cursor of the terminal that shows it. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\u{FFFD}');
}

export function printRemoved({ name }: Pick<SendingDomain, 'name'>): string {
  return `Nothing leaves from ${name} any more; its records may be taken out of the DNS in a week`;
}
