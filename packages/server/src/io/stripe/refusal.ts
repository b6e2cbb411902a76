/** Why Stripe says nothing more, in words for people. Never with the key in it, nor with what Stripe says of the key. */
export class StripeRefusal extends Error {
  readonly reason: 'key_refused' | 'permission_missing' | 'busy' | 'unreadable';

  constructor(reason: StripeRefusal['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StripeRefusal';
    this.reason = reason;
  }
}

/** What is to be made of an error of the package: try again, or tell somebody. */
export function judgeError(error: unknown): { retry: true; afterMs: number | null } | StripeRefusal {
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

/** The object that a page began behind is not there any more. */
export function isPlaceGone(error: unknown): boolean {
  const { code, param } = factsOf(error);
  return code === 'resource_missing' && param === 'starting_after';
}

const PASSING = new Set(['StripeConnectionError', 'StripeAPIError', 'rate_limit', 'lock_timeout']);
/** Whoever says an hour means tomorrow: it is asked again sooner, and paused if that does not help. */
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
