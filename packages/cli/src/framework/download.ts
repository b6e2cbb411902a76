import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Failure } from '../failure.ts';
import type { Context } from './context.ts';

const OWNER_ONLY = 0o600;

/** Writes a response to a new file or to stdout. With `--json` on stdout, text becomes one JSON string and JSON stays as it is. */
export async function downloadTo(
  { output, shell }: Pick<Context, 'output' | 'shell'>,
  answer: Response,
  out?: string,
): Promise<void> {
  if (out !== undefined) {
    const path = resolve(shell.cwd, out);
    const bytes = await saveTo(path, answer);
    return output.value({ path, bytes }, () => `Wrote ${bytes.toLocaleString('en-US')} bytes to ${out}.`);
  }
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
  if (output.isJson && !isJson) return output.value(await answer.text(), (text) => text);
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) await output.raw(decoder.decode(chunk, { stream: true }));
  await output.raw(isJson ? '\n' : '');
}

/** Exports hold personal data, so only the user may read the file. It never replaces one that exists. */
async function saveTo(path: string, { body }: Response): Promise<number> {
  const file = createWriteStream(path, { flags: 'wx', mode: OWNER_ONLY });
  try {
    await pipeline(Readable.fromWeb((body ?? new Blob().stream()) as ReadableStream), file);
  } catch (error) {
    throw new Failure('file_unwritable', `Cannot write ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return file.bytesWritten;
}
