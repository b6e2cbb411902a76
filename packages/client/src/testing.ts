import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FaultCode, MANY_BODY_MAX_BYTES, type WebhookData } from '@beckon/contract';
import { newWebhookSecret, readWebhookSecret, signWebhook } from '@beckon/contract/signature';
import { type FakeEvent, FakeProject, type FakeUser, refusal, type Reply } from './fake/project.ts';
import { durationMs } from './fake/validate.ts';

export type { FakeEvent, FakeUser };
export { eventProblems, userProblems } from './fake/validate.ts';

export type FakeRequest = {
  path: string;
  body: unknown;
  idempotencyKey: string | null;
  status: number | null;
};

export type FakeFailure = {
  /** The status of the response; default: 503. */
  status?: number;
  code?: FaultCode;
  retryAfterS?: number;
  /** Closes the connection before or after the request is applied. */
  drop?: 'before' | 'after';
  /** How many requests fail; default: 1. */
  times?: number;
};

export type FakeServer = {
  url: string;
  apiKey: string;
  webhookSecret: string;
  /** The users after all requests, by id. */
  users: ReadonlyMap<string, FakeUser>;
  /** Each event once, in the order of arrival. */
  events: readonly FakeEvent[];
  requests: readonly FakeRequest[];
  fail(failure?: FakeFailure): void;
  /** The answer to bulk requests while the queue of a project is full. */
  queueFull(failure?: Pick<FakeFailure, 'times' | 'retryAfterS'>): void;
  /** Posts a signed webhook to your endpoint and returns the status of its response. */
  deliver<T extends keyof WebhookData>(url: string, type: T, data: WebhookData[T]): Promise<number>;
  reset(): void;
  close(): Promise<void>;
};

/**
 * Starts a Beckon for tests, in this process and in memory. It checks keys and records, stores each write once, and fails on request. It
 * sends no emails, and its clock only counts.
 */
export async function createFakeServer(): Promise<FakeServer> {
  const fake = new Fake();
  const server = createServer((request, response) => {
    // The client ended the request, so there is no response to send.
    fake.handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: fake.apiKey,
    webhookSecret: fake.webhookSecret,
    users: fake.project.users,
    events: fake.project.events,
    requests: fake.requests,
    fail: (failure = {}) => fake.plan(failure),
    queueFull: (failure = {}) =>
      fake.plan({ retryAfterS: 1, ...failure, status: 429, code: 'backfill_queue_full' }),
    deliver: (url, type, data) => fake.deliver(url, type, data),
    reset: () => fake.reset(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

class Fake {
  readonly apiKey = `sk_test_${randomUUID().replaceAll('-', '')}fake`;
  readonly webhookSecret = newWebhookSecret();
  readonly project = new FakeProject();
  readonly requests: FakeRequest[] = [];
  #planned: Required<Pick<FakeFailure, 'times'>> & FakeFailure = { times: 0 };
  #ahead = 0;

  reset(): void {
    this.project.clear();
    this.requests.length = 0;
    this.#planned = { times: 0 };
    this.#ahead = 0;
  }

  plan(failure: FakeFailure): void {
    this.#planned = { times: 1, ...failure };
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request);
    const path = request.url ?? '/';
    const idempotencyKey = request.headers['idempotency-key'] as string | undefined;
    const noted: FakeRequest = { path, body, idempotencyKey: idempotencyKey ?? null, status: null };
    this.requests.push(noted);
    const failure = this.#nextFailure(path);
    if (failure?.drop === 'before') return void request.socket.destroy();
    const reply = refusalOf(failure) ?? this.#reply(request, { path, body, idempotencyKey });
    if (failure?.drop === 'after') return void request.socket.destroy();
    noted.status = reply.status;
    response
      .setHeader('Content-Type', 'application/json; charset=utf-8')
      .setHeader('X-Request-Id', randomUUID());
    if (failure?.retryAfterS !== undefined) response.setHeader('Retry-After', failure.retryAfterS);
    if (reply.replayed) response.setHeader('Idempotent-Replayed', 'true');
    response.writeHead(reply.status).end(JSON.stringify(reply.body));
  }

  async deliver<T extends keyof WebhookData>(url: string, type: T, data: WebhookData[T]): Promise<number> {
    const id = `msg_${randomUUID().replaceAll('-', '')}`;
    const body = JSON.stringify({ id, type, timestamp: new Date().toISOString(), livemode: false, data });
    const secret = readWebhookSecret(this.webhookSecret);
    const timestamp = Math.floor(Date.now() / 1_000);
    const signed = signWebhook({ id, body, timestamp, secrets: secret ? [secret] : [] });
    const headers = { 'content-type': 'application/json', ...signed };
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status;
  }

  /** Only bulk requests can meet a full queue. */
  #nextFailure(path: string): FakeFailure | null {
    const { times, code } = this.#planned;
    if (times === 0 || (code === 'backfill_queue_full' && !path.endsWith('/bulk'))) return null;
    this.#planned.times -= 1;
    return this.#planned;
  }

  #reply(
    { method, headers }: IncomingMessage,
    request: { path: string; body: unknown; idempotencyKey: string | undefined },
  ): Reply {
    if (headers.authorization !== `Bearer ${this.apiKey}`) return refusal(401, 'auth_required');
    if (request.path === '/api/sandbox/clock') return this.#moveClock(method, request.body);
    if (method !== 'POST') return refusal(405, 'method_not_allowed');
    return this.project.take(request) ?? refusal(404, 'not_found');
  }

  #moveClock(method: string | undefined, body: unknown): Reply {
    const by = method === 'GET' ? 0 : durationMs((body as { advance?: unknown } | null)?.advance);
    if (by === null) {
      const message = 'advance is a length of time, as 7d, 36h or 90m';
      return { status: 422, body: { errors: [{ code: 'validation_failed', message, field: 'advance' }] } };
    }
    this.#ahead += by;
    const now = new Date(Date.now() + this.#ahead).toISOString();
    return { status: 200, body: { data: { now, advanced_ms: by, drafts: 0, emails: 0 } } };
  }
}

function refusalOf(failure: FakeFailure | null): Reply | null {
  if (failure === null || failure.drop !== undefined) return null;
  const { status = 503, code = CODES[status] ?? 'server_error' } = failure;
  return refusal(status, code);
}

const CODES: Record<number, FaultCode> = { 401: 'auth_required', 403: 'forbidden', 429: 'rate_limited' };

/** Returns undefined for invalid JSON. Stops reading a body that is too large. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MANY_BODY_MAX_BYTES) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
