import { type DkimKey, selectorOf, signingKey } from './dkim-key.ts';
import { organizationOf } from './domain-name.ts';
import { type MailSettings, returnPathOf, type SendingDomain } from './domain.ts';
import { type RecordKind, type DomainRecord } from './findings.ts';

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
