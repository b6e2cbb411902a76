import type { Finding } from './attack.ts';

/** What tools find and we let be, each with its reason. Nothing of high severity can stand here. */
const ACCEPTED: { attack: string; what: RegExp; reason: string }[] = [
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
