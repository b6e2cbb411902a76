import type { Finding } from './attack.ts';

/** Findings of tools that we accept, each with its reason. No finding of high severity may be listed here. */
const ACCEPTED: { attack: string; title: RegExp; reason: string }[] = [
  {
    attack: 'S12',
    title: /^wapiti: HTTP Secure Headers at [^:]*: X-Frame-Options is not set/,
    reason:
      "the content security policy decides who may frame a page (frame-ancestors 'none'), and every supported browser knows it",
  },
  {
    attack: 'S12',
    title: /^wapiti: HTTP Secure Headers at [^:]*: X-XSS-Protection is not set/,
    reason:
      'no browser has that filter any more, and it could be turned against the page; the policy allows only our own files to run',
  },
  {
    attack: 'S12',
    title: /^wapiti: HTTP Secure Headers at [^:]*: Strict-Transport-Security is not set/,
    reason: 'the scanner connects without TLS, where browsers ignore the header; over TLS it is sent',
  },
  {
    attack: 'S13',
    title: /^mail server: a cipher without AEAD/,
    reason:
      'without these suites, which have forward secrecy over TLS 1.2, older mail servers would deliver in plain text',
  },
  {
    attack: 'S13',
    title: /^testssl: BREACH/,
    reason:
      'only files that are the same for all users are compressed, and no response that contains user data',
  },
];

export function acceptedReason(attack: string, { severity, title }: Finding): string | null {
  if (severity === 'high') return null;
  return ACCEPTED.find((entry) => entry.attack === attack && entry.title.test(title))?.reason ?? null;
}

/**
 * Patterns that recheck calls vulnerable, and the longest text that each can receive. Every run measures the cost of the worst text of that
 * length and holds it to the limit for any input.
 */
export const BOUNDED_PATTERNS: { source: string; charsMax: number; bounded: string }[] = [
  {
    source: String.raw`[\p{L}\p{N}._%+'-]{1,320}(?:@|%40)[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*`,
    charsMax: 8_000,
    bounded: 'log text is truncated there before it is masked',
  },
  {
    source: String.raw`[^\s<>"'(),:;：（），、；。「」【】《》]+@(?:\[[\w.:]*\]|[\w.-]+)`,
    charsMax: 2_000,
    bounded: 'a refusal is truncated there before it is parsed',
  },
  {
    source: String.raw`\b(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]+\b`,
    charsMax: 2_000,
    bounded: 'a refusal is truncated there before it is parsed',
  },
  {
    source: String.raw`(^|[\r\n]\s*|\s)[245]\d\d[- ](?=\S)`,
    charsMax: 2_000,
    bounded: 'a refusal is truncated there before it is parsed',
  },
  {
    source: String.raw`^[\s>*"'-]{0,12}(?:<[^<>\s@]+@[^<>\s]+>|[^\s<>:,;()"'@]+@[\w.-]+\w)(?=$|[\s:,;("']|\.(?:\s|$))`,
    charsMax: 2_000,
    bounded: 'a line of a report is truncated there',
  },
  {
    source: String.raw`[a-z2-7]{34}\.[a-z2-7]{16}`,
    charsMax: 64 * 1024,
    bounded: 'a response is truncated there before it is stored',
  },
];
