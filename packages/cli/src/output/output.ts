import { errorJson, type Failure } from '../failure.ts';
import type { Shell } from '../shell.ts';
import { type Paint, painter } from './paint.ts';
import { printableLines, toJson } from './printable.ts';
import { render, type View } from './view.ts';
import { type Words, wordsFor } from './words.ts';

/**
 * The output of a command: views for people, or with `--json` one JSON value, and one line per value for streams.
 * Notes and errors go to stderr, so that stdout holds the result alone.
 */
export type Output = {
  isJson: boolean;
  value<T>(value: T, view: (value: T, words: Words) => View): Promise<void>;
  /** The same for text with colors, in which the caller has replaced control characters: a value of a stream, a checklist. */
  painted<T>(value: T, show: (value: T, words: Words) => string): Promise<void>;
  /** Text or bytes without formatting, such as a file written to stdout. */
  raw(content: string | Uint8Array): Promise<void>;
  /** Silent with `--quiet`. */
  note: (text: string) => Promise<void>;
  /** A line on a terminal that the next one replaces; empty text removes it. */
  progress(text: string): Promise<void>;
  fail(failure: Failure): Promise<void>;
};

export type OutputOptions = { json?: boolean; quiet?: boolean; color?: boolean };

export function createOutput(
  { stdout, stderr, env, now }: Pick<Shell, 'stdout' | 'stderr' | 'env' | 'now'>,
  { json = false, quiet = false, color = true }: OutputOptions,
): Output {
  const mayPaint = color && (env['NO_COLOR'] ?? '') === '';
  const words = wordsFor({
    isTerminal: stdout.isTerminal,
    isPainted: mayPaint && stdout.isTerminal && !json,
    now,
  });
  const paintError = painter(mayPaint && stderr.isTerminal && !json);
  let hasProgress = false;

  async function clear(): Promise<void> {
    if (!hasProgress) return;
    hasProgress = false;
    await stderr.write('\r\u001B[2K');
  }

  return {
    isJson: json,
    async value(value, view) {
      await clear();
      const columns = stdout.isTerminal ? stdout.columns() : Infinity;
      await stdout.write(`${json ? toJson(value) : render(view(value, words), { columns, words })}\n`);
    },
    async painted(value, show) {
      await clear();
      await stdout.write(`${json ? toJson(value) : show(value, words)}\n`);
    },
    async raw(content) {
      await clear();
      await stdout.write(content);
    },
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
      await stderr.write(`${json ? toJson(errorJson(failure)) : errorText(failure, paintError)}\n`);
    },
  };
}

function errorText({ message, field, requestId }: Failure, paint: Paint): string {
  const where = field === undefined || message.includes(field) ? '' : ` (${field})`;
  const request = requestId === undefined ? '' : `\n${paint('dim', `request ${printableLines(requestId)}`)}`;
  return `${paint('red', 'error:')} ${printableLines(message + where)}${request}`;
}
