import type { dkimVerify } from 'mailauth/lib/dkim/verify.js';

/** Whether a letter's signature holds. `unknown`: signed, but with a key that we do not have. */
export type DkimVerdict = {
  result: 'none' | 'pass' | 'fail' | 'unknown';
  /** The signing domain and what was found, for people. */
  detail: string;
  /** The headers that the signature covers, in lower case. */
  covered: string[];
};

/** The types of the library leave out what it tells of the headers. */
type Result = Awaited<ReturnType<typeof dkimVerify>>['results'][number] & {
  signingHeaders?: { keys?: string };
};

export const UNSIGNED: DkimVerdict = { result: 'none', detail: '', covered: [] };

/** More than a letter ever has; each costs a verification. */
const SIGNATURES_MAX = 3;

/**
 * Verified by another implementation than the one that signed, with the keys of the project in place of the DNS, which is
 * asked nothing: `keyOf` is handed a name such as `bk2abcdefga._domainkey.example.com` and gives the record published there.
 */
export async function verifyDkim(
  raw: Uint8Array,
  keyOf: (record: string) => string | null,
): Promise<DkimVerdict> {
  // Loaded by whoever looks at a letter: it brings much with it that no server needs in order to start.
  const library = await import('mailauth/lib/dkim/verify.js');
  const asked = { count: 0 };
  const { results } = await library.dkimVerify(Buffer.from(raw), {
    resolver: (name: string) => {
      asked.count += 1;
      const record = asked.count > SIGNATURES_MAX ? null : keyOf(name.toLowerCase());
      return record === null ? Promise.reject(noSuchRecord(name)) : Promise.resolve([[record]]);
    },
  });
  const [first]: Result[] = results.toSorted((a, b) => rank(a.status.result) - rank(b.status.result));
  if (!first?.signingDomain) return UNSIGNED;
  const { result, comment } = first.status;
  const covered = (first.signingHeaders?.keys ?? '').toLowerCase().split(/[\s:]+/);
  const detail = `${first.signingDomain} (${first.selector ?? '?'})${comment ? `: ${comment}` : ''}`;
  if (result === 'pass') return { result: 'pass', detail, covered };
  return { result: comment === 'no key' ? 'unknown' : 'fail', detail, covered };
}

function rank(result: string): number {
  return result === 'pass' ? 0 : 1;
}

function noSuchRecord(name: string): Error {
  return Object.assign(new Error(`no record ${name}`), { code: 'ENOTFOUND' });
}
