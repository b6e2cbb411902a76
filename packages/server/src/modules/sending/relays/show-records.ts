import type { RelayRecord, RelayRecords } from '@beckon/contract/dashboard';
import type { DnsReply, Resolver } from '../../../platform/dns/resolver.ts';
import type { DnsRecord, DomainRecords } from '../../../platform/relays/adapter.ts';
import { readRelaySettings } from './read-settings.ts';
import type { ConfiguredRelay } from './relay.ts';
import type { RelayTestDeps } from './test-relay.ts';

export type RecordsDeps = RelayTestDeps & { resolver: Resolver };

const RECORDS_MAX = 20;

/** Returns the DNS records that the provider of a relay wants for a domain, each with what the DNS has now. */
export async function showRecords(
  deps: RecordsDeps,
  relay: ConfiguredRelay,
  domain: string,
): Promise<RelayRecords> {
  const adapter = deps.kinds.adapterOf(relay.kind);
  const spf = deps.kinds.of(relay.kind)?.spfInclude ?? null;
  const base = { domain, records: [], spf_include: spf, guide_url: null, complete: true, failure: null };
  if (!adapter) return base;
  const settings = await readRelaySettings(deps, relay);
  if (!settings) return base;
  const outbound = deps.openOutbound();
  try {
    const context = { settings, outbound, key: relay.id, now: () => deps.db.clock.now() };
    const wanted: DomainRecords = await adapter.records(domain, context);
    const records = await Promise.all(
      wanted.records.slice(0, RECORDS_MAX).map((record) => compareRecord(deps.resolver, record)),
    );
    return { ...base, records, guide_url: wanted.guideUrl, complete: wanted.isComplete };
  } finally {
    outbound.close();
  }
}

async function compareRecord(resolver: Resolver, record: DnsRecord): Promise<RelayRecord> {
  const reply = await lookUp(resolver, record);
  return { ...record, ...statusOf(record, reply) };
}

function lookUp(resolver: Resolver, { type, name }: DnsRecord): Promise<DnsReply> {
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
