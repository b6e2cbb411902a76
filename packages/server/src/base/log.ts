import { destination, pino } from 'pino';
import { createMask } from './mask.ts';

/** One wide line per hop, named as a fact: `log.info({ ids, ms }, 'records.accepted')`. */
export type Log = {
  debug(facts: object, fact: string): void;
  info(facts: object, fact: string): void;
  warn(facts: object, fact: string): void;
  error(facts: object, fact: string): void;
};

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `secrets`: those of this installation, of which no line tells anything. */
export function createLog(level: LogLevel, fd: 1 | 2 = 1, secrets: readonly string[] = []): Log {
  const mask = createMask(secrets);
  return unfailing(
    pino(
      {
        level,
        base: null,
        messageKey: 'fact',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { log: (facts) => mask(facts) as Record<string, unknown> },
        // What the mask made of an error is none any more.
        serializers: { err: (error: unknown) => error },
      },
      destination({ fd, sync: true }),
    ),
  );
}

/** A full disk under the log must not turn a commit into an error: a line that cannot be written is lost. */
function unfailing(log: Log): Log {
  const tried =
    (level: keyof Log) =>
    (facts: object, fact: string): void => {
      try {
        log[level](facts, fact);
      } catch {
        // There is nowhere left to say so.
      }
    };
  return { debug: tried('debug'), info: tried('info'), warn: tried('warn'), error: tried('error') };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
