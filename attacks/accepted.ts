import type { Finding } from './attack.ts';

/** What tools find and we let be, each with its reason. Nothing of high severity can stand here. */
const ACCEPTED: { attack: string; what: RegExp; reason: string }[] = [
  {
    attack: 'S12',
    what: /^wapiti: HTTP Secure Headers at [^:]*: X-Frame-Options is not set/,
    reason:
      "who may frame a page is said by its policy (frame-ancestors 'none'), which every browser that is served knows",
  },
  {
    attack: 'S12',
    what: /^wapiti: HTTP Secure Headers at [^:]*: X-XSS-Protection is not set/,
    reason:
      'no browser has that filter any more, and where one had, it could be turned against the page; the policy lets files of ours run alone',
  },
  {
    attack: 'S12',
    what: /^wapiti: HTTP Secure Headers at [^:]*: Strict-Transport-Security is not set/,
    reason: 'the scanner comes without TLS, where browsers ignore it; over TLS it is sent',
  },
  {
    attack: 'S13',
    what: /^mail door: a cipher without AEAD/,
    reason:
      'mail comes in encrypted where both sides can: without these suites, which have forward secrecy over TLS 1.2, older servers would hand it over in the clear',
  },
  {
    attack: 'S13',
    what: /^testssl: BREACH/,
    reason:
      'only files that are the same for everybody are compressed, no answer that holds anything of anybody',
  },
];

export function accepted(attack: string, { severity, what }: Finding): string | null {
  if (severity === 'high') return null;
  return ACCEPTED.find((one) => one.attack === attack && one.what.test(what))?.reason ?? null;
}

/** Patterns that recheck calls vulnerable, and what bounds them. */
export const ACCEPTED_PATTERNS: { source: string; reason: string }[] = [];
