import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteKey } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import { failureOf, isRedirect, redirected, unreachable } from './refusal.ts';

export type Fetch = typeof globalThis.fetch;

/** The dashboard's own API, asked with a personal token: one call a route, typed by the contract. */
export type Dashboard = {
  call<K extends RouteKey>(key: K, asked: Asked<K>): Promise<AnswerOf<K>>;
  /** For what is no JSON: lines, and feeds that have no end. */
  open<K extends RouteKey>(key: K, asked: Asked<K> & OpenOptions): Promise<Response>;
};

type Part<Name extends string, T> = [T] extends [undefined] ? { [N in Name]?: never } : { [N in Name]: T };
type Params<K extends RouteKey> = keyof ParamsOf<K> extends never
  ? { params?: never }
  : { params: ParamsOf<K> };
type Optional<Name extends string, T> = [T] extends [undefined]
  ? { [N in Name]?: never }
  : { [N in Name]?: T };
export type Asked<K extends RouteKey> = Params<K> & Optional<'query', QueryOf<K>> & Part<'body', BodyOf<K>>;

export type OpenOptions = { headers?: Record<string, string>; signal?: AbortSignal };

export type DashboardDeps = {
  url: string;
  version: string;
  /** Null: of the few routes that are open to programs without one. */
  token: string | null;
  signal: AbortSignal;
  fetch?: Fetch;
};

const TIMEOUT_MS = 30_000;
/** A letter with everything around it is a fraction of it; whatever is larger is not ours. */
const ANSWER_MAX_BYTES = 32 * 1024 * 1024;

export function createDashboard({
  url,
  version,
  token,
  signal,
  fetch = globalThis.fetch,
}: DashboardDeps): Dashboard {
  async function send(request: Request_, until: AbortSignal): Promise<Response> {
    const { method, path, query, body, headers = {} } = request;
    let answer: Response;
    try {
      answer = await fetch(`${url}/api/dashboard${path}${query}`, {
        method,
        headers: {
          accept: 'application/json',
          'user-agent': `beckon-cli/${version}`,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        // A token is never carried on to wherever an answer points.
        redirect: 'manual',
        signal: until,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(url, error);
    }
    if (isRedirect(answer)) throw redirected(url, answer);
    if (answer.ok) return answer;
    throw failureOf(answer, await readText(answer, url));
  }

  return {
    async call(key, asked) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const answer = await send(requestOf(key, asked as Given), until);
      const text = await readText(answer, url).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error instanceof Failure ? error : unreachable(url, error);
      });
      try {
        return JSON.parse(text) as never;
      } catch {
        throw new Failure('no_json', `${url} answered something that is not Beckon's: is the address right?`);
      }
    },
    async open(key, asked) {
      const { headers = {}, signal: own } = asked;
      const until = own === undefined ? signal : AbortSignal.any([signal, own]);
      return send({ ...requestOf(key, asked as Given), headers: { accept: '*/*', ...headers } }, until);
    },
  };
}

type Request_ = {
  method: string;
  path: string;
  query: string;
  body: unknown;
  headers?: Record<string, string>;
};

type Given = { params?: Record<string, string>; query?: object; body?: unknown };

function requestOf(key: string, { params = {}, query = {}, body }: Given): Request_ {
  const [method = 'GET', pattern = ''] = key.split(' ');
  const values = new Map(Object.entries(params));
  const path = pattern.replaceAll(/:(\w+)/g, (_found, name: string) => segment(values.get(name) ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, string | number | undefined][])
    if (value !== undefined) search.set(name, String(value));
  const hasBody = method !== 'GET' && body !== undefined;
  return {
    method,
    path,
    query: search.size === 0 ? '' : `?${search.toString()}`,
    body: hasBody ? body : undefined,
  };
}

/** An id is one step of a path, whatever is in it; these two would be taken for steps of their own. */
function segment(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new Failure('not_found', `There is nothing of the name “${value}”`);
  return encodeURIComponent(value);
}

async function readText(answer: Response, url: string): Promise<string> {
  if (answer.body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_MAX_BYTES)
      throw new Failure('too_large', `${url} answered more than this program reads`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
