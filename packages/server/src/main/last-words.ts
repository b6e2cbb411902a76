import { createMask } from '../base/mask.ts';

const EXIT_FAILED = 1;

/**
 * Node prints an error that nobody caught with all that hangs on it, values of somebody's rows among it. From here on it is told by
 * `tell`, and the process ends as it would have. Whoever comes later tells it instead.
 */
export function lastWords(tell: (error: unknown) => void): void {
  process.setUncaughtExceptionCaptureCallback(null);
  process.setUncaughtExceptionCaptureCallback((error: unknown) => {
    try {
      tell(error);
    } finally {
      process.exit(EXIT_FAILED);
    }
  });
}

const mask = createMask();

/** What a log would tell of it, as text. */
export function inPlainWords(error: unknown): string {
  const { err } = mask({ err: error }) as { err: unknown };
  if (typeof err !== 'object' || err === null) return String(err);
  const { type, message, stack, ...more } = err as Record<string, unknown>;
  const rest = Object.keys(more).length > 0 ? `\n${JSON.stringify(more)}` : '';
  return `${String(type)}: ${String(message)}\n${String(stack)}${rest}`;
}
