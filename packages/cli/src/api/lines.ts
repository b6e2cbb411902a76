import { Failure } from '../failure.ts';
import { unreachable } from './refusal.ts';

const LINE_MAX_CHARS = 16 * 1024 * 1024;

/** Reads a response of JSON lines. */
export async function* linesOf<T>(answer: Response): AsyncGenerator<T, void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of answer.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_MAX_CHARS)
        throw new Failure('too_large', 'The server sent a line larger than 16 MiB');
      for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreachable('The server', error);
  }
}
