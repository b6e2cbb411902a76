import { Fault } from '../../../platform/fault.ts';
import type { DkimKey } from './dkim-key.ts';
import type { DomainRecord, DnsRecordFinding } from './findings.ts';
import { findDomain, listDomains, listKeys, lockDomain } from './reads.ts';
import { type MailSettings, normaliseDomainName, type SendingDomain } from './domain.ts';
import { includeOf, recordsOf, splitText } from './records.ts';
import { findDomainMail, mailOfDomain } from './relay-mail.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** A domain for display: the records to publish, each with what was found in the DNS. */
export type DomainView = {
  domain: SendingDomain;
  records: (DomainRecord & { finding: DnsRecordFinding | null })[];
};

/** A domain by its name. */
export type DomainRef = { projectId: number; name: string };

export function viewOf(domain: SendingDomain, keys: DkimKey[], mail: MailSettings): DomainView {
  const records = recordsOf(domain, keys, mail);
  return { domain, records: records.map((record) => withFinding(record, domain.findings)) };
}

/** A finding about an SPF record counts only for the include that it was about: the relay may have changed since. */
function withFinding(record: DomainRecord, findings: DnsRecordFinding[]): DomainView['records'][number] {
  const finding =
    findings.find(
      ({ kind, name, include }) =>
        kind === record.kind &&
        name === record.name &&
        (kind !== 'return_path_spf' || include === includeOf(record)),
    ) ?? null;
  const value = finding?.suggested ?? record.value;
  return { ...record, value, split: splitText(value), finding };
}

export async function showDomain(tx: Tx, ref: DomainRef, mail: MailSettings): Promise<DomainView> {
  const domain = await requireDomain(tx, ref);
  return viewInProject(tx, domain, mail);
}

/** Returns the view of a domain with its stored keys, for the relay that its emails are sent through. */
export async function viewInProject(tx: Tx, domain: SendingDomain, mail: MailSettings): Promise<DomainView> {
  const keys = await listKeys(tx, domain.projectId, [domain.id]);
  return viewOf(domain, keys, await mailOfDomain(tx, domain, mail));
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
  const mailOf = await findDomainMail(tx, projectId, mail);
  return domains.map((domain) => viewOf(domain, keysOf.get(domain.id) ?? [], mailOf(domain.name)));
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
