import type { Finding } from './attack.ts';

/** Findings of tools that we accept, each with its reason. No finding of high severity may be listed here. */
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

/**
 * Patterns that recheck calls vulnerable, and the longest text that each can receive. Every run measures the cost of the worst text of that
 * length and holds it to the limit for any input.
 */
export const BOUNDED_PATTERNS: { source: string; charsMax: number; bounded: string }[] = [
  {
    source: String.raw`[\p{L}\p{N}._%+'-]{1,320}(?:@|%40)[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*`,
    charsMax: 8_000,
    bounded: 'a text of the log is cut there before it is masked',
  },
  {
    source: String.raw`[^\s<>"'(),:;：（），、；。「」【】《》]+@(?:\[[\w.:]*\]|[\w.-]+)`,
    charsMax: 2_000,
    bounded: 'a refusal is cut there before it is read',
  },
  {
    source: String.raw`\b(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]+\b`,
    charsMax: 2_000,
    bounded: 'a refusal is cut there before it is read',
  },
  {
    source: String.raw`(^|[\r\n]\s*|\s)[245]\d\d[- ](?=\S)`,
    charsMax: 2_000,
    bounded: 'a refusal is cut there before it is read',
  },
  {
    source: String.raw`^[\s>*"'-]{0,12}(?:<[^<>\s@]+@[^<>\s]+>|[^\s<>:,;()"'@]+@[\w.-]+\w)(?=$|[\s:,;("']|\.(?:\s|$))`,
    charsMax: 2_000,
    bounded: 'a line of a report is cut there',
  },
  {
    source: String.raw`[a-z2-7]{34}\.[a-z2-7]{16}`,
    charsMax: 64 * 1024,
    bounded: 'an answer is cut there before it is kept',
  },
];
