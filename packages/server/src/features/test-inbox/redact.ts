/**
 * Redacts what acts on behalf of an email's recipient: links that unsubscribe, count a click or sign a member in, and addresses that
 * accept a bounce or a reply. Each of them is proof enough of who uses it.
 */
export function redactTokens(text: string): string {
  return text.replaceAll(SEAL, REDACTED).replaceAll(TOKEN, `$1${REDACTED}`);
}

const REDACTED = 'redacted';
/** A token of `base/letter-token.ts`, in whatever case a mail server left it. */
const SEAL = /[a-z2-7]{34}\.[a-z2-7]{16}/gi;
/** The token of a link to set up an installation, accept an invitation or reset a password. */
const TOKEN = /(\btoken=)[\da-z]{20,}/gi;
