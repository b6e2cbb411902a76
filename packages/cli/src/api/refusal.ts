import { BeckonError } from '@beckon/client';
import { EXIT, type ExitCode, Failure } from '../failure.ts';

/** What an answer that is no 2xx means to whoever typed the command. */
export function failureOf(answer: Response, text: string): Failure {
  const requestId = answer.headers.get('x-request-id') ?? undefined;
  const [first, ...more] = entriesOf(text);
  const exit = exitOf(answer.status);
  if (!first) {
    const message = `The server answered ${answer.status}, in no form of Beckon's: is the address right?`;
    return new Failure('unexpected_answer', message, { requestId, exit });
  }
  const said = [first, ...more].map(({ message }) => message).join('\n');
  const message = said + whatToDo(answer, first.code);
  return new Failure(first.code, message, { field: first.field, requestId, exit });
}

/** Where nothing came back at all. */
export function unreachable(url: string, error: unknown): Failure {
  if (error instanceof Error && error.name === 'TimeoutError')
    return new Failure('timeout', `${url} did not answer in time`, { cause: error });
  return new Failure('unreachable', `${url} cannot be reached: ${reasonOf(error)}`, { cause: error });
}

/** Whatever was thrown, as a failure; null: somebody interrupted it, which is none. */
export function toFailure(error: unknown, signal: AbortSignal): Failure | null {
  if (error instanceof Failure) return error;
  if (signal.aborted) return null;
  if (error instanceof BeckonError) {
    const { code, message, status, requestId, errors } = error;
    const exit = exitOf(status ?? 0);
    return new Failure(code, message, { field: errors[0]?.field, requestId: requestId ?? undefined, exit });
  }
  return new Failure('failed', reasonOf(error), { cause: error });
}

export function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

export function redirected(url: string, answer: Response): Failure {
  const to = answer.headers.get('location');
  const where = to === null ? '' : ` to ${to}`;
  return new Failure('redirected', `${url} leads on${where}: give the address at which Beckon is with --url`);
}

type Entry = { code: string; message: string; field?: string };

function entriesOf(text: string): Entry[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    return Array.isArray(errors) ? errors.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  const entry = value as Partial<Entry> | null;
  return typeof entry?.code === 'string' && typeof entry.message === 'string';
}

function exitOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth;
  // What was typed is not valid: the same command again helps nobody.
  return status === 422 || status === 400 ? EXIT.usage : EXIT.failed;
}

function whatToDo(answer: Response, code: string): string {
  if (code === 'session_required') return '\nThe token is not valid (any more): run beckon login';
  const after = Number(answer.headers.get('retry-after'));
  return answer.status === 429 && after > 0 ? `; try again in ${after} s` : '';
}

/** fetch wraps what happened, and a name of several addresses wraps it once more. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined && error.message === 'fetch failed') return reasonOf(error.cause);
  return error.message;
}
