import type { ErrorBody } from '@beckon/contract';
import { AuthError, BeckonError, type ErrorFacts, IdempotencyError, NetworkError } from './errors.ts';
import { QueueFullError, RateLimitError, ServerError, ValidationError } from './errors.ts';
import { isTurnedAway, readRetryAfter, type Refused, type RetryRule, waitBefore } from './retry.ts';

/** The server, the credentials and the limits of requests. */
export type ClientConfig = {
  url: string;
  apiKey: string;
  userAgent: string;
  timeoutMs: number;
  retry: RetryRule;
  fetch: typeof globalThis.fetch;
};

export type Call = {
  method?: 'GET' | 'POST';
  path: string;
  body?: string;
  /** The same key in all attempts. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  retry?: RetryRule;
  /** Throws a full queue to the caller instead of waiting for it here. */
  leaveQueueFull?: boolean;
  onWait?: (refused: Refused, waitMs: number) => void;
};

export type ApiResponse = { status: number; body: unknown; requestId: string | null; replayed: boolean };

/** Sends one logical request: as many attempts as the rule allows, one response or one error. */
export async function send(config: ClientConfig, call: Call): Promise<ApiResponse> {
  const startedAt = performance.now();
  const rule = call.retry ?? config.retry;
  let turnedAway = 0;
  for (let attempts = 1; ; attempts += 1) {
    call.signal?.throwIfAborted();
    const outcome = await attempt(config, call);
    if (!('error' in outcome)) return outcome;
    const { error, refused } = outcome;
    if (refused === null || (refused.why === 'queue_full' && call.leaveQueueFull)) throw error;
    if (isTurnedAway(refused)) turnedAway += 1;
    const elapsedMs = performance.now() - startedAt;
    const waitMs = waitBefore(refused, rule, { attempts, turnedAway, elapsedMs });
    if (waitMs === null) throw error;
    call.onWait?.(refused, waitMs);
    await wait(waitMs, call.signal);
  }
}

/** Waits. Rejects early with the reason of the signal when it is aborted. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
    if (signal?.aborted) finish();
  });
}

type Failed = { error: BeckonError; refused: Refused | null };

async function attempt(config: ClientConfig, call: Call): Promise<ApiResponse | Failed> {
  const timeout = new AbortController();
  const abort = (): void => timeout.abort();
  const timer = setTimeout(abort, config.timeoutMs);
  call.signal?.addEventListener('abort', abort);
  try {
    const response = await config.fetch(config.url + call.path, {
      method: call.method ?? 'POST',
      headers: headersOf(config, call),
      body: call.body ?? null,
      // A redirect must not send the key to another host.
      redirect: 'manual',
      signal: timeout.signal,
    });
    return judge(response, await readText(response), call);
  } catch (cause) {
    call.signal?.throwIfAborted();
    return unanswered(config, call, { isTimeout: timeout.signal.aborted, cause });
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', abort);
  }
}

function headersOf(
  { apiKey, userAgent }: ClientConfig,
  { body, idempotencyKey }: Call,
): Record<string, string> {
  return {
    authorization: `Bearer ${apiKey}`,
    'user-agent': userAgent,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

/** Larger than the largest response: a thousand errors for records of 10 MiB in total, each with its path twice. */
const ANSWER_MAX_CHARS = 32 * 1024 * 1024;

async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > ANSWER_MAX_CHARS) throw new Error('The answer is larger than any of Beckon');
  }
  return text + decoder.decode();
}

type Unanswered = { isTimeout: boolean; cause: unknown };

function unanswered(
  config: ClientConfig,
  { idempotencyKey }: Call,
  { isTimeout, cause }: Unanswered,
): Failed {
  const message = isTimeout
    ? `No answer from ${config.url} within ${config.timeoutMs} ms`
    : `No answer from ${config.url}: ${reasonOf(cause)}`;
  const error = new NetworkError(message, { code: isTimeout ? 'timeout' : 'network', idempotencyKey, cause });
  return { error, refused: { why: 'no_answer', retryAfterMs: null } };
}

/** For `fetch failed`, only the cause has a useful message. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = cause.cause;
  return inner instanceof Error && inner.message !== '' ? inner.message : cause.message;
}

function judge(response: Response, text: string, { idempotencyKey }: Call): ApiResponse | Failed {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id');
  const body = parsed(text);
  if (status >= 200 && status < 300 && hasData(body)) {
    return { status, body, requestId, replayed: headers.get('idempotent-replayed') === 'true' };
  }
  const errors = isErrorBody(body) ? body.errors : [];
  const code = errors[0]?.code ?? UNSPOKEN[status] ?? (status >= 500 ? 'server_error' : 'unexpected_answer');
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), Date.now());
  const facts = { code, status, requestId, errors, retryAfterMs, idempotencyKey };
  const error = errorOf(errors[0]?.message ?? sayStatus(status, code), facts);
  const why = whyAgain(status, code);
  return { error, refused: why === null ? null : { why, retryAfterMs } };
}

/** The codes for responses of proxies, which lack our envelope. */
const UNSPOKEN: Record<number, string> = {
  401: 'auth_required',
  403: 'forbidden',
  408: 'request_timeout',
  413: 'payload_too_large',
  429: 'rate_limited',
};

function sayStatus(status: number, code: string): string {
  if (code !== 'unexpected_answer') return `The server answered ${status}`;
  return `The answer (${status}) is not one of Beckon's: is the URL right?`;
}

/** A 2xx response that cannot be read may have been cut off. A retry gets the same response, because of the idempotency key. */
function whyAgain(status: number, code: string): Refused['why'] | null {
  if (code === 'backfill_queue_full') return 'queue_full';
  if (status === 429) return 'rate_limited';
  if (status >= 500 || status === 408) return 'failed';
  return status >= 200 && status < 300 ? 'no_answer' : null;
}

function errorOf(message: string, facts: ErrorFacts): BeckonError {
  const { code, status } = facts;
  if (status === 401 || status === 403) return new AuthError(message, facts);
  if (code === 'idempotency_key_reuse') return new IdempotencyError(message, facts);
  if (code === 'backfill_queue_full') return new QueueFullError(message, facts);
  if (status === 429) return new RateLimitError(message, facts);
  if (code === 'validation_failed' || status === 413) return new ValidationError(message, facts);
  return Number(status) >= 500 ? new ServerError(message, facts) : new BeckonError(message, facts);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy answers with HTML; its status is enough.
    return null;
  }
}

function hasData(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'data' in body;
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null || !('errors' in body)) return false;
  const { errors } = body;
  if (!Array.isArray(errors)) return false;
  return errors.every(
    (each: unknown) => typeof each === 'object' && each !== null && 'message' in each && 'code' in each,
  );
}
