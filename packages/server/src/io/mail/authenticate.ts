import { within } from '../../base/within.ts';
import type { LookUp } from '../dns/index.ts';
import { isMadeToBeSlow, isSlowToProve } from './made-to-be-slow.ts';

/** What the domain that a mail says to be from makes of it. */
export type MailAuthentication = {
  /** `none`: the domain says nothing. `unknown`: the DNS did not answer, or the mail cannot be read. */
  dmarc: 'pass' | 'fail' | 'none' | 'unknown';
  /** What is to become of mail that fails. */
  policy: 'none' | 'quarantine' | 'reject';
};

export type MailSource = {
  raw: Uint8Array;
  remote: string;
  isNear: boolean;
  helo: string;
  from: string;
  /** Who is taken to have written it: nobody else's proof counts for them. */
  author: string | null;
};

const WITHIN_MS = 20_000;
/** Each signature asks for a key, SPF for ten records: more than these has only what is made to be slow. */
const QUESTIONS_MAX = 60;
const UNKNOWN: MailAuthentication = { dmarc: 'unknown', policy: 'none' };
const FORGED: MailAuthentication = { dmarc: 'fail', policy: 'reject' };
/**
 * SPF, DKIM, ARC and DMARC, by the server that handed the mail over. Where that is one of
 * ours in front (`isNear`), the newest Received line, which it wrote, says where it had the mail from.
 */
export async function authenticateMail(source: MailSource, lookUp: LookUp): Promise<MailAuthentication> {
  const { author } = source;
  if (author === null || isMadeToBeSlow(source.raw)) return FORGED;
  const policy = await findPolicy(author, lookUp);
  const judged = isSlowToProve(source.raw) ? UNKNOWN : await judge(source, lookUp);
  return judged.dmarc === 'pass' || policy === 'none' ? judged : { dmarc: 'fail', policy };
}

/** Asked apart: of all that a mail makes us ask, the name servers of whoever made it use up neither its time nor its questions. */
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
  // Loaded by whoever takes mail in: it brings much with it that no server needs in order to start.
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
    // Whoever names several authors shows one to the reader and proves another.
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
