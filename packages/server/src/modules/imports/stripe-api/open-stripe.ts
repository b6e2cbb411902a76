import { Agent as PlainAgent } from 'node:http';
import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type Stripe from 'stripe';
import { backoffMs } from '../../../platform/async/backoff.ts';
import { type StripePageQuery, type Kind, type StripePage, readPage } from './pages.ts';
import { classifyError, StripeRefusal } from './refusal.ts';

export type StripeAddress = { host: string; port: number; protocol: 'http' | 'https' };

export type StripeOptions = {
  key: string;
  /** The address of a test server; defaults to Stripe. */
  address?: StripeAddress;
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

export type StripeReader = {
  /** Rejects unless all required resources are readable, and names all that are not. */
  checkPermissions(signal: AbortSignal): Promise<void>;
  page<K extends Kind>(kind: K, query: StripePageQuery): Promise<StripePage<K>>;
  close(): void;
};

/** The version whose objects `read-facts.ts` reads. Stripe answers in it regardless of the account's version. */
const API_VERSION = '2026-10-28.endive';
const ATTEMPTS_MAX = 8;
const WITHIN_MS = 60_000;
const BACKOFF = { baseMs: 500, maxMs: 30_000 };

/** Restricted and secret keys can read. Publishable keys, which a browser may have, cannot. */
const KEY = /^(?:rk|sk)_(?:live|test)_[A-Za-z0-9]{8,247}$/;

export function isStripeKey(key: string): boolean {
  return KEY.test(key);
}

/** Opens a reader of Stripe's data, which never writes. */
export async function openStripe({ key, address, wait = waitFor }: StripeOptions): Promise<StripeReader> {
  if (!isStripeKey(key)) {
    throw new StripeRefusal(
      'key_refused',
      'This is not a Stripe key. A restricted key begins with rk_live_.',
    );
  }
  // A large package, which is not loaded in installations that import nothing from Stripe.
  const { default: StripeClient } = await import('stripe');
  const httpAgent = new (address?.protocol === 'http' ? PlainAgent : Agent)({ keepAlive: true });
  const stripe = new StripeClient(key, {
    apiVersion: API_VERSION,
    telemetry: false,
    // Retries are done here instead, where waiting can be aborted and `Retry-After` is respected.
    maxNetworkRetries: 0,
    timeout: WITHIN_MS,
    httpAgent,
    ...address,
  });
  return {
    checkPermissions: (signal) => checkPermissions(stripe, { signal, wait }),
    page: (kind, query) => withRetries(() => readPage(stripe, kind, query), { signal: query.signal, wait }),
    close: () => httpAgent.destroy(),
  };
}

type StripeRetryOptions = { signal: AbortSignal; wait: NonNullable<StripeOptions['wait']> };

async function checkPermissions(stripe: Stripe, options: StripeRetryOptions): Promise<void> {
  const missing: string[] = [];
  for (const [what, request] of RESOURCES) {
    try {
      await withRetries(() => request(stripe), options);
    } catch (error) {
      if (!(error instanceof StripeRefusal) || error.reason !== 'permission_missing') throw error;
      missing.push(what);
    }
  }
  if (missing.length === 0) return;
  throw new StripeRefusal(
    'permission_missing',
    `The key cannot read ${missing.join(', ')}. Give it “Read” for each of these in Stripe.`,
  );
}

const RESOURCES: [string, (stripe: Stripe) => Promise<unknown>][] = [
  ['Customers', (stripe) => stripe.customers.list({ limit: 1 })],
  ['Subscriptions', (stripe) => stripe.subscriptions.list({ limit: 1, status: 'all' })],
  ['Invoices', (stripe) => stripe.invoices.list({ limit: 1 })],
  ['Prices', (stripe) => stripe.prices.list({ limit: 1 })],
  ['Products', (stripe) => stripe.products.list({ limit: 1 })],
];

/** Retries until there is an answer, a permanent error, or the last attempt has failed. */
async function withRetries<T>(request: () => Promise<T>, { signal, wait }: StripeRetryOptions): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await unlessAborted(request(), signal);
    } catch (error) {
      signal.throwIfAborted();
      const classification = classifyError(error);
      if (classification instanceof StripeRefusal) throw classification;
      if (attempt + 1 === ATTEMPTS_MAX) {
        throw new StripeRefusal('busy', 'Stripe does not respond, or limits the rate of requests.', {
          cause: error,
        });
      }
      await wait(classification.afterMs ?? backoffMs(attempt, BACKOFF), signal);
    }
  }
}

/** The package cannot cancel a request, so its answer is ignored. */
async function unlessAborted<T>(response: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([response, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal });
}
