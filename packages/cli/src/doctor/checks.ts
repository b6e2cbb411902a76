import type { Home } from '@beckon/contract/dashboard';
import { SIGNATURE_TOLERANCE_S } from '@beckon/contract/signature';
import type { Api } from '../api/dashboard.ts';
import { unreachable } from '../api/refusal.ts';
import { Failure } from '../failure.ts';
import type { Connection } from '../profiles/connection.ts';

export type Check = {
  name: string;
  status: 'ok' | 'warning' | 'error' | 'skipped';
  message: string;
  /** The next step, if there is one. */
  todo: string | null;
};

export type CheckDeps = {
  connection: Connection;
  /** The address of the public API. */
  url: string;
  version: string;
  now: () => number;
  signal: AbortSignal;
};

const TIMEOUT_MS = 10_000;
const CLOCK_WARN_MS = 5_000;

/** In this order: each check needs those before it. */
export async function checkServer(deps: CheckDeps): Promise<Check[]> {
  const { url } = deps;
  const startedAt = deps.now();
  const live = await send(deps, '/livez').catch((error: unknown) => unreachable(url, error));
  if (live instanceof Failure)
    return [bad('server', live.message, 'Start the server, or check --url and BECKON_URL')];
  if (live.status !== 200)
    return [
      bad('server', `${url}/livez answered ${live.status}`, 'Check the address, and any proxy before it'),
    ];
  return [
    good('server', `${url} responds`),
    transport(url),
    clock(live, { startedAt, endedAt: deps.now() }),
    await version(deps),
    await ready(deps),
  ];
}

/** Sends an invalid event: a valid key gets 422, and nothing is stored. */
export async function checkKey(deps: CheckDeps): Promise<Check> {
  let key: string;
  try {
    key = await deps.connection.apiKey();
  } catch (error) {
    return skipped('key', error);
  }
  const kind = key.startsWith('sk_test_') ? 'a sandbox key' : 'a live key';
  const response = await send(deps, '/api/v1/events', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  }).catch((error: unknown) => unreachable(deps.url, error));
  if (response instanceof Failure) return bad('key', response.message, 'Try again');
  if (response.status === 422) return good('key', `Valid, ${kind}`);
  if (response.status === 401)
    return bad('key', 'Unknown API key', 'Create one: beckon keys create --name <label>');
  if (response.status === 429) return warn('key', 'Not checked: too many requests', 'Try again in a moment');
  return bad('key', `The server answered ${response.status}`, 'Check the address of the API');
}

/** Checks the token, and finds the reasons for held emails in its project. The local socket needs no token. */
export async function checkToken({ connection, now }: CheckDeps, api: CheckedApi): Promise<Check[]> {
  if (connection.kind === 'local')
    return [good('token', 'Not needed: commands use the local socket'), ...(await checkProject(api))];
  try {
    const { data } = await api.call('GET /token', {});
    const days = Math.floor((Date.parse(data.expires_at) - now()) / 86_400_000);
    const scopes = `Scopes ${data.scopes.join(', ')}, expires in ${days} days`;
    const token =
      days < 7 ? warn('token', scopes, 'Run beckon login before it expires') : good('token', scopes);
    return [token, ...(await checkProject(api))];
  } catch (error) {
    const failure = asFailure(error);
    if (failure.code === 'session_required') return [skipped('token', failure)];
    return [bad('token', failure.message, 'Run beckon login')];
  }
}

type CheckedApi = Api<'GET /token' | 'GET /projects/:project/home'>;

async function checkProject(api: CheckedApi): Promise<Check[]> {
  try {
    const { data } = await api.call('GET /projects/:project/home', {});
    return projectChecks(data.health);
  } catch (error) {
    return [skipped('project', error)];
  }
}

function projectChecks({ queue, domain, sender }: Home['health']): Check[] {
  const { waiting, waiting_max: most } = queue;
  return [
    waiting < most
      ? good('queue', `${waiting} of at most ${most} records wait for processing`)
      : warn('queue', `Full: ${waiting} records wait for processing`, 'See: beckon queue show'),
    senderCheck(sender),
    ...(domain === null ? [] : [domainCheck(domain)]),
  ];
}

function senderCheck({ test_inbox: isTestInbox, problem: no }: Home['health']['sender']): Check {
  if (isTestInbox) return good('sender', 'Emails stay in the test inbox: no relay is configured');
  if (no === null) return good('sender', 'Emails can be sent');
  return warn('sender', `Emails are held: ${no.detail}`, 'See Home in the dashboard');
}

function domainCheck({ name, state, paused }: NonNullable<Home['health']['domain']>): Check {
  if (state === 'verified' && paused === null) return good('domain', `${name} is verified`);
  return warn('domain', `${name} is ${paused === null ? state : 'paused'}`, 'See: beckon domains list');
}

function transport(url: string): Check {
  if (url.startsWith('https:')) return good('tls', 'The connection is encrypted with a trusted certificate');
  return good('tls', 'Not needed: the server is on this machine');
}

/** The Date header is from some moment between request and response. */
function clock(response: Response, { startedAt, endedAt }: { startedAt: number; endedAt: number }): Check {
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(serverTime))
    return warn('clock', 'The response has no Date header', 'Check whether a proxy removes it');
  // The header has whole seconds.
  const offMs = Math.max(0, startedAt - 1_000 - serverTime, serverTime - endedAt);
  const message = `This machine's clock differs from the server's by ${(offMs / 1_000).toFixed(1)} s`;
  if (offMs > SIGNATURE_TOLERANCE_S * 1_000)
    return bad('clock', message, 'Webhook signatures are rejected beyond 5 minutes. Set the clock by NTP.');
  return offMs > CLOCK_WARN_MS ? warn('clock', message, 'Set the clock by NTP') : good('clock', message);
}

async function version(deps: CheckDeps): Promise<Check> {
  const response = await send(deps, '/version').catch(() => null);
  const found = (await response?.json().catch(() => null)) as { data?: { version?: unknown } } | null;
  const server = found?.data?.version;
  if (typeof server !== 'string') return warn('version', 'Unknown server version', 'Check the address');
  const message = `The server is ${server}, this is ${deps.version}`;
  if (line(server) === line(deps.version) || server === '0.0.0') return good('version', message);
  return warn('version', message, 'Use the same minor version on both');
}

/** Before 1.0 each minor version may break, after it each major one. */
function line(text: string): string {
  const [major = '', minor = ''] = text.split('.');
  return major === '0' ? `0.${minor}` : major;
}

async function ready(deps: CheckDeps): Promise<Check> {
  const response = await send(deps, '/readyz').catch(() => null);
  if (response?.status === 200) return good('ready', 'Accepts traffic');
  const found = (await response?.json().catch(() => null)) as { errors?: { message?: unknown }[] } | null;
  const reasons = found?.errors?.map(({ message }) => String(message)).join('; ');
  return bad('ready', reasons ?? 'No readiness answer', 'Run beckon-server doctor on the server');
}

type Request = { method?: string; headers?: Record<string, string>; body?: string };

function send(
  { url, signal, version }: CheckDeps,
  path: string,
  { headers, ...request }: Request = {},
): Promise<Response> {
  return fetch(url + path, {
    ...request,
    headers: { 'user-agent': `beckon-cli/${version}`, ...headers },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
}

function good(name: string, message: string): Check {
  return { name, status: 'ok', message, todo: null };
}

function warn(name: string, message: string, todo: string): Check {
  return { name, status: 'warning', message, todo };
}

function bad(name: string, message: string, todo: string): Check {
  return { name, status: 'error', message, todo };
}

function skipped(name: string, error: unknown): Check {
  return { name, status: 'skipped', message: asFailure(error).message, todo: null };
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
