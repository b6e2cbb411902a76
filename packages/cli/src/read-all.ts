import { usage } from './failure.ts';
import type { Source } from './shell.ts';

/** Reads all of stdin as text, up to a limit. */
export async function readAll(source: Source, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source.chunks()) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw usage(`The input on stdin is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
