import type { ResponseOf, BodyOf, ParamsOf, QueryOf, RouteKey } from '@beckon/contract/dashboard';
import { ApiError, readFailure } from './failure.ts';
import type { SignIn } from './sign-in.ts';

/** The arguments of one call: only those that its route declares. */
export type CallArgs<K extends RouteKey> = Part<'params', Values<ParamsOf<K>>> &
  Part<'query', Loose<QueryOf<K>>> &
  Part<'body', BodyOf<K>>;

type Part<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T };
/** An id may be a number on the wire; in a path it is always text. */
type Values<T> = { [N in keyof T]: string | number };
type Loose<T> = { [N in keyof T]: Record<never, never> extends Pick<T, N> ? T[N] | undefined : T[N] };

/** A file is sent as raw bytes. */
type AnyArgs = { params?: object; query?: object; body?: unknown };

const API_PATH = '/api/dashboard';

/** The URL of a route that the browser loads directly: an email's frame, a download. */
export function apiUrl<K extends RouteKey>(key: K, args: Omit<CallArgs<K>, 'body'>): string {
  return urlOf(key, args);
}

export type CallOptions = { signal?: AbortSignal | undefined; signIn?: SignIn | undefined };

/**
 * Calls the server. If the session has ended, a dialog above the page requires sign-in, and the call is repeated with nothing lost. A call
 * that needs a confirmation opens a dialog first. Without `signIn`, both fail like any other error response.
 */
export async function call<K extends RouteKey>(
  key: K,
  args: CallArgs<K>,
  options: CallOptions = {},
): Promise<ResponseOf<K>> {
  const response = await request(key, args as AnyArgs, options);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as ResponseOf<K>;
}

/** The same for a streamed response (NDJSON, or the data of server-sent events). */
export async function callForLines<K extends RouteKey>(
  key: K,
  args: CallArgs<K>,
  { onLine, ...options }: CallOptions & { onLine: (line: unknown) => void },
): Promise<void> {
  const { body } = await request(key, args as AnyArgs, options);
  if (!body) return;
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(line, onLine);
  }
  takeLine(rest, onLine);
}

function takeLine(line: string, onLine: (line: unknown) => void): void {
  const json = line.startsWith('data:') ? line.slice(5) : line;
  if (json.trim().startsWith('{')) onLine(JSON.parse(json));
}

async function request(key: RouteKey, args: AnyArgs, { signal, signIn }: CallOptions): Promise<Response> {
  for (;;) {
    const response = await send(key, args, signal);
    if (response.ok) return response;
    const failure = await readFailure(response);
    if (failure.code === 'role_required') signIn?.mayLess();
    if (failure.code === 'confirmation_required' && signIn) {
      if (!(await signIn.confirmation.wait(signal))) throw notConfirmed();
      continue;
    }
    if (failure.code !== 'session_required' || !signIn) throw failure;
    await signIn.again(signal);
  }
}

function notConfirmed(): ApiError {
  const errors = [{ code: 'not_confirmed', message: 'You canceled the confirmation. No change was made.' }];
  return new ApiError({ status: 403, errors, requestId: null });
}

async function send(key: RouteKey, args: AnyArgs, signal: AbortSignal | undefined): Promise<Response> {
  const [method = 'GET'] = key.split(' ');
  const hasBody = method !== 'GET';
  const isFile = args.body instanceof Blob;
  const type = isFile ? 'application/octet-stream' : 'application/json';
  const body = isFile ? (args.body as Blob) : JSON.stringify(args.body ?? {});
  try {
    return await fetch(urlOf(key, args), {
      method,
      credentials: 'same-origin',
      headers: { Accept: 'application/json', ...(hasBody ? { 'Content-Type': type } : {}) },
      ...(hasBody ? { body } : {}),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError({
      status: 0,
      errors: [
        {
          code: 'unreachable',
          message: 'The server did not answer. It may be starting, or you are offline.',
        },
      ],
      requestId: null,
    });
  }
}

export function urlOf(key: string, { params, query }: AnyArgs): string {
  const path = key.slice(key.indexOf(' ') + 1);
  const values = new Map(Object.entries(params ?? {}));
  const filled = path.replaceAll(/:([a-z_]+)/gi, (_, name: string) => {
    const value: unknown = values.get(name);
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${key} requires ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    for (const item of [value].flat())
      if (item !== undefined && item !== null && item !== '') search.append(name, String(item));
  const text = search.toString();
  return `${API_PATH}${filled}${text === '' ? '' : `?${text}`}`;
}
