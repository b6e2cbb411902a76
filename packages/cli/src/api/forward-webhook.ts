import { signWebhook } from '@beckon/contract/signature';
import type { ListenedWebhook } from '@beckon/contract/dashboard';
import type { Shell } from '../shell.ts';
import { reasonOf } from './refusal.ts';

export type ForwardOptions = {
  target: string;
  key: Uint8Array;
  signal: AbortSignal;
  shell: Pick<Shell, 'now' | 'wait' | 'version'>;
};

/** The result of the last attempt. */
export type Forwarded = { status: number | null; error: string | null; ms: number; attempts: number };

/** Long enough for a local server to restart. */
const PAUSES_MS = [300, 1_000, 3_000] as const;
const TIMEOUT_MS = 15_000;

/** Posts the exact body that an endpoint would get. Each attempt is signed again, because a signature expires. */
export async function forwardWebhook(message: ListenedWebhook, options: ForwardOptions): Promise<Forwarded> {
  const { signal, shell } = options;
  for (let attempts = 1; ; attempts += 1) {
    const tried = await post(message, options);
    const pauseMs = PAUSES_MS[attempts - 1];
    if (!shouldRetry(tried) || pauseMs === undefined || signal.aborted) return { ...tried, attempts };
    await shell.wait(pauseMs, signal).catch(() => {});
  }
}

type Tried = Omit<Forwarded, 'attempts'>;

async function post({ id, body }: ListenedWebhook, options: ForwardOptions): Promise<Tried> {
  const { target, key, signal, shell } = options;
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `beckon-cli/${shell.version}`,
        ...signWebhook({ id, body, timestamp: Math.floor(shell.now() / 1_000), secrets: [key] }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return { status: response.status, error: null, ms: elapsed() };
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    return { status: null, error: isTimeout ? 'no response within 15 s' : reasonOf(error), ms: elapsed() };
  }
}

function shouldRetry({ status }: Tried): boolean {
  return status === null || status >= 500 || status === 429;
}
