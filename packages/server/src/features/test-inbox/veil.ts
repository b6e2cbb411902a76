/**
 * What a letter holds of its recipient's powers, taken out for whoever else looks at it: links that unsubscribe, count a click or
 * sign somebody in, and addresses that take a bounce or an answer, prove by themselves who comes.
 */
export function veilSeals(text: string): string {
  return text.replaceAll(SEAL, VEILED).replaceAll(TOKEN, `$1${VEILED}`);
}

const VEILED = 'veiled';
/** As `base/letter-token.ts` seals a letter, in whatever case a mail server left it. */
const SEAL = /[a-z2-7]{34}\.[a-z2-7]{16}/gi;
/** As links to set up, to join and to a new password have it. */
const TOKEN = /(\btoken=)[\da-z]{20,}/gi;
