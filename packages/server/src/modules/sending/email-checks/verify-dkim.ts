import type { dkimVerify } from 'mailauth/lib/dkim/verify.js';

/** The result of a DKIM verification. `unknown`: signed, but with a key that is not one of the project's. */
export type DkimResult = {
  result: 'none' | 'pass' | 'fail' | 'unknown';
  /** The signing domain and the result, as readable text. */
  detail: string;
  /** The headers that the signature covers, in lower case. */
  covered: string[];
};

/** The types of the library leave out what it returns about the headers. */
type Result = Awaited<ReturnType<typeof dkimVerify>>['results'][number] & {
  signingHeaders?: { keys?: string };
};

export const UNSIGNED: DkimResult = { result: 'none', detail: '', covered: [] };

/** More than any email has. Each signature costs a verification. */
const SIGNATURES_MAX = 3;

/**
 * Verifies with a different implementation from the one that signed. The project's keys replace the DNS, which is not queried: `keyOf` gets
 * a name such as `bk2abcdefga._domainkey.example.com` and returns the record published there.
 */
export async function verifyDkim(
  raw: Uint8Array,
  keyOf: (record: string) => string | null,
): Promise<DkimResult> {
  // Loaded when an email is checked: it brings many dependencies that no server needs in order to start.
  const library = await import('mailauth/lib/dkim/verify.js');
  const lookups = { count: 0 };
  const { results } = await library.dkimVerify(Buffer.from(raw), {
    resolver: (name: string) => {
      lookups.count += 1;
      const record = lookups.count > SIGNATURES_MAX ? null : keyOf(name.toLowerCase());
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
