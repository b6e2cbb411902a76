import type { RelayRecord, RelayRecords } from '@beckon/contract/dashboard';
import type { DnsReply, Resolver } from '../../../platform/dns/resolver.ts';
import type { DnsRecord, DomainRecords, SpfNeed } from '../../../platform/relays/adapter.ts';
import { spfOfRelay } from '../../../platform/relays/smtp-provider.ts';
import { lookUp } from '../domains/check-domain.ts';
import { isSpf } from '../domains/check-spf.ts';
import { type MailSettings, returnPathOf } from '../domains/domain.ts';
import { assessRecord, spfRecord } from '../domains/records.ts';
import { readRelaySettings } from './read-settings.ts';
import type { ConfiguredRelay } from './relay.ts';
import type { RelayTestDeps } from './test-relay.ts';

export type RecordsDeps = RelayTestDeps & { resolver: Resolver; mail: MailSettings };

const RECORDS_MAX = 20;

/** Returns the DNS records that the provider of a relay wants for a domain, each with what the DNS has now. */
export async function showRecords(
  deps: RecordsDeps,
  relay: ConfiguredRelay,
  domain: string,
): Promise<RelayRecords> {
  const settings = await readRelaySettings(deps, relay);
  const reporter = settings ? deps.kinds.reporterOf(relay.kind, settings) : undefined;
  const need = relay.kind === 'smtp_url' ? needOf(deps.mail) : spfOfRelay(relay.kind, relay.settings);
  const spf = need ? await compareSpf(deps, need, domain) : null;
  const base = {
    domain,
    records: spf ? [spf] : [],
    own_return_path: need === null ? (reporter?.adapter.title ?? null) : null,
    guide_url: null,
    complete: true,
    failure: null,
  };
  if (!reporter || reporter.apiNeeds.length > 0) return base;
  const outbound = deps.openOutbound();
  try {
    const context = { settings: reporter.settings, outbound, key: relay.id, now: () => deps.db.clock.now() };
    const wanted: DomainRecords = await reporter.adapter.records(domain, context);
    const others = wanted.records.filter(({ name, value }) => name !== spf?.name || !isSpf(value));
    const records = await Promise.all(
      others.slice(0, RECORDS_MAX).map((record) => compareRecord(deps.resolver, record)),
    );
    return {
      ...base,
      records: [...base.records, ...records],
      guide_url: wanted.guideUrl,
      complete: wanted.isComplete,
    };
  } finally {
    outbound.close();
  }
}

/** The SPF record for `SMTP_URL`, by its provider or by `SMTP_SPF_INCLUDE`. */
function needOf({ spfInclude: include, spfDomain }: MailSettings): SpfNeed | null {
  return include === null ? null : { include, domain: spfDomain ?? null };
}

/** Compares the SPF record as the check of a sending domain does: an include within another one counts as well. */
async function compareSpf(
  { resolver, mail }: RecordsDeps,
  need: SpfNeed,
  domain: string,
): Promise<RelayRecord> {
  const record = spfRecord(need.domain ?? returnPathOf(domain, mail), need.include);
  const finding = assessRecord(record, await lookUp(resolver, [record]));
  const value = finding.suggested ?? record.value;
  return {
    type: 'TXT',
    name: record.name,
    value,
    purpose: 'spf',
    status: finding.verdict,
    found: finding.found,
  };
}

async function compareRecord(resolver: Resolver, record: DnsRecord): Promise<RelayRecord> {
  const reply = await lookUpRecord(resolver, record);
  return { ...record, ...statusOf(record, reply) };
}

function lookUpRecord(resolver: Resolver, { type, name }: DnsRecord): Promise<DnsReply> {
  switch (type) {
    case 'CNAME':
      return resolver.cname(name);
    case 'MX':
      return resolver.mx(name);
    case 'TXT':
      return resolver.txt(name);
    default:
      return type satisfies never;
  }
}

/** Compares names without case and final dot, and texts exactly apart from spaces. */
export function statusOf(
  { type, value }: Pick<DnsRecord, 'type' | 'value'>,
  reply: DnsReply,
): Pick<RelayRecord, 'status' | 'found'> {
  if (reply.kind === 'failed') return { status: 'unknown', found: [] };
  if (reply.kind === 'none') return { status: 'missing', found: [] };
  const wanted = normalized(type, value);
  const isThere = reply.values.some((found) => normalized(type, found) === wanted);
  if (isThere) return { status: 'ok', found: reply.values };
  // A name has texts for many purposes, so other texts do not make this one wrong.
  return { status: type === 'TXT' ? 'missing' : 'wrong', found: reply.values };
}

function normalized(type: DnsRecord['type'], value: string): string {
  if (type === 'TXT') return value.replaceAll(/\s+/g, '').replaceAll('"', '');
  const name = type === 'MX' ? (value.trim().split(/\s+/).at(-1) ?? '') : value.trim();
  return name.toLowerCase().replace(/\.$/, '');
}
