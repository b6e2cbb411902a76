import { usage } from './failure.ts';
import type { Source } from './shell.ts';

/** All of stdin as text, up to a bound. */
export async function readAll(source: Source, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source.chunks()) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw usage(`There is more on stdin than the ${mostBytes} bytes that this takes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
