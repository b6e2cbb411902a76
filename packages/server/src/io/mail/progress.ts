import type { SmtpStage } from '../../base/bounce/index.ts';

/**
 * How far a conversation has come, from the library's log of it: each command sent, each reply read. Its errors do not say:
 * a connection dropped at MAIL and one dropped after the letter look the same.
 */
export type Progress = {
  /** Which answer is being waited for. */
  awaited: () => SmtpStage;
  /** To what the last reply was the answer. */
  answered: () => SmtpStage;
  beginLetter: () => void;
  logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', (...line: unknown[]) => void>;
};

/** In the order in which the replies about one letter come. Its commands may leave all at once, so replies are counted. */
const LETTER_STAGES: SmtpStage[] = ['mail', 'rcpt', 'data', 'body'];

export function watchProgress(): Progress {
  let awaited: SmtpStage = 'connect';
  let answered: SmtpStage = 'connect';

  function note(facts: unknown, line: unknown): void {
    if (typeof facts !== 'object' || facts === null || !('tnx' in facts)) return;
    if (facts.tnx === 'network' && 'remotePort' in facts) awaited = 'greeting';
    if (facts.tnx === 'client') awaited = commandStage(String(line)) ?? awaited;
    if (facts.tnx !== 'server') return;
    answered = awaited;
    const place = LETTER_STAGES.indexOf(awaited);
    if (place >= 0) awaited = LETTER_STAGES[place + 1] ?? awaited;
  }

  const nothing = (): void => {};
  return {
    awaited: () => awaited,
    answered: () => answered,
    beginLetter: () => {
      awaited = 'mail';
    },
    logger: { trace: nothing, debug: note, info: note, warn: nothing, error: nothing, fatal: nothing },
  };
}

function commandStage(line: string): SmtpStage | null {
  if (/^(EHLO|HELO)\b/.test(line)) return 'ehlo';
  if (line === 'STARTTLS') return 'tls';
  return line.startsWith('AUTH') ? 'auth' : null;
}
