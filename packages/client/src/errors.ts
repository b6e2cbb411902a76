import type { ErrorEntry } from '@beckon/contract';

export type ErrorFacts = {
  code: string;
  /** Of the answer; null where none came. */
  status?: number | null;
  requestId?: string | null;
  errors?: readonly ErrorEntry[];
  /** What the server asked to wait for. */
  retryAfterMs?: number | null;
  idempotencyKey?: string | null | undefined;
  cause?: unknown;
};

/** What all errors of this library have in common. `code` is stable; the message is for people. */
export class BeckonError extends Error {
  override readonly name: string = 'BeckonError';
  readonly code: string;
  readonly status: number | null;
  /** Of the `X-Request-Id` header: the server's log knows the request by it. */
  readonly requestId: string | null;
  /** As the server listed them. */
  readonly errors: readonly ErrorEntry[];
  readonly retryAfterMs: number | null;
  /** Under which the same request may be sent again, and is stored once; null where none was sent with one. */
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

/** What was sent is not valid; nothing of the request was taken. */
export class ValidationError extends BeckonError {
  override readonly name: string = 'ValidationError';

  /** The first field that is wrong, as `properties.trialDays` or `events.3.name`. */
  get field(): string | null {
    return this.errors[0]?.field ?? null;
  }
}

/** The key is missing, wrong, revoked, or opens something else. It is never tried again by itself. */
export class AuthError extends BeckonError {
  override readonly name: string = 'AuthError';
}

/** Too many requests, for longer than this library was to wait. */
export class RateLimitError extends BeckonError {
  override readonly name: string = 'RateLimitError';
}

/** The project has as many records waiting as it may, and had for longer than this library was to wait. */
export class QueueFullError extends BeckonError {
  override readonly name: string = 'QueueFullError';
}

/** The idempotency key was used with a different request in the last 24 hours. */
export class IdempotencyError extends BeckonError {
  override readonly name: string = 'IdempotencyError';
}

/** No answer came: nobody knows whether the request was taken. The same idempotency key makes it safe to ask again. */
export class NetworkError extends BeckonError {
  override readonly name: string = 'NetworkError';
}

/** The server failed, however often it was asked. */
export class ServerError extends BeckonError {
  override readonly name: string = 'ServerError';
}
