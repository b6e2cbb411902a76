import { readTags } from './tags.ts';
import type { Judged } from './findings.ts';

const BEGIN = /^\s*v\s*=\s*DMARC1\s*(?:;|$)/;
const POLICIES: ReadonlySet<string> = new Set(['none', 'quarantine', 'reject']);

/** Returns whether there is a DMARC record. Without one, receivers look at the record of the organization. */
export function hasDmarc(values: string[]): boolean {
  return values.some((value) => BEGIN.test(value));
}

/** `isAbove`: the record belongs to the organization, which can set another policy for names below it. */
export function judgeDmarc(values: string[], isAbove: boolean): Judged {
  const records = values.filter((value) => BEGIN.test(value));
  const [record] = records;
  if (record === undefined) return judgeNone(values);
  if (records.length > 1)
    return {
      verdict: 'wrong',
      says: `${records.length} DMARC records were found, so receivers ignore all of them. Keep only one`,
    };
  const { values: tags } = readTags(record);
  const own = policyIn(tags, 'p');
  if (own === null) return { verdict: 'wrong', says: 'Its p= must be none, quarantine or reject' };
  const policy = (isAbove ? policyIn(tags, 'sp') : null) ?? own;
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

function judgeNone(values: string[]): Judged {
  const almost = values.find((value) => /dmarc1/i.test(value));
  if (almost === undefined) return { verdict: 'missing', says: 'No DMARC record was found' };
  if (almost.startsWith('"'))
    return { verdict: 'wrong', says: 'The value was entered with quotes, which are now part of it' };
  return { verdict: 'wrong', says: 'A DMARC record begins with v=DMARC1; in capitals' };
}
