import { readFile } from 'node:fs/promises';
import { EXIT, Failure } from './failure.ts';

/** The result of reading or writing a file. An error becomes one that names the path. */
export async function fileResult<T>(verb: 'read' | 'write', path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: Error) => {
    const options = { cause: error, exit: verb === 'read' ? EXIT.usage : EXIT.failed };
    throw new Failure(
      `file_un${verb === 'read' ? 'readable' : 'writable'}`,
      `Cannot ${verb} ${path}: ${error.message}`,
      options,
    );
  });
}

/** The text of a file; null if it does not exist. */
export function readIfPresent(path: string): Promise<string | null> {
  const text = readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return fileResult('read', path, text);
}
