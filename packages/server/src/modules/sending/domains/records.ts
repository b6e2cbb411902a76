import { isSpf, readSpf, SPF_LOOKUPS_MAX, withInclude } from './check-spf.ts';
import { hasDmarc, assessDkim, assessDmarc } from './check-tagged-records.ts';
import { type DkimKey, selectorOf, signingKey } from './dkim-key.ts';
import { type MailSettings, organizationOf, returnPathOf, type SendingDomain } from './domain.ts';
import type { DomainRecord, DnsRecordFinding, DnsRecordAssessment, RecordKind } from './findings.ts';
import type { DnsReply } from '../../../platform/dns/resolver.ts';

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
  if (mail.spfInclude !== null) records.push(spfRecord(mail.spfDomain ?? returnPath, mail.spfInclude));
  const alsoAt = zone === name ? null : `_dmarc.${zone}`;
  records.push({ ...record('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none'), required: true, alsoAt });
  return records;
}

/** The SPF record that allows a relay to send. */
export function spfRecord(name: string, include: string): DomainRecord {
  return recordIn(organizationOf(name))('return_path_spf', name, `v=spf1 include:${include} ~all`);
}

export function dkimNameOf({ domainId, slot }: Pick<DkimKey, 'domainId' | 'slot'>, name: string): string {
  return `${selectorOf(domainId, slot)}._domainkey.${name}`;
}

function recordIn(zone: string): (kind: RecordKind, name: string, value: string) => DomainRecord {
  return (kind, name, value) => {
    const split = splitText(value);
    return { kind, name, type: 'TXT', value, split, required: false, keyState: null, alsoAt: null, zone };
  };
}

export function splitText(value: string): string[] | null {
  return value.length > STRING_MAX ? (value.match(STRINGS) ?? []) : null;
}

const STRINGS = new RegExp(`.{1,${STRING_MAX}}`, 'g');

export type DnsQueryType = 'TXT' | 'MX' | 'CNAME';
/** Returns an answer that was already looked up. */
export type DnsLookup = (type: DnsQueryType, name: string) => DnsReply | undefined;

const FOUND_MAX = 5;
const FOUND_LENGTH_MAX = 600;

export function assessRecord(record: DomainRecord, lookup: DnsLookup): DnsRecordFinding {
  const [assessment, values] = assessKind(record, lookup);
  const { verdict, says } = assessment;
  const { kind, name } = record;
  const found = values.slice(0, FOUND_MAX).map((value) => value.slice(0, FOUND_LENGTH_MAX));
  const hint = verdict === 'missing' ? hintOf(record, lookup) : '';
  const finding = { kind, name, verdict, found, says: `${says}${hint}`, warns: assessment.warns ?? false };
  if (kind !== 'return_path_spf') return finding;
  const { suggested } = assessment;
  return { ...finding, include: includeOf(record), ...(suggested === undefined ? {} : { suggested }) };
}

function assessKind(record: DomainRecord, lookup: DnsLookup): [DnsRecordAssessment, string[]] {
  const reply = lookup(record.type, record.name);
  const values = reply?.kind === 'found' ? reply.values : [];
  if (record.kind === 'dmarc') return assessDmarcOf(record, lookup);
  if (!reply || reply.kind === 'failed') return [unknown(reply?.code), values];
  switch (record.kind) {
    case 'dkim':
      return [assessDkim(record.value, values), values];
    case 'return_path_mx':
      return [assessMx(record.value, values), values];
    case 'return_path_spf':
      return [assessSpf(record, lookup), values];
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
function assessDmarcOf({ name, alsoAt }: DomainRecord, lookup: DnsLookup): [DnsRecordAssessment, string[]] {
  for (const at of alsoAt === null ? [name] : [name, alsoAt]) {
    const reply = lookup('TXT', at);
    if (!reply || reply.kind === 'failed') return [unknown(reply?.code), []];
    if (reply.kind === 'found' && hasDmarc(reply.values))
      return [assessDmarc(reply.values, at !== name), reply.values];
  }
  const ownReply = lookup('TXT', name);
  const values = ownReply?.kind === 'found' ? ownReply.values : [];
  return [assessDmarc(values, false), values];
}

/** Rejects any further mail exchange, because bounces could go to a host that does not read them. */
function assessMx(expected: string, values: string[]): DnsRecordAssessment {
  const ours = exchangeOf(expected);
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

function assessSpf(record: DomainRecord, lookup: DnsLookup): DnsRecordAssessment {
  const include = includeOf(record);
  const read = readSpf(record.name, include, (name) => lookup('TXT', name));
  switch (read.kind) {
    case 'passes':
      return { verdict: 'ok', says: 'The record is correct' };
    case 'none':
      return { verdict: 'missing', says: 'No SPF record was found' };
    case 'leaves_out':
      return {
        verdict: 'wrong',
        says: `It does not include the relay. Put include:${include} before its all`,
        ...suggestionOf(record, lookup),
      };
    case 'fault':
      return { verdict: 'wrong', says: read.says };
    case 'failed':
      return unknown(read.code);
    case 'needs':
      return unknown();
    default:
      return read satisfies never;
  }
}

/** The record that was found, with the include that it lacks. */
function suggestionOf(record: DomainRecord, lookup: DnsLookup): { suggested?: string } {
  const reply = lookup('TXT', record.name);
  const found = reply?.kind === 'found' ? reply.values.find(isSpf) : undefined;
  const suggested = found === undefined ? null : withInclude(found, includeOf(record));
  return suggested === null || suggested.length > FOUND_LENGTH_MAX ? {} : { suggested };
}

export function includeOf({ value }: Pick<DomainRecord, 'value'>): string {
  return /include:(\S+)/.exec(value)?.[1] ?? '';
}

/** Explains the most common mistakes: the zone editor appended the domain to a name that already had it, or a CNAME is in the way. */
function hintOf(record: DomainRecord, lookup: DnsLookup): string {
  const twice = misplacedName(record);
  if (lookup(record.type, twice)?.kind === 'found')
    return `, but there is one at ${twice}. The DNS editor appends the domain automatically, so enter the name without it`;
  const alias = lookup('CNAME', record.name);
  return alias?.kind === 'found' ? `; there is a CNAME to ${alias.values[0] ?? ''} instead` : '';
}

function misplacedName({ name, zone }: DomainRecord): string {
  return `${name}.${zone}`;
}

/** Lists the lookups that are still needed to judge the records: all of them at first, none at the end. */
export function pendingQueries(
  records: DomainRecord[],
  lookup: DnsLookup,
): { type: DnsQueryType; name: string }[] {
  const queries = records.flatMap(({ type, name, alsoAt }) => [
    { type, name },
    ...(alsoAt === null ? [] : [{ type, name: alsoAt }]),
  ]);
  const open = queries.filter(({ type, name }) => !lookup(type, name));
  if (open.length > 0) return open;
  return [...spfQueries(records, lookup), ...hintQueries(records, lookup)];
}

function spfQueries(records: DomainRecord[], lookup: DnsLookup): { type: DnsQueryType; name: string }[] {
  return records.flatMap((record) => {
    if (record.kind !== 'return_path_spf') return [];
    const read = readSpf(record.name, includeOf(record), (name) => lookup('TXT', name));
    return read.kind === 'needs' ? [{ type: 'TXT' as const, name: read.name }] : [];
  });
}

function hintQueries(records: DomainRecord[], lookup: DnsLookup): { type: DnsQueryType; name: string }[] {
  return records
    .filter((record) => assessRecord(record, lookup).verdict === 'missing')
    .flatMap((record) => [
      { type: record.type, name: misplacedName(record) },
      { type: 'CNAME' as const, name: record.name },
    ])
    .filter(({ type, name }) => !lookup(type, name));
}

/** One round for the records and their aliases, one per nested SPF include, and one for names that may explain a missing record. */
export const ROUNDS_MAX = SPF_LOOKUPS_MAX + 3;
