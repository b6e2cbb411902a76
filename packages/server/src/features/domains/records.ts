import { type DkimKey, type KeyState, selectorOf, signingKey } from './dkim-key.ts';
import { organizationOf } from './domain-name.ts';
import { type MailSettings, returnPathOf, type SendingDomain } from './domain.ts';

export type RecordKind = 'dkim' | 'return_path_mx' | 'return_path_spf' | 'dmarc';

/** A DNS record to publish, ready to copy. */
export type DomainRecord = {
  kind: RecordKind;
  name: string;
  type: 'TXT' | 'MX';
  value: string;
  /**
   * The value in strings of at most 255 characters, for zone editors that accept a long value only in this form. Null for a short value.
   */
  split: string[] | null;
  /** No email is sent without this record. Other records are advice, or belong to a key that does not sign. */
  required: boolean;
  /** For DKIM: the state of its key. */
  keyState: KeyState | null;
  /** For DMARC: the organization's name, where a record counts as well. */
  alsoAt: string | null;
  /** The zone that most likely contains the record. Zone editors append it to names. */
  zone: string;
};

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
