import { errorLine, type Failure } from '../failure.ts';
import type { Shell } from '../shell.ts';
import { type Paint, painter } from './paint.ts';
import { printableLines, toJson } from './printable.ts';
import { type Row, table } from './table.ts';

/**
 * What a command says. On a terminal tables and sentences; into a pipe lines of JSON, one a thing; with `--json` one value, and
 * lines of it for what has no end. Notes go to stderr, so that a pipe never reads them.
 */
export type Output = {
  /** For people, and not for a program. */
  isForPeople: boolean;
  paint: Paint;
  one<T>(value: T, show: (value: T) => string): Promise<void>;
  many<T>(values: readonly T[], show: Shown<T>): Promise<void>;
  /** Many that are shown as one text. */
  all<T>(values: readonly T[], show: (values: readonly T[]) => string): Promise<void>;
  /** One of a stream that goes on. */
  next<T>(value: T, show: (value: T) => string): Promise<void>;
  /** Text as it is, such as a file that goes to stdout. */
  plain(text: string): Promise<void>;
  /** To whoever watches; silent with `--quiet`. */
  note(text: string): Promise<void>;
  /** A line that the next one replaces; only where somebody watches a terminal. Empty: takes it away. */
  progress(text: string): Promise<void>;
  fail(failure: Failure): Promise<void>;
};

export type Shown<T> = { row: (value: T) => Row; none: string };

export type OutputOptions = { json?: boolean; quiet?: boolean; color?: boolean };

export function createOutput(
  { stdout, stderr, env }: Pick<Shell, 'stdout' | 'stderr' | 'env'>,
  { json = false, quiet = false, color = true }: OutputOptions,
): Output {
  const isForPeople = stdout.isTerminal && !json;
  const mayPaint = color && (env['NO_COLOR'] ?? '') === '';
  const paint = painter(mayPaint && isForPeople);
  const paintError = painter(mayPaint && stderr.isTerminal && !json);
  let hasProgress = false;

  async function clear(): Promise<void> {
    if (!hasProgress) return;
    hasProgress = false;
    await stderr.write('\r\u001B[2K');
  }
  async function say(text: string): Promise<void> {
    await clear();
    await stdout.write(`${text}\n`);
  }
  async function all<T>(values: readonly T[], show: (values: readonly T[]) => string): Promise<void> {
    if (json) return say(toJson(values));
    if (isForPeople) return say(show(values));
    for (const value of values) await say(toJson(value));
  }

  return {
    isForPeople,
    paint,
    one: (value, show) => say(isForPeople ? show(value) : toJson(value)),
    many: (values, { row, none }) =>
      all(values, () => {
        const [head = '', ...lines] = table(values.map(row), stdout.columns());
        return values.length === 0 ? none : [paint('dim', head), ...lines].join('\n');
      }),
    all,
    next: (value, show) => say(isForPeople ? show(value) : toJson(value)),
    plain: (text) => stdout.write(text),
    async note(text) {
      if (quiet) return;
      await clear();
      await stderr.write(`${printableLines(text)}\n`);
    },
    async progress(text) {
      if (quiet || !stderr.isTerminal || json) return;
      await clear();
      if (text === '') return;
      hasProgress = true;
      await stderr.write(printableLines(text).slice(0, Math.max(1, stderr.columns() - 1)));
    },
    async fail(failure) {
      await clear();
      const isRead = stderr.isTerminal && !json;
      await stderr.write(isRead ? `${forPeople(failure, paintError)}\n` : `${toJson(errorLine(failure))}\n`);
    },
  };
}

function forPeople({ message, field, requestId }: Failure, paint: Paint): string {
  const where = field === undefined || message.includes(field) ? '' : ` (${field})`;
  const about = requestId === undefined ? '' : `\n${paint('dim', `request ${printableLines(requestId)}`)}`;
  return `${paint('red', 'error')}  ${printableLines(message + where)}${about}`;
}
