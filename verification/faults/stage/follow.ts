import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Entry } from '../journal.ts';

/** Returns a function that reads the entries since its last call. An incomplete line is returned the next time. */
export function followJournal(path: string): () => Entry[] {
  let [at, rest] = [0, ''];
  return () => {
    if (!existsSync(path)) return [];
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - at));
      const read = readSync(file, bytes, 0, bytes.length, at);
      at += read;
      const lines = (rest + bytes.toString('latin1', 0, read)).split('\n');
      rest = lines.pop() ?? '';
      return lines.map((line) => JSON.parse(Buffer.from(line, 'latin1').toString()) as Entry);
    } finally {
      closeSync(file);
    }
  };
}
