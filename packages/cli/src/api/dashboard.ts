import type { ResponseOf, BodyOf, ParamsOf, QueryOf, RouteKey } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import { textOf } from '../read-all.ts';
import { sendHttp, type Target } from './http.ts';
import { failureOf, unreachable } from './refusal.ts';

/** The dashboard API, one call per route, typed by the contract. */
export type Dashboard = {
  call<K extends RouteKey>(key: K, request: RequestOf<K> & { timeoutMs?: number }): Promise<ResponseOf<K>>;
  /** For responses that are not one JSON value: files, JSON lines and feeds. */
  open<K extends RouteKey>(key: K, request: RequestOf<K> & OpenOptions): Promise<Response>;
};

/** The calls of a command: only the routes that it names, with `:project` filled in. */
export type Api<R extends RouteKey> = {
  call<K extends R>(key: K, request: CallOf<K>): Promise<ResponseOf<K>>;
  open<K extends R>(key: K, request: RequestOf<K, 'project'> & OpenOptions): Promise<Response>;
};
/** `project`: another project than the chosen one. */
type CallOf<K extends RouteKey> = RequestOf<K, 'project'> & { project?: string; timeoutMs?: number };

type Part<Name extends string, T> = [T] extends [undefined] ? { [N in Name]?: never } : { [N in Name]: T };
type Params<P> = keyof P extends never ? { params?: never } : { params: P };
/** `Without`: the names of path parameters that the caller does not give. */
export type RequestOf<K extends RouteKey, Without extends string = never> = Params<
  Omit<ParamsOf<K>, Without>
> &
  Partial<Part<'query', QueryOf<K>>> &
  Part<'body', BodyOf<K>>;

export type OpenOptions = { headers?: Record<string, string>; signal?: AbortSignal; bytes?: Uint8Array };

export type DashboardDeps = {
  target: Target;
  version: string;
  /** Null for the local socket, and for routes that are open to everyone. */
  token: string | null;
  signal: AbortSignal;
};

const TIMEOUT_MS = 30_000;
/** The largest real response, an email with its images, is a fraction of this. */
const ANSWER_MAX_BYTES = 32 * 1024 * 1024;

export function createDashboard({ target, version, token, signal }: DashboardDeps): Dashboard {
  const name = target.socketPath ?? target.url;

  async function send(request: Resolved, until: AbortSignal): Promise<Response> {
    const { method, path, body, bytes, headers = {} } = request;
    let response: Response;
    try {
      response = await sendHttp(target, {
        method,
        path: `/api/dashboard${path}`,
        headers: {
          accept: 'application/json',
          'user-agent': `beckon-cli/${version}`,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
          ...headers,
        },
        body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
        signal: until,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(name, error);
    }
    if (response.ok) return response;
    throw failureOf(response, await readText(response, name), name);
  }

  return {
    async call(key, request) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS)]);
      const response = await send(resolveRequest(key, request as Loose), until);
      const text = await readText(response, name).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error instanceof Failure ? error : unreachable(name, error);
      });
      try {
        return JSON.parse(text) as never;
      } catch {
        throw new Failure('not_json', `The response of ${name} is not from Beckon. Check the address.`);
      }
    },
    async open(key, request) {
      const { headers = {}, signal: requestSignal, bytes } = request;
      const until = requestSignal === undefined ? signal : AbortSignal.any([signal, requestSignal]);
      const resolved = resolveRequest(key, request as Loose);
      return send({ ...resolved, bytes, headers: { accept: '*/*', ...headers } }, until);
    },
  };
}

type Resolved = {
  method: string;
  path: string;
  body: unknown;
  bytes?: Uint8Array | undefined;
  headers?: Record<string, string>;
};

type Loose = { params?: Record<string, string>; query?: object; body?: unknown };

function resolveRequest(key: string, { params = {}, query = {}, body }: Loose): Resolved {
  const [method = 'GET', pattern = ''] = key.split(' ');
  const values = new Map(Object.entries(params));
  const path = pattern.replaceAll(/:(\w+)/g, (_found, name: string) => segment(values.get(name) ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, string | number | undefined][])
    if (value !== undefined) search.set(name, String(value));
  return {
    method,
    path: search.size === 0 ? path : `${path}?${search.toString()}`,
    body: method === 'GET' ? undefined : body,
  };
}

/** An id is one path segment. Empty, `.` and `..` would select another route. */
function segment(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new Failure('not_found', `“${value}” is not a valid id`);
  return encodeURIComponent(value);
}

async function readText({ body }: Response, name: string): Promise<string> {
  const tooLarge = new Failure('too_large', `The response of ${name} is larger than 32 MiB`);
  return body === null ? '' : textOf(body, { maxBytes: ANSWER_MAX_BYTES, tooLarge });
}
