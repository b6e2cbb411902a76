import { within } from '../../../platform/time/within.ts';
import type { LookUp } from '../../../platform/dns/look-up.ts';
import { isMadeToBeSlow, isSlowToProve } from './slow-mail-limits.ts';

/** The result for the domain in `From`. */
export type MailAuthentication = {
  /** `none`: the domain has no policy. `unknown`: the DNS did not answer, or the email is unreadable. */
  dmarc: 'pass' | 'fail' | 'none' | 'unknown';
  /** The policy for emails that fail. */
  policy: 'none' | 'quarantine' | 'reject';
};

export type MailSource = {
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
const QUESTIONS_MAX = 60;
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
  const judged = isSlowToProve(source.raw) ? UNKNOWN : await judge(source, lookUp);
  return judged.dmarc === 'pass' || policy === 'none' ? judged : { dmarc: 'fail', policy };
}

/** Queried separately, so that the sender's name servers cannot use up the time and the queries of the policy lookup. */
async function findPolicy(author: string, lookUp: LookUp): Promise<MailAuthentication['policy']> {
  const { dmarc } = await import('mailauth');
  const asked = { headerFrom: author, spfDomains: [], dkimDomains: [], resolver: lookUp };
  const found = await within(dmarc(asked), WITHIN_MS).catch(() => false as const);
  return policyOf(found === false ? undefined : found.policy);
}

async function judge(
  { raw, remote, isNear, helo, from, author }: MailSource,
  lookUp: LookUp,
): Promise<MailAuthentication> {
  // Loaded only by processes that receive email, because of its many dependencies, which no server needs to start.
  const { authenticate } = await import('mailauth');
  const asked = { count: 0 };
  try {
    const { dkim, dmarc } = await within(
      authenticate(Buffer.from(raw), {
        ...(isNear ? { trustReceived: true } : { ip: remote, helo }),
        sender: from,
        mta: 'mail-in',
        disableBimi: true,
        resolver: (name, type) => {
          asked.count += 1;
          return asked.count > QUESTIONS_MAX ? Promise.reject(tooMany()) : lookUp(name, type);
        },
      }),
      WITHIN_MS,
    );
    // An email with several authors would show one to the reader and prove another.
    const [proven, ...others] = dkim.headerFrom;
    if (others.length > 0 || proven?.toLowerCase() !== author) return FORGED;
    return dmarc === false
      ? UNKNOWN
      : { dmarc: verdictOf(dmarc.status.result), policy: policyOf(dmarc.policy) };
  } catch {
    return UNKNOWN;
  }
}

function tooMany(): Error {
  return Object.assign(new Error('too many questions for one mail'), { code: 'ETIMEOUT' });
}

function verdictOf(result: string): MailAuthentication['dmarc'] {
  return result === 'pass' || result === 'fail' || result === 'none' ? result : 'unknown';
}

function policyOf(policy: string | undefined): MailAuthentication['policy'] {
  return policy === 'quarantine' || policy === 'reject' ? policy : 'none';
}
