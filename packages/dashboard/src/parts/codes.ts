/**
 * The display names of the server's codes. No screen shows a code itself: an unknown one, from a newer server, is shown in words.
 */
const STATES: Record<string, string> = {
  scheduled: 'waiting',
  canceled: 'canceled',
  unknown: 'delivery unknown',
  claimed: 'queued',
  submitting: 'sending',
};

const OUTCOMES: Record<string, string> = {
  bot_opened: 'opened by bot',
  bot_clicked: 'clicked by bot',
};

/** The state of a draft or an email, for use within a sentence. */
export function stateWords(state: string): string {
  return named(STATES, state);
}

/** An outcome of an email, for use within a sentence: `email.opened` is "opened". */
export function outcomeWords(type: string): string {
  return named(OUTCOMES, type.replace(/^email\./, ''));
}

/** A code without a display name, in words. Text of a member or a user is no code and stays unchanged. */
export function spaced(code: string): string {
  return /^[a-z0-9_.]+$/.test(code) ? code.replaceAll('_', ' ') : code;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The display name of a code, or the code in words. */
export function named(names: Record<string, string>, code: string): string {
  return (Object.hasOwn(names, code) ? names[code] : undefined) ?? spaced(code);
}
