import { destination, pino } from 'pino';
import { createMask } from './mask.ts';

/** Each call writes one line of JSON with all fields of an event: `log.info({ projects, ms }, 'records.processed')`. */
export type Log = {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
};

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `secrets`: the values of this installation's secrets. They are redacted in every line. */
export function createLog(level: LogLevel, fd: 1 | 2 = 1, secrets: readonly string[] = []): Log {
  const mask = createMask(secrets);
  return unfailing(
    pino(
      {
        level,
        base: null,
        messageKey: 'event',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { log: (fields) => mask(fields) as Record<string, unknown> },
        // The mask has turned the error into a plain object already.
        serializers: { err: (error: unknown) => error },
      },
      destination({ fd, sync: true }),
    ),
  );
}

/** Drops a line that cannot be written. A full disk under the log must not turn a commit into an error. */
function unfailing(log: Log): Log {
  const attempt =
    (level: keyof Log) =>
    (fields: object, event: string): void => {
      try {
        log[level](fields, event);
      } catch {
        // No other place is left to report it.
      }
    };
  return { debug: attempt('debug'), info: attempt('info'), warn: attempt('warn'), error: attempt('error') };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
