/** The reason why Stripe gave no data, in plain words. Contains neither the key nor Stripe's text about it. */
export class StripeRefusal extends Error {
  readonly reason: 'key_refused' | 'permission_missing' | 'busy' | 'unreadable';

  constructor(reason: StripeRefusal['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StripeRefusal';
    this.reason = reason;
  }
}

/** Decides about an error of the package: retry, or a refusal for the user. */
export function classifyError(error: unknown): { retry: true; afterMs: number | null } | StripeRefusal {
  const { statusCode, headers, code, type } = factsOf(error);
  if (statusCode === 401) {
    return new StripeRefusal(
      'key_refused',
      'Stripe rejected the key, because it is wrong, expired or revoked.',
    );
  }
  if (statusCode === 403) {
    return new StripeRefusal('permission_missing', 'The key can no longer read this data.');
  }
  if (isPassing({ statusCode, code, type }))
    return { retry: true, afterMs: retryAfterMs(headers?.['retry-after']) };
  return new StripeRefusal(
    'unreadable',
    `Stripe responded with ${statusCode ?? 'nothing'}: ${code ?? type ?? 'no code'}.`,
  );
}

function isPassing({ statusCode = 0, code = '', type = '' }: ErrorFacts): boolean {
  return (
    statusCode === 429 || statusCode === 409 || statusCode >= 500 || PASSING.has(code) || PASSING.has(type)
  );
}

/** Returns whether the object that the page starts after no longer exists. */
export function isCursorGone(error: unknown): boolean {
  const { code, param } = factsOf(error);
  return code === 'resource_missing' && param === 'starting_after';
}

const PASSING = new Set(['StripeConnectionError', 'StripeAPIError', 'rate_limit', 'lock_timeout']);
/** A server may ask for an hour. The request is retried earlier than that, and the import is paused if it still fails. */
const RETRY_AFTER_MAX_MS = 120_000;

type ErrorFacts = {
  statusCode?: number | undefined;
  code?: string | undefined;
  type?: string | undefined;
  param?: string;
  headers?: { [name: string]: string };
};

function factsOf(error: unknown): ErrorFacts {
  return typeof error === 'object' && error !== null ? error : {};
}

function retryAfterMs(text: string | undefined): number | null {
  const seconds = Number(text ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) : null;
}
