import { BeckonError } from '@beckon/client';
import { EXIT, type ExitCode, Failure } from '../failure.ts';

/** Converts a response with an error status or a redirect to a failure. */
export function failureOf(response: Response, text: string, name: string): Failure {
  const isRedirect = response.status >= 300 && response.status < 400;
  if (isRedirect) return redirected(name, response.headers.get('location'));
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const [first, ...more] = entriesOf(text);
  const exit = exitOf(response.status);
  if (!first) {
    const message = `The server answered ${response.status} without a Beckon error. Check the address.`;
    return new Failure('unexpected_answer', message, { requestId, exit });
  }
  const messages = [first, ...more].map(({ message }) => message).join('\n');
  const message = messages + nextStep(response, first.code);
  return new Failure(first.code, message, { field: first.field, requestId, exit });
}

/** No response came back. */
export function unreachable(name: string, error: unknown): Failure {
  if (error instanceof Error && error.name === 'TimeoutError')
    return new Failure('timeout', `${name} did not respond in time`, { cause: error });
  const isSocket = name.endsWith('beckon.sock') || name.startsWith('\\\\.\\pipe');
  const next = isSocket ? '. Start the server, or choose another one with --profile or --url.' : '';
  return new Failure('unreachable', `Cannot reach ${name}: ${reasonOf(error)}${next}`, { cause: error });
}

/** Converts anything thrown to a failure; null after an interrupt, which is not an error. */
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

function redirected(name: string, location: string | null): Failure {
  const where = location === null ? '' : ` to ${location}`;
  return new Failure('redirected', `${name} redirects${where}. Pass the address of Beckon itself as --url.`);
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
  return status === 422 || status === 400 ? EXIT.usage : EXIT.failed;
}

function nextStep(response: Response, code: string): string {
  if (code === 'session_required') return '\nThe token is not valid. Run: beckon login';
  const after = Number(response.headers.get('retry-after'));
  return response.status === 429 && after > 0 ? `. Try again in ${after} s` : '';
}

/** `fetch` wraps the actual error, and a host with several addresses wraps it again. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined && error.message === 'fetch failed') return reasonOf(error.cause);
  return error.message;
}
