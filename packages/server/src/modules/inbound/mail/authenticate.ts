import type { LookUp } from '../../../platform/dns/resolver.ts';
import { within } from '../../../platform/time/within.ts';

/** The result for the domain in `From`. */
export type MailAuthentication = {
  /** `none`: the domain has no policy. `unknown`: the DNS did not answer, or the email is unreadable. */
  dmarc: 'pass' | 'fail' | 'none' | 'unknown';
  /** The policy for emails that fail. */
  policy: 'none' | 'quarantine' | 'reject';
};

type MailSource = {
  raw: Uint8Array;
  remote: string;
  isNear: boolean;
  helo: string;
  from: string;
  /** The assumed author: a proof of any other author does not count. */
  author: string | null;
};

const WITHIN_MS = 20_000;
/** Each signature needs one query for a key, and SPF needs ten: an email that needs more than this was made to be slow. */
const QUERIES_MAX = 60;
const UNKNOWN: MailAuthentication = { dmarc: 'unknown', policy: 'none' };
const FORGED: MailAuthentication = { dmarc: 'fail', policy: 'reject' };
/**
 * Verifies SPF, DKIM, ARC and DMARC for the server that delivered the email. If that is our own server in front (`isNear`), the newest
 * Received line, which it wrote, names the server before it.
 */
export async function authenticateMail(source: MailSource, lookUp: LookUp): Promise<MailAuthentication> {
  const { author } = source;
  if (author === null || isMadeToBeSlow(source.raw)) return FORGED;
  const policy = await findPolicy(author, lookUp);
  const result = isSlowToProve(source.raw) ? UNKNOWN : await verify(source, lookUp);
  return result.dmarc === 'pass' || policy === 'none' ? result : { dmarc: 'fail', policy };
}

/**
 * Verifies the author of an email that another mail server received, and that was read from there or forwarded. That server has checked SPF
 * and enforced the policy of the domain. Here only DKIM can prove the author, so an email without a proof is not a forgery.
 */
export async function authenticateStoredMail(
  source: Pick<MailSource, 'raw' | 'author'>,
  lookUp: LookUp,
): Promise<MailAuthentication> {
  const { author, raw } = source;
  if (author === null || isMadeToBeSlow(raw)) return FORGED;
  if (isSlowToProve(raw)) return UNKNOWN;
  const result = await verify({ ...source, ...WITHOUT_CLIENT }, lookUp);
  return result.dmarc === 'pass' || result === FORGED ? result : UNKNOWN;
}

/** A reserved address (RFC 5737), which no SPF record permits. */
const WITHOUT_CLIENT = { remote: '192.0.2.1', isNear: false, helo: 'invalid', from: '' };

/** Queried separately, so that the sender's name servers cannot use up the time and the queries of the policy lookup. */
async function findPolicy(author: string, lookUp: LookUp): Promise<MailAuthentication['policy']> {
  const { dmarc } = await import('mailauth');
  const input = { headerFrom: author, spfDomains: [], dkimDomains: [], resolver: lookUp };
  const found = await within(dmarc(input), WITHIN_MS).catch(() => false as const);
  return policyOf(found === false ? undefined : found.policy);
}

async function verify(
  { raw, remote, isNear, helo, from, author }: MailSource,
  lookUp: LookUp,
): Promise<MailAuthentication> {
  // Loaded only by processes that receive email, because of its many dependencies, which no server needs to start.
  const { authenticate } = await import('mailauth');
  const queries = { count: 0 };
  try {
    const { dkim, dmarc } = await within(
      authenticate(Buffer.from(raw), {
        ...(isNear ? { trustReceived: true } : { ip: remote, helo }),
        sender: from,
        mta: 'mail-in',
        disableBimi: true,
        resolver: (name, type) => {
          queries.count += 1;
          return queries.count > QUERIES_MAX ? Promise.reject(tooMany()) : lookUp(name, type);
        },
      }),
      WITHIN_MS,
    );
    // An email with several authors would show one to the reader and prove another.
    const [proven, ...others] = dkim.headerFrom;
    if (others.length > 0 || proven?.toLowerCase() !== author) return FORGED;
    return dmarc === false
      ? UNKNOWN
      : { dmarc: dmarcResult(dmarc.status.result), policy: policyOf(dmarc.policy) };
  } catch {
    return UNKNOWN;
  }
}

function tooMany(): Error {
  return Object.assign(new Error('too many questions for one mail'), { code: 'ETIMEOUT' });
}

function dmarcResult(result: string): MailAuthentication['dmarc'] {
  return result === 'pass' || result === 'fail' || result === 'none' ? result : 'unknown';
}

function policyOf(policy: string | undefined): MailAuthentication['policy'] {
  return policy === 'quarantine' || policy === 'reject' ? policy : 'none';
}

/**
 * All checks of an email run in the thread that serves all requests. Many of them take quadratic time in the size of the header. For
 * example, 4,000 signatures of nine megabytes took a minute. One field of 60 kB made of returns, of folds or of `b=` took two to five
 * seconds. No program that writes email comes near these bounds.
 */
const HEADER_MAX_BYTES = 64 * 1024;
/** The whole body is hashed once for each signature with a different length, line by line: at worst this takes a quarter of a second. */
const SIGNATURES_MAX = 10;
const LINES_HASHED_MAX = 500_000;
const LINES_MAX = 2_000;
/** All authors together and all return paths together, because each is parsed as a list of addresses; and one Received field. */
const ADDRESSES_MAX_CHARS = 2_000;
const RECEIVED_MAX_CHARS = 4_000;
/**
 * A domain, selector or identity of a signature. Converting 19,000 non-ASCII characters or trimming 60,000 dots took two to
 * three seconds, before any key was looked up. A domain name has 253 characters, an encoded address at most 960.
 */
const SIGNER_MAX_CHARS = 1_000;
/** Characters that are trimmed, and that may precede the value of a signature. */
const PADDED = /(?<![;: \t\r\n])[;: \t\r\n]{200}/;

function isMadeToBeSlow(raw: Uint8Array): boolean {
  const header = headerOf(raw);
  if (header === null) return true;
  const unfolded = header.replace(/\r?\n[ \t]/g, ' ');
  return (
    PADDED.test(header) ||
    header.split('\n').length > LINES_MAX ||
    signaturesIn(header) > SIGNATURES_MAX ||
    fieldsOf(unfolded, /^from[ \t]*:[^\n]*/gim).join('').length > ADDRESSES_MAX_CHARS ||
    fieldsOf(unfolded, /^return-path[ \t]*:[^\n]*/gim).join('').length > ADDRESSES_MAX_CHARS ||
    hasLongSigner(unfolded) ||
    fieldsOf(unfolded, /^received[ \t]*:[^\n]*/gim).some((field) => field.length > RECEIVED_MAX_CHARS)
  );
}

/**
 * Returns whether proving the email would take too long. Honest emails of ten megabytes with many signatures are among them. Beyond the
 * bound, signatures prove nothing but are not suspicious either, so the author's policy decides about an email without proof.
 */
function isSlowToProve(raw: Uint8Array): boolean {
  // The newest forwarder of an ARC chain signs the body as well.
  const hashes = signaturesIn(headerOf(raw) ?? '') + 1;
  let hashed = 0;
  for (let at = raw.indexOf(LF); at >= 0 && hashed <= LINES_HASHED_MAX; at = raw.indexOf(LF, at + 1))
    hashed += hashes;
  return hashed > LINES_HASHED_MAX;
}

const LF = 10;

/** Returns null if the header does not end within its bound. */
function headerOf(raw: Uint8Array): string | null {
  const head = Buffer.from(raw.subarray(0, HEADER_MAX_BYTES)).toString('latin1');
  const end = head.search(/\n\r?\n/);
  if (end < 0 && raw.length > HEADER_MAX_BYTES) return null;
  return end < 0 ? head : head.slice(0, end);
}

function signaturesIn(header: string): number {
  return fieldsOf(header, /^dkim-signature\s*:/gim).length;
}

const SIGNATURES = /^(?:dkim-signature|arc-seal|arc-message-signature)[ \t]*:[^\n]*/gim;

function hasLongSigner(unfolded: string): boolean {
  const tags = fieldsOf(unfolded, SIGNATURES).flatMap((field) =>
    field.slice(field.indexOf(':') + 1).split(';'),
  );
  return tags.some((tag) => tag.length > SIGNER_MAX_CHARS && /^\s*[dsi]\s*=/i.test(tag));
}

function fieldsOf(header: string, pattern: RegExp): string[] {
  return header.match(pattern) ?? [];
}
