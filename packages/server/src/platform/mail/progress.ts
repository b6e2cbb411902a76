import type { SmtpStage } from './smtp-reply.ts';

/**
 * Tracks the stage of an SMTP session from the library's log: each command sent, each reply read. The library's errors do not contain it: a
 * connection dropped at MAIL and one dropped after the email look the same.
 */
export type Progress = {
  /** Returns the stage whose reply is awaited. */
  awaited: () => SmtpStage;
  /** Returns the stage that the last reply answered. */
  answered: () => SmtpStage;
  beginLetter: () => void;
  logger: Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', (...line: unknown[]) => void>;
};

/** In the order of the replies about one email. Its commands may be pipelined, so replies are counted. */
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
