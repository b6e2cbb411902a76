import type { DnsRecordAssessment } from './findings.ts';

/** Checks that a record contains our key after decoding, whatever other tags it has and in whatever order. */
export function assessDkim(expected: string, values: string[]): DnsRecordAssessment {
  const [value] = values;
  if (value === undefined) return { verdict: 'missing', says: 'No record was found' };
  if (values.length > 1)
    return wrong(`${values.length} records were found, and receivers may use any of them. Keep only one`);
  if (value.startsWith('"')) return wrong('The value was entered with quotes, which are now part of it');
  const { values: tags, first, isClean } = readTags(value.replaceAll('\\;', ';'));
  if (value.includes('\\;'))
    return wrong('The value has backslashes before its semicolons. Enter it without them');
  if (!isClean)
    return wrong('The value is not a DKIM record. Its parts must be name=value, with each name once');
  const version = tags.get('v');
  if (version !== undefined && (version !== 'DKIM1' || first !== 'v'))
    return wrong('A DKIM record begins with v=DKIM1');
  return assessKey(expected, tags);
}

function assessKey(expected: string, tags: ReadonlyMap<string, string>): DnsRecordAssessment {
  const key = tags.get('p');
  if (key === undefined) return wrong('It has no key: p= is missing');
  if (key === '') return wrong('Its p= is empty, which revokes the key');
  if ((tags.get('k') ?? 'rsa') !== 'rsa') return wrong('Its k= must be rsa');
  if (!allows(tags.get('h'), ['sha256']))
    return wrong('Its h= does not include sha256, which signs the emails');
  if (!allows(tags.get('s'), ['*', 'email'])) return wrong('Its s= excludes email');
  const expectedKey = readTags(expected).values.get('p') ?? '';
  if (!isSameKey(key, expectedKey))
    return wrong('It contains another key, or only part of the key. Copy the complete value again');
  const isTest = (tags.get('t') ?? '').split(':').some((flag) => flag.trim() === 'y');
  if (isTest) return { ...OK, says: 'The record is correct, but t=y marks it as a test', warns: true };
  return OK;
}

const OK: DnsRecordAssessment = { verdict: 'ok', says: 'The record is correct' };

function wrong(says: string): DnsRecordAssessment {
  return { verdict: 'wrong', says };
}

function allows(list: string | undefined, accepted: string[]): boolean {
  return list === undefined || list.split(':').some((entry) => accepted.includes(entry.trim().toLowerCase()));
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isSameKey(text: string, expected: string): boolean {
  const compact = text.replaceAll(/\s/g, '');
  return BASE64.test(compact) && Buffer.from(compact, 'base64').equals(Buffer.from(expected, 'base64'));
}

const BEGIN = /^\s*v\s*=\s*DMARC1\s*(?:;|$)/;
const POLICIES: ReadonlySet<string> = new Set(['none', 'quarantine', 'reject']);

/** Returns whether there is a DMARC record. Without one, receivers look at the record of the organization. */
export function hasDmarc(values: string[]): boolean {
  return values.some((value) => BEGIN.test(value));
}

/** `isAbove`: the record belongs to the organization, which can set another policy for names below it. */
export function assessDmarc(values: string[], isAbove: boolean): DnsRecordAssessment {
  const records = values.filter((value) => BEGIN.test(value));
  const [record] = records;
  if (record === undefined) return assessNoDmarc(values);
  if (records.length > 1)
    return {
      verdict: 'wrong',
      says: `${records.length} DMARC records were found, so receivers ignore all of them. Keep only one`,
    };
  const { values: tags } = readTags(record);
  const ownPolicy = policyIn(tags, 'p');
  if (ownPolicy === null) return { verdict: 'wrong', says: 'Its p= must be none, quarantine or reject' };
  const policy = (isAbove ? policyIn(tags, 'sp') : null) ?? ownPolicy;
  const strict =
    tags.get('adkim')?.toLowerCase() === 's'
      ? '; adkim=s requires the From address to be at exactly this domain, not at a subdomain'
      : '';
  if (policy === 'none')
    return {
      verdict: 'ok',
      says: `It is valid, but does not ask receivers to reject forged emails (p=none). Once all your emails pass, use quarantine or reject${strict}`,
      warns: true,
    };
  return { verdict: 'ok', says: `It is valid. The policy for forged emails is ${policy}${strict}` };
}

function policyIn(tags: ReadonlyMap<string, string>, name: 'p' | 'sp'): string | null {
  const policy = tags.get(name)?.toLowerCase();
  return policy !== undefined && POLICIES.has(policy) ? policy : null;
}

function assessNoDmarc(values: string[]): DnsRecordAssessment {
  const almost = values.find((value) => /dmarc1/i.test(value));
  if (almost === undefined) return { verdict: 'missing', says: 'No DMARC record was found' };
  if (almost.startsWith('"'))
    return { verdict: 'wrong', says: 'The value was entered with quotes, which are now part of it' };
  return { verdict: 'wrong', says: 'A DMARC record begins with v=DMARC1; in capitals' };
}

/**
 * The tags of a record such as `v=DKIM1; k=rsa; p=…`, the syntax of DKIM and DMARC. The first tag is fixed. The others can have any order,
 * with any spaces.
 */
type Tags = {
  /** Names in lower case. For a repeated name, the first value counts. */
  values: ReadonlyMap<string, string>;
  /** The name of the first tag. */
  first: string | null;
  /** False if a part is not a tag or a name is repeated. */
  isClean: boolean;
};

const TAG = /^\s*([a-z][a-z0-9_]*)\s*=([\s\S]*)$/i;

function readTags(text: string): Tags {
  const values = new Map<string, string>();
  let isClean = true;
  const parts = text.split(';');
  // The last tag may end with a semicolon.
  if (parts.at(-1)?.trim() === '') parts.pop();
  for (const part of parts) {
    const [, name, value] = TAG.exec(part) ?? [];
    const key = name?.toLowerCase();
    if (key === undefined || value === undefined || values.has(key)) isClean = false;
    else values.set(key, value.trim());
  }
  return { values, first: values.keys().next().value ?? null, isClean };
}
