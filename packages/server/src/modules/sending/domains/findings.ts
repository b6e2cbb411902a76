export type DkimKeyState = 'pending' | 'published' | 'active' | 'retiring';

/** `unknown`: DNS did not answer. This counts neither for nor against the domain. */
export type DnsRecordStatus = 'ok' | 'missing' | 'wrong' | 'unknown';

/** The result for one record compared with what was expected. It is stored with the domain. */
export type DnsRecordFinding = {
  kind: RecordKind;
  name: string;
  verdict: DnsRecordStatus;
  found: string[];
  /** A message for people. */
  says: string;
  /** The record is valid but could be improved. */
  warns: boolean;
  /** For SPF: the include that was expected. Another relay needs another one, so that the finding does not count for it. */
  include?: string;
  /** For SPF: the record that was found, with the include that it lacks. */
  suggested?: string;
};

export type DnsRecordAssessment = {
  verdict: DnsRecordStatus;
  says: string;
  warns?: boolean;
  suggested?: string;
};

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
  keyState: DkimKeyState | null;
  /** For DMARC: the organization's name, where a record counts as well. */
  alsoAt: string | null;
  /** The zone that most likely contains the record. Zone editors append it to names. */
  zone: string;
};
