import { Failure } from '../failure.ts';
import { unreachable } from './refusal.ts';

const LINE_MAX_CHARS = 16 * 1024 * 1024;

/** What a server answers line by line, each of them JSON. */
export async function* linesOf<T>(answer: Response): AsyncGenerator<T, void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of answer.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_MAX_CHARS)
        throw new Failure('too_large', 'The server sent a line that has no end');
      for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreachable('The server', error);
  }
}
