import type { ErrorEntry } from '@beckon/contract';

export type ErrorFacts = {
  code: string;
  /** Status of the response; null without a response. */
  status?: number | null;
  requestId?: string | null;
  errors?: readonly ErrorEntry[];
  /** The wait that the server requested. */
  retryAfterMs?: number | null;
  idempotencyKey?: string | null | undefined;
  cause?: unknown;
};

/** The base class of all errors of this library. `code` is stable; the message is for people. */
export class BeckonError extends Error {
  override readonly name: string = 'BeckonError';
  readonly code: string;
  readonly status: number | null;
  /** The `X-Request-Id` of the response, which the server's log contains too. */
  readonly requestId: string | null;
  /** All errors that the server listed. */
  readonly errors: readonly ErrorEntry[];
  readonly retryAfterMs: number | null;
  /** The key under which the same request can be sent again and is stored once; null if the request had no key. */
  readonly idempotencyKey: string | null;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.errors = facts.errors ?? [];
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }
}

/** The request is invalid, and nothing of it was stored. */
export class ValidationError extends BeckonError {
  override readonly name: string = 'ValidationError';

  /** The first invalid field, such as `properties.trialDays` or `events.3.name`. */
  get field(): string | null {
    return this.errors[0]?.field ?? null;
  }
}

/** The key is missing, wrong, revoked, or not valid for this request. The library never retries it. */
export class AuthError extends BeckonError {
  override readonly name: string = 'AuthError';
}

/** The rate limit was exceeded for longer than the library may wait. */
export class RateLimitError extends BeckonError {
  override readonly name: string = 'RateLimitError';
}

/** The ingest queue of the project was full for longer than the library may wait. */
export class QueueFullError extends BeckonError {
  override readonly name: string = 'QueueFullError';
}

/** The idempotency key was used with a different request in the last 24 hours. */
export class IdempotencyError extends BeckonError {
  override readonly name: string = 'IdempotencyError';
}

/** No response arrived, so it is unknown whether the request was stored. A retry with the same idempotency key is safe. */
export class NetworkError extends BeckonError {
  override readonly name: string = 'NetworkError';
}

/** The server failed on every attempt. */
export class ServerError extends BeckonError {
  override readonly name: string = 'ServerError';
}
