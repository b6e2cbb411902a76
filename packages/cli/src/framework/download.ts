import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileResult } from '../files.ts';
import type { Context } from './context.ts';

const OWNER_ONLY = 0o600;

/** Writes a response to a new file or to stdout. With `--json` on stdout, text becomes one JSON string and JSON stays as it is. */
export async function downloadTo(
  { output, shell }: Pick<Context, 'output' | 'shell'>,
  response: Response,
  out?: string,
): Promise<void> {
  if (out !== undefined) {
    const path = resolve(shell.cwd, out);
    const bytes = await saveTo(path, response);
    return output.value({ path, bytes }, () => `Wrote ${bytes.toLocaleString('en-US')} bytes to ${out}.`);
  }
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  const isJson = type === 'application/json';
  if (output.isJson && !isJson && type !== 'application/x-ndjson')
    return output.value(await response.text(), (text) => text);
  for await (const chunk of response.body ?? []) await output.raw(chunk);
  if (isJson) await output.raw('\n');
}

/** Exports hold personal data, so only the user may read the file. It replaces no other file, and is removed when it stays incomplete. */
async function saveTo(path: string, { body }: Response): Promise<number> {
  const file = await fileResult('write', path, open(path, 'wx', OWNER_ONLY));
  try {
    await file.writeFile(body ?? '');
    return (await file.stat()).size;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
