import { Fault } from '../../../platform/fault.ts';
import type { DkimKey } from './dkim-key.ts';
import type { DomainRecord, DnsRecordFinding } from './findings.ts';
import { findDomain, listDomains, listKeys, lockDomain } from './reads.ts';
import { type MailSettings, normaliseDomainName, type SendingDomain } from './domain.ts';
import { recordsOf } from './records.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** A domain for display: the records to publish, each with what was found in the DNS. */
export type DomainView = {
  domain: SendingDomain;
  records: (DomainRecord & { finding: DnsRecordFinding | null })[];
};

/** A domain by its name. */
export type DomainRef = { projectId: number; name: string };

export function viewOf(domain: SendingDomain, keys: DkimKey[], mail: MailSettings): DomainView {
  const findingOf = ({ kind, name }: DomainRecord): DnsRecordFinding | null =>
    domain.findings.find((finding) => finding.kind === kind && finding.name === name) ?? null;
  const records = recordsOf(domain, keys, mail);
  return { domain, records: records.map((record) => ({ ...record, finding: findingOf(record) })) };
}

export async function showDomain(tx: Tx, ref: DomainRef, mail: MailSettings): Promise<DomainView> {
  const domain = await requireDomain(tx, ref);
  return viewOf(domain, await listKeys(tx, domain.projectId, [domain.id]), mail);
}

/** Returns the domains in order of their names. */
export async function showDomains(tx: Tx, projectId: number, mail: MailSettings): Promise<DomainView[]> {
  const domains = await listDomains(tx, projectId);
  const keys = await listKeys(
    tx,
    projectId,
    domains.map(({ id }) => id),
  );
  const keysOf = Map.groupBy(keys, ({ domainId }) => domainId);
  return domains.map((domain) => viewOf(domain, keysOf.get(domain.id) ?? [], mail));
}

export async function requireDomain(tx: Tx, { projectId, name }: DomainRef): Promise<SendingDomain> {
  const found = await findDomain(tx, { projectId, name: normaliseDomainName(name) });
  if (!found) throw unknownDomain(name);
  return found;
}

/** Locks a domain for a change, waiting for its current holder. */
export async function requireLocked(tx: Tx, ref: DomainRef): Promise<SendingDomain> {
  const locked = await lockDomain(tx, await requireDomain(tx, ref));
  if (!locked) throw unknownDomain(ref.name);
  return locked;
}

function unknownDomain(name: string): Fault {
  const message = `This project has no domain ${JSON.stringify(name)}. List its domains with: beckon domains list`;
  return new Fault('not_found', { details: [{ message, field: 'domain' }] });
}
