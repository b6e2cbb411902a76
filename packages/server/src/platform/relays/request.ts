import type { OutboundResponse } from '../outbound/exchange.ts';
import type { RelayContext, RelayResult } from './adapter.ts';
import { asObject, type Json, readJson } from './json.ts';
import { relayRefused, unknown, unsent } from './results.ts';

/** An answer of a provider. `json` is empty if the body is not a JSON object, or longer than expected. */
export type Answer = {
  status: number;
  json: Json;
  /** The whole body as JSON, for answers that are lists. */
  value: unknown;
  text: string;
  retryAfterMs: number | null;
  errorType: string | null;
};

type Failure = Extract<OutboundResponse, { ok: false }>;

export type ProviderRequest = {
  url: string;
  headers?: Record<string, string>;
  /** Absent: a GET. An object is sent as JSON. */
  body?: Json | Buffer;
  /** By default POST. */
  method?: 'PATCH';
  posted?: (() => void) | undefined;
  answerMaxBytes?: number;
};

/** Far more than any answer to one email. */
const ANSWER_MAX_BYTES = 64 * 1_024;

export async function request(
  { outbound, key, now }: RelayContext,
  { url, headers = {}, body, method, posted, answerMaxBytes = ANSWER_MAX_BYTES }: ProviderRequest,
): Promise<Answer | { failed: Failure }> {
  const accept = { accept: 'application/json', 'user-agent': 'Beckon', ...headers };
  const base = { url, key, fileMaxBytes: answerMaxBytes };
  const response =
    body === undefined
      ? await outbound.get({ ...base, headers: accept })
      : await outbound.post({
          ...base,
          posted,
          method,
          headers: Buffer.isBuffer(body) ? accept : { 'content-type': 'application/json', ...accept },
          body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
        });
  if (!response.ok) return { failed: response };
  const value = response.file ? readJson(response.file.bytes) : null;
  return {
    status: response.status,
    json: asObject(value),
    value,
    text: response.body,
    retryAfterMs: retryAfterMs(response.retryAfter, now()),
    errorType: response.errorType ?? null,
  };
}

/**
 * Submits an email. `decide` returns the meaning of an answer, or null if the provider does not document it as a refusal. The rule of
 * `resultOfSession` applies: before the connection was open, the provider cannot have accepted the email. Afterwards only its answer is
 * certain.
 */
export async function submit(
  context: RelayContext,
  provider: ProviderRequest,
  decide: (answer: Answer) => RelayResult | null,
): Promise<RelayResult> {
  const answer = await request(context, { ...provider, posted: context.posted });
  if ('failed' in answer) {
    const { error, detail, isUnsent } = answer.failed;
    // The URL itself was refused, so the request was not begun.
    if (error === 'blocked') return relayRefused(detail);
    return isUnsent ? unsent(detail) : unknown(detail);
  }
  return decide(answer) ?? unknown(`The relay answered with HTTP ${answer.status}: ${answer.text}`);
}

/** Returns the wait that an answer asks for, in seconds or until a date. */
function retryAfterMs(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(at - now, 0);
}

/** Returns the message for a request that is not an email, such as a check of the settings. */
export function failureMessage(title: string, answer: Answer | { failed: Failure }): string {
  if ('failed' in answer) return `${title} could not be reached: ${answer.failed.detail}.`;
  return `${title} answered with HTTP ${answer.status}: ${answer.text.slice(0, 300)}`;
}
