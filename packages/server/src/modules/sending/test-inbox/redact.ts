/**
 * Redacts everything that acts on behalf of an email's recipient. These are links that unsubscribe, count a click or sign a member in, and
 * addresses that accept a bounce or a reply. Each of them alone identifies its user.
 */
export function redactTokens(text: string): string {
  return text.replaceAll(SEAL, REDACTED).replaceAll(TOKEN, `$1${REDACTED}`);
}

const REDACTED = 'redacted';
/** A token of `platform/crypto/email-token.ts`, in any case that a mail server may have made of it. */
const SEAL = /[a-z2-7]{34}\.[a-z2-7]{16}/gi;
/** The token of a link to set up an installation, accept an invitation or reset a password. */
const TOKEN = /(\btoken=)[\da-z]{20,}/gi;
