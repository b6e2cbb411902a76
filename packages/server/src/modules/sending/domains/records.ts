import { readSpf, SPF_LOOKUPS_MAX } from './check-spf.ts';
import { hasDmarc, judgeDkim, judgeDmarc } from './check-tagged-records.ts';
import { type DkimKey, selectorOf, signingKey } from './dkim-key.ts';
import { type MailSettings, organizationOf, returnPathOf, type SendingDomain } from './domain.ts';
import type { DomainRecord, DnsRecordFinding, DnsRecordAssessment, RecordKind } from './findings.ts';
import type { DnsAnswer } from '../../../platform/dns/resolver.ts';

const STRING_MAX = 255;
const MX_PRIORITY = 10;

/** Lists the records of a domain. Records that depend on mail settings of the installation are left out while these are unknown. */
export function recordsOf(
  domain: Pick<SendingDomain, 'id' | 'name'>,
  keys: DkimKey[],
  mail: MailSettings,
): DomainRecord[] {
  const { name } = domain;
  const zone = organizationOf(name);
  const record = recordIn(zone);
  const returnPath = returnPathOf(name, mail);
  const signs = signingKey(keys);
  const records: DomainRecord[] = keys.map((key) => ({
    ...record('dkim', dkimNameOf(key, name), `v=DKIM1; k=rsa; p=${key.publicKey}`),
    required: key === signs,
    keyState: key.state,
  }));
  if (mail.mailDomain !== null)
    records.push({
      ...record('return_path_mx', returnPath, `${MX_PRIORITY} ${mail.mailDomain}`),
      type: 'MX',
      required: true,
    });
  if (mail.spfInclude !== null)
    records.push(record('return_path_spf', returnPath, `v=spf1 include:${mail.spfInclude} ~all`));
  const alsoAt = zone === name ? null : `_dmarc.${zone}`;
  records.push({ ...record('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none'), required: true, alsoAt });
  return records;
}

export function dkimNameOf({ domainId, slot }: Pick<DkimKey, 'domainId' | 'slot'>, name: string): string {
  return `${selectorOf(domainId, slot)}._domainkey.${name}`;
}

function recordIn(zone: string): (kind: RecordKind, name: string, value: string) => DomainRecord {
  return (kind, name, value) => {
    const isLong = value.length > STRING_MAX;
    const split = isLong ? (value.match(STRINGS) ?? []) : null;
    return { kind, name, type: 'TXT', value, split, required: false, keyState: null, alsoAt: null, zone };
  };
}

const STRINGS = new RegExp(`.{1,${STRING_MAX}}`, 'g');

export type QuestionType = 'TXT' | 'MX' | 'CNAME';
/** Returns an answer that was already looked up. */
export type Looked = (type: QuestionType, name: string) => DnsAnswer | undefined;

const FOUND_MAX = 5;
const FOUND_LENGTH_MAX = 600;

export function judge(record: DomainRecord, looked: Looked): DnsRecordFinding {
  const [judged, values] = judgeKind(record, looked);
  const { verdict, says } = judged;
  const { kind, name } = record;
  const found = values.slice(0, FOUND_MAX).map((value) => value.slice(0, FOUND_LENGTH_MAX));
  const hint = verdict === 'missing' ? hintOf(record, looked) : '';
  return { kind, name, verdict, found, says: `${says}${hint}`, warns: judged.warns ?? false };
}

function judgeKind(record: DomainRecord, looked: Looked): [DnsRecordAssessment, string[]] {
  const answer = looked(record.type, record.name);
  const values = answer?.kind === 'found' ? answer.values : [];
  if (record.kind === 'dmarc') return judgeDmarcOf(record, looked);
  if (!answer || answer.kind === 'trouble') return [unknown(answer?.code), values];
  switch (record.kind) {
    case 'dkim':
      return [judgeDkim(record.value, values), values];
    case 'return_path_mx':
      return [judgeMx(record.value, values), values];
    case 'return_path_spf':
      return [judgeSpf(record, looked), values];
    default:
      return record.kind satisfies never;
  }
}

function unknown(code = 'not asked'): DnsRecordAssessment {
  return {
    verdict: 'unknown',
    says: `The DNS did not respond (${code}). The result does not count, and the check is repeated`,
  };
}

/** Judges the domain's own DMARC record or, without one, that of the organization. */
function judgeDmarcOf({ name, alsoAt }: DomainRecord, looked: Looked): [DnsRecordAssessment, string[]] {
  for (const at of alsoAt === null ? [name] : [name, alsoAt]) {
    const answer = looked('TXT', at);
    if (!answer || answer.kind === 'trouble') return [unknown(answer?.code), []];
    if (answer.kind === 'found' && hasDmarc(answer.values))
      return [judgeDmarc(answer.values, at !== name), answer.values];
  }
  const own = looked('TXT', name);
  const values = own?.kind === 'found' ? own.values : [];
  return [judgeDmarc(values, false), values];
}

/** Rejects any further mail exchange, because bounces could go to a host that does not read them. */
function judgeMx(wanted: string, values: string[]): DnsRecordAssessment {
  const ours = exchangeOf(wanted);
  const exchanges = new Set(values.map(exchangeOf));
  if (exchanges.size === 0)
    return { verdict: 'missing', says: 'No MX record was found, so bounces would get lost' };
  if (!exchanges.has(ours))
    return { verdict: 'wrong', says: `Bounces would go to another host than ${ours}` };
  if (exchanges.size > 1)
    return { verdict: 'wrong', says: `Bounces may also go to other hosts. Keep only ${ours}` };
  return { verdict: 'ok', says: 'The record is correct' };
}

function exchangeOf(value: string): string {
  return (value.split(' ')[1] ?? '').toLowerCase().replace(/\.$/, '');
}

function judgeSpf(record: DomainRecord, looked: Looked): DnsRecordAssessment {
  const include = includeOf(record);
  const read = readSpf(record.name, include, (name) => looked('TXT', name));
  switch (read.kind) {
    case 'passes':
      return { verdict: 'ok', says: 'The record is correct' };
    case 'none':
      return { verdict: 'missing', says: 'No SPF record was found' };
    case 'leaves_out':
      return {
        verdict: 'wrong',
        says: `It does not include the relay. Put include:${include} before its all`,
      };
    case 'fault':
      return { verdict: 'wrong', says: read.says };
    case 'trouble':
      return unknown(read.code);
    case 'needs':
      return unknown();
    default:
      return read satisfies never;
  }
}

function includeOf({ value }: DomainRecord): string {
  return /include:(\S+)/.exec(value)?.[1] ?? '';
}

/** Explains the most common mistakes: the zone editor appended the domain to a name that already had it, or a CNAME is in the way. */
function hintOf(record: DomainRecord, looked: Looked): string {
  const twice = misplacedName(record);
  if (looked(record.type, twice)?.kind === 'found')
    return `, but there is one at ${twice}. The DNS editor appends the domain automatically, so enter the name without it`;
  const alias = looked('CNAME', record.name);
  return alias?.kind === 'found' ? `; there is a CNAME to ${alias.values[0] ?? ''} instead` : '';
}

function misplacedName({ name, zone }: DomainRecord): string {
  return `${name}.${zone}`;
}

/** Lists the lookups that are still needed to judge the records: all of them at first, none at the end. */
export function questionsOf(records: DomainRecord[], looked: Looked): { type: QuestionType; name: string }[] {
  const asked = records.flatMap(({ type, name, alsoAt }) => [
    { type, name },
    ...(alsoAt === null ? [] : [{ type, name: alsoAt }]),
  ]);
  const open = asked.filter(({ type, name }) => !looked(type, name));
  if (open.length > 0) return open;
  return [...spfQuestions(records, looked), ...hintQuestions(records, looked)];
}

function spfQuestions(records: DomainRecord[], looked: Looked): { type: QuestionType; name: string }[] {
  return records.flatMap((record) => {
    if (record.kind !== 'return_path_spf') return [];
    const read = readSpf(record.name, includeOf(record), (name) => looked('TXT', name));
    return read.kind === 'needs' ? [{ type: 'TXT' as const, name: read.name }] : [];
  });
}

function hintQuestions(records: DomainRecord[], looked: Looked): { type: QuestionType; name: string }[] {
  return records
    .filter((record) => judge(record, looked).verdict === 'missing')
    .flatMap((record) => [
      { type: record.type, name: misplacedName(record) },
      { type: 'CNAME' as const, name: record.name },
    ])
    .filter(({ type, name }) => !looked(type, name));
}

/** One round for the records and their aliases, one per nested SPF include, and one for names that may explain a missing record. */
export const ROUNDS_MAX = SPF_LOOKUPS_MAX + 3;
