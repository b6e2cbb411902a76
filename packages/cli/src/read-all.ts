import { type Failure, usage } from './failure.ts';
import type { Source } from './shell.ts';

/** Reads all of stdin as text, up to a limit. */
export function readAll(source: Source, maxBytes: number): Promise<string> {
  return textOf(source.chunks(), {
    maxBytes,
    tooLarge: usage(`The input on stdin is larger than ${maxBytes} bytes`),
  });
}

export async function textOf(
  content: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge }: { maxBytes: number; tooLarge: Failure },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
