import { destination, pino } from 'pino';
import type { LogEvent, LogFields } from './log-names.ts';
import { createMask } from './text/mask.ts';

export type { LogEvent, LogFields } from './log-names.ts';

/** Each call writes one line of JSON with all fields of an event: `log.info({ projects, ms }, 'records.processed')`. */
export type Log = {
  debug(fields: LogFields, event: LogEvent<'debug'>): void;
  info(fields: LogFields, event: LogEvent<'info'>): void;
  warn(fields: LogFields, event: LogEvent<'warn'>): void;
  error(fields: LogFields, event: LogEvent<'error'>): void;
};

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `secrets`: the values of this installation's secrets. They are redacted in every line. */
export function createLog(level: LogLevel, fd: 1 | 2 = 1, secrets: readonly string[] = []): Log {
  const mask = createMask(secrets);
  const log = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: (fields) => mask(fields) as Record<string, unknown> },
      // The mask has already converted the error to a plain object.
      serializers: { err: (error: unknown) => error },
    },
    destination({ fd, sync: true }),
  );
  return {
    debug: (fields, event) => attempt(() => log.debug(fields, event)),
    info: (fields, event) => attempt(() => log.info(fields, event)),
    warn: (fields, event) => attempt(() => log.warn(fields, event)),
    error: (fields, event) => attempt(() => log.error(fields, event)),
  };
}

/** Drops a line that cannot be written. A full disk under the log must not turn a commit into an error. */
function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // No other place is left to report it.
  }
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
