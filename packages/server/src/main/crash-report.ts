import { createMask } from '../platform/text/mask.ts';

const EXIT_FAILED = 1;

/**
 * Reports uncaught errors with `tell`, then ends the process as Node would. Node would print the error with all its properties, including
 * values of rows. A later call replaces the earlier one.
 */
export function reportCrash(report: (error: unknown) => void): void {
  process.setUncaughtExceptionCaptureCallback(null);
  process.setUncaughtExceptionCaptureCallback((error: unknown) => {
    try {
      report(error);
    } finally {
      process.exit(EXIT_FAILED);
    }
  });
}

const mask = createMask();

/** Returns the text that a log would contain. */
export function describeCrash(error: unknown): string {
  const { err } = mask({ err: error }) as { err: unknown };
  if (typeof err !== 'object' || err === null) return String(err);
  const { type, message, stack, ...more } = err as Record<string, unknown>;
  const rest = Object.keys(more).length > 0 ? `\n${JSON.stringify(more)}` : '';
  return `${String(type)}: ${String(message)}\n${String(stack)}${rest}`;
}
