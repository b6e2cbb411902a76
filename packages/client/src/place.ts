import type { BeckonOptions } from './options.ts';
import type { ClientConfig } from './transport.ts';
import { VERSION } from './version.ts';

const KEY = /^sk_(?:live|test)_[A-Za-z0-9_-]{32,128}$/;
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 6;
const TOTAL_MS = 120_000;

/** Validates the options, so that a mistake is reported where the client is created. */
export function resolveConfig(options: BeckonOptions): ClientConfig {
  refuseBrowsers();
  const { apiKey, timeoutMs = TIMEOUT_MS, retry = {}, userAgent, fetch = globalThis.fetch } = options;
  if (!apiKey) throw new TypeError('Beckon: apiKey is missing; it is sk_live_… or sk_test_…');
  // The message must not contain the key, because it ends up in a log.
  if (!KEY.test(apiKey))
    throw new TypeError('Beckon: apiKey is not an API key; it is sk_live_… or sk_test_…');
  const { attempts = ATTEMPTS, totalMs = TOTAL_MS } = retry;
  atLeast('timeoutMs', timeoutMs, 1);
  atLeast('retry.attempts', attempts, 1);
  atLeast('retry.totalMs', totalMs, 0);
  const product = `beckon-client/${VERSION}`;
  return {
    url: readUrl(options.url),
    apiKey,
    // The server compares the first product with the oldest version that it still accepts, so this library comes first.
    userAgent: userAgent === undefined ? product : `${product} ${userAgent}`,
    timeoutMs,
    retry: { attempts, totalMs },
    fetch,
  };
}

export function atLeast(name: string, value: number, least: number): void {
  if (!(value >= least)) throw new TypeError(`Beckon: ${name} is a number, ${least} or more`);
}

function readUrl(text: string | undefined): string {
  if (!text)
    throw new TypeError('Beckon: url is missing; it is where Beckon runs, as https://beckon.example.com');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('Beckon: url is no address; it begins with https:// or http://');
  }
  if (url.username !== '' || url.password !== '')
    throw new TypeError('Beckon: url holds a name or a password');
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/api\/v1$/, '');
}

function refuseBrowsers(): void {
  const { window } = globalThis as { window?: { document?: unknown } };
  if (window?.document === undefined) return;
  throw new Error(
    'Beckon runs on servers only: in a browser everybody could read the API key. Send it to your server.',
  );
}
