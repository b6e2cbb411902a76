import type { Home } from '@beckon/contract/dashboard';
import { SIGNATURE_TOLERANCE_S } from '@beckon/contract/signature';
import type { Dashboard, Fetch } from '../api/dashboard.ts';
import { findProject } from '../api/project.ts';
import { unreachable } from '../api/refusal.ts';
import { Failure } from '../failure.ts';
import { when } from '../output/when.ts';
import type { Connection } from '../profiles/connection.ts';

export type Check = {
  name: string;
  status: 'ok' | 'warning' | 'error' | 'skipped';
  message: string;
  /** What to do about it, where anything is to be done. */
  todo: string | null;
};

export type CheckDeps = {
  connection: Connection;
  version: string;
  now: () => number;
  signal: AbortSignal;
  fetch?: Fetch;
};

type Asked = Required<CheckDeps>;

const TIMEOUT_MS = 10_000;
const CLOCK_WARN_MS = 5_000;

/** In this order, because what comes later needs what came before. */
export async function checkServer(deps: CheckDeps): Promise<Check[]> {
  const asked = { fetch: globalThis.fetch, ...deps };
  const { url } = asked.connection;
  const startedAt = asked.now();
  let live: Response;
  try {
    live = await get(asked, '/livez');
  } catch (error) {
    const { message } = unreachable(url, error);
    return [bad('server', message, 'Is it running, and is --url (or BECKON_URL) its address?')];
  }
  if (live.status !== 200)
    return [
      bad(
        'server',
        `${url}/livez answered ${live.status}`,
        'This is not Beckon, or something stands before it',
      ),
    ];
  return [
    good('server', `${url} answers`),
    transport(url),
    clock(live, { startedAt, endedAt: asked.now() }),
    await version(asked),
    await ready(asked),
  ];
}

/** A request that the key opens and that is refused for what it says leaves nothing behind. */
export async function checkKey(deps: CheckDeps): Promise<Check> {
  const asked = { fetch: globalThis.fetch, ...deps };
  let key: string;
  try {
    key = await asked.connection.apiKey();
  } catch (error) {
    return skipped('key', error);
  }
  const kind = key.startsWith('sk_test_') ? 'a sandbox key' : 'a live key';
  const answer = await send(asked, '/api/v1/events', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  }).catch((error: unknown) => unreachable(asked.connection.url, error));
  if (answer instanceof Failure) return bad('key', answer.message, 'Try again');
  if (answer.status === 422) return good('key', `It is right, and ${kind}`);
  if (answer.status === 401)
    return bad('key', 'The server does not know this API key', 'Make one in the dashboard: API keys');
  if (answer.status === 429)
    return warn('key', 'There is no room to try it: too many requests', 'Try again in a moment');
  return bad('key', `The server answered ${answer.status} to it`, 'Is this the address of the API?');
}

/** What the token opens, and what stands in the way of letters there. */
export async function checkToken(
  { connection, now }: CheckDeps,
  dashboard: () => Promise<Dashboard>,
): Promise<Check[]> {
  try {
    const asked = await dashboard();
    const { data } = await asked.call('GET /token', {});
    const days = Math.floor((Date.parse(data.expires_at) - now()) / 86_400_000);
    const scopes = `It may ${data.scopes.join(', ')} until ${when(data.expires_at)}`;
    const token = days < 7 ? warn('token', scopes, 'Run beckon login before it ends') : good('token', scopes);
    return [token, ...(await checkProject(asked, connection))];
  } catch (error) {
    const failure = asFailure(error);
    if (failure.code === 'session_required') return [skipped('token', failure)];
    return [bad('token', failure.message, 'Run beckon login')];
  }
}

async function checkProject(dashboard: Dashboard, { project }: Connection): Promise<Check[]> {
  try {
    const { id } = await findProject(dashboard, project);
    const { data } = await dashboard.call('GET /projects/:project/home', { params: { project: id } });
    return projectChecks(data.health);
  } catch (error) {
    return [skipped('project', error)];
  }
}

function projectChecks({ queue, domain, sender }: Home['health']): Check[] {
  const { waiting, waiting_max: most } = queue;
  const isFull = waiting >= most;
  return [
    isFull
      ? warn(
          'queue',
          `${waiting} records wait, and no more are taken`,
          'Wait; if it does not shrink, look at System',
        )
      : good('queue', `${waiting} of at most ${most} records wait`),
    senderCheck(sender),
    ...(domain === null ? [] : [domainCheck(domain)]),
  ];
}

function senderCheck({ outbox, no }: Home['health']['sender']): Check {
  if (outbox) return good('sender', 'Letters stay in the outbox of the server: no relay is set up');
  if (no === null) return good('sender', 'Letters may leave');
  return warn('sender', `Letters are held: ${no.detail}`, 'Look at Home in the dashboard');
}

function domainCheck({ name, state, paused }: NonNullable<Home['health']['domain']>): Check {
  if (state === 'verified' && paused === null) return good('domain', `${name} is verified`);
  return warn(
    'domain',
    `${name} is ${paused === null ? state : 'paused'}`,
    'Look at Domains in the dashboard',
  );
}

function transport(url: string): Check {
  if (url.startsWith('https:'))
    return good('tls', 'The connection is encrypted, and its certificate is trusted');
  return good('tls', 'http:// on this very machine, which needs no encryption');
}

/** Half of the way there and back is what nobody can know. */
function clock(answer: Response, { startedAt, endedAt }: { startedAt: number; endedAt: number }): Check {
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs))
    return warn('clock', 'The server did not say what time it is', 'Does a proxy take the header Date away?');
  // The header has whole seconds, and was written somewhere in between.
  const offMs = Math.max(0, startedAt - 1_000 - theirs, theirs - endedAt);
  const said = `This machine's clock is ${(offMs / 1_000).toFixed(1)} s off the server's`;
  if (offMs > SIGNATURE_TOLERANCE_S * 1_000)
    return bad('clock', said, 'Webhook signatures are refused beyond 5 minutes: set the clock by NTP');
  return offMs > CLOCK_WARN_MS ? warn('clock', said, 'Set the clock by NTP') : good('clock', said);
}

async function version(asked: Asked): Promise<Check> {
  const answer = await get(asked, '/version').catch(() => null);
  const found = (await answer?.json().catch(() => null)) as { data?: { version?: unknown } } | null;
  const theirs = found?.data?.version;
  if (typeof theirs !== 'string')
    return warn('version', 'The server does not say its version', 'Is this Beckon?');
  const said = `The server is ${theirs}, this is ${asked.version}`;
  if (line(theirs) === line(asked.version) || theirs === '0.0.0') return good('version', said);
  return warn('version', said, 'Bring both to the same minor version');
}

/** Before 1.0 each minor version may break, after it each major one. */
function line(text: string): string {
  const [major = '', minor = ''] = text.split('.');
  return major === '0' ? `0.${minor}` : major;
}

async function ready(asked: Asked): Promise<Check> {
  const answer = await get(asked, '/readyz').catch(() => null);
  if (answer?.status === 200) return good('ready', 'It takes traffic');
  const found = (await answer?.json().catch(() => null)) as { errors?: { message?: unknown }[] } | null;
  const reasons = found?.errors?.map(({ message }) => String(message)).join('; ');
  return bad(
    'ready',
    reasons ?? 'It does not say whether it takes traffic',
    'Whoever runs it sees more with beckon-server doctor',
  );
}

function get(asked: Asked, path: string): Promise<Response> {
  return send(asked, path, {});
}

function send(
  { connection, signal, fetch, version }: Asked,
  path: string,
  init: RequestInit,
): Promise<Response> {
  return fetch(connection.url + path, {
    ...init,
    headers: {
      'user-agent': `beckon-cli/${version}`,
      ...(init.headers as Record<string, string> | undefined),
    },
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
