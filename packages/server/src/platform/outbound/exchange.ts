import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type Agents, isOpen, type Pooled, phaseOf } from './agents.ts';
import { type FailureDetail, failureOf, type OutboundFailure } from './failure.ts';

export type OutboundResponse =
  | {
      ok: true;
      status: number;
      retryAfter: string | null;
      /** The name of an error that Amazon Web Services put into a header. */
      errorType?: string;
      /** The beginning of the answer, printable and storable. */
      body: string;
      /** Set if a file was expected, and it was complete within its bound. */
      file: { type: string; bytes: Buffer } | null;
      ms: number;
    }
  | {
      ok: false;
      error: OutboundFailure;
      detail: string;
      ms: number;
      /** A `reset` on a reused connection: the peer may have closed it before, or have read the whole request. */
      wasReused?: true;
      /** True if the connection never opened, so that the peer has read nothing of the request. */
      isUnsent?: true;
    };

type SentRequest = Pooled & {
  protocol: string;
  host: string;
  port: number | undefined;
  path: string;
  method: 'GET' | 'POST' | 'PATCH';
  headers: Record<string, string>;
  body: Buffer | null;
  /** 0: no file is expected. */
  fileMaxBytes: number;
  posted: (() => void) | undefined;
  /** Uses a kept connection if there is one, and keeps the connection afterwards. */
  reuse: boolean;
};

/** A longer answer is cut off; its status counts. */
const READ_MAX_BYTES = 16 * 1_024;
const KEPT_BYTES = 4 * 1_024;
const HEADER_MAX_BYTES = 16 * 1_024;
const RETRY_AFTER_MAX = 100;
const ERROR_TYPE_MAX = 200;

type Bounds = {
  totalMs: number;
  /** Functions that end the requests in progress. */
  live: Set<() => void>;
};

const CANCELED: FailureDetail = {
  error: 'reset',
  detail: 'Beckon canceled the request, because this server stops',
};

function timeoutOf(totalMs: number): FailureDetail {
  return { error: 'timeout', detail: `Its response was not complete within ${totalMs / 1_000} s` };
}

/** Sends one request, and resolves with its answer, complete or cut off. Never rejects. */
export function exchange(
  agents: Agents,
  sent: SentRequest,
  { totalMs, live }: Bounds,
): Promise<OutboundResponse> {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  return new Promise((resolve) => {
    let request: ClientRequest | null = null;
    let isSettled = false;

    function settle(result: OutboundResponse): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(deadline);
      live.delete(stop);
      resolve(result);
    }

    function fail(failed: ExchangeFailure): void {
      const isUnsent = !isOpen(request?.socket);
      settle({ ok: false, ...failed, ...(isUnsent ? { isUnsent } : {}), ms: elapsed() });
      request?.destroy();
    }

    const stop = (): void => fail(CANCELED);
    live.add(stop);
    const deadline = setTimeout(() => fail(timeoutOf(totalMs)), totalMs);

    function start(): void {
      request = open(agents, sent);
      follow(request, sent, {
        onAnswer: (response, body) => settle(responseOf(response, body, elapsed())),
        onFailure(failed) {
          if (failed.wasReused) agents.forget(sent.pool);
          fail(failed);
        },
      });
      if (sent.posted) request.once('finish', sent.posted);
      request.end(sent.body ?? undefined);
    }

    try {
      start();
    } catch (error) {
      fail(failureOf(error instanceof Error ? error : new Error(String(error)), 'open'));
    }
  });
}

function open(agents: Agents, sent: SentRequest): ClientRequest {
  const { protocol, host, port, path, method, headers, pool } = sent;
  const agent = agents.of(protocol, !sent.reuse);
  const options = { agent, host, port, path, method, headers, pool, maxHeaderSize: HEADER_MAX_BYTES };
  return protocol === 'http:' ? http.request(options) : https.request(options);
}

type ExchangeFailure = FailureDetail & { wasReused?: true };
type ExchangeEvents = {
  onAnswer: (response: IncomingMessage, body: ReceivedBody) => void;
  onFailure: (failed: ExchangeFailure) => void;
};

/** Reports the end of a request: its answer, or why it failed. */
function follow(
  request: ClientRequest,
  { fileMaxBytes }: SentRequest,
  { onAnswer, onFailure }: ExchangeEvents,
): void {
  let hasResponse = false;
  request.on('response', (response) => {
    hasResponse = true;
    read(response, fileMaxBytes, {
      onEnd: (body) => onAnswer(response, body),
      onError: (error) => onFailure(failureOf(error, 'open')),
    });
  });
  request.on('upgrade', (_, socket) => {
    onFailure({ error: 'protocol', detail: 'It responded with another protocol' });
    socket.destroy();
  });
  request.on('error', (error) => {
    const failed = failureOf(error, phaseOf(error));
    const wasReused = failed.error === 'reset' && request.reusedSocket && !hasResponse;
    onFailure(wasReused ? { ...failed, wasReused } : failed);
  });
}

type ReceivedBody = { text: string; file: Buffer | null };
type ReadCallbacks = { onEnd: (body: ReceivedBody) => void; onError: (error: Error) => void };

/** Reads the raw answer, without decompression. */
function read(response: IncomingMessage, fileMaxBytes: number, { onEnd, onError }: ReadCallbacks): void {
  const [keptMax, readMax] = [Math.max(KEPT_BYTES, fileMaxBytes), Math.max(READ_MAX_BYTES, fileMaxBytes)];
  const kept: Buffer[] = [];
  let bytes = 0;
  const received = (isWhole: boolean): ReceivedBody => {
    const all = Buffer.concat(kept);
    const file = isWhole && fileMaxBytes > 0 && bytes <= fileMaxBytes ? all : null;
    return { text: printableText(all.subarray(0, KEPT_BYTES), KEPT_BYTES), file };
  };
  response.on('data', (chunk: Buffer) => {
    if (bytes < keptMax) kept.push(Buffer.from(chunk.subarray(0, keptMax - bytes)));
    bytes += chunk.byteLength;
    if (bytes <= readMax) return;
    onEnd(received(false));
    response.destroy();
  });
  response.on('end', () => onEnd(received(true)));
  response.on('error', onError);
}

function responseOf(response: IncomingMessage, { text, file }: ReceivedBody, ms: number): OutboundResponse {
  const { 'retry-after': retryAfter, 'content-type': type, 'x-amzn-errortype': errorType } = response.headers;
  return {
    ok: true,
    status: response.statusCode ?? 0,
    retryAfter: retryAfter?.slice(0, RETRY_AFTER_MAX) ?? null,
    ...(typeof errorType === 'string' ? { errorType: errorType.slice(0, ERROR_TYPE_MAX) } : {}),
    body: text,
    file: file && { type: type ?? '', bytes: file },
    ms,
  };
}

/** All characters except line ends and tabs that move a cursor, change the writing direction, or are unassigned. */
const UNPRINTABLE = /[^\P{C}\n\t]+|\u{FFFD}+/gu;
const REPLACEMENT = '\u{FFFD}';

/** Makes the answer of a third party's server printable and storable, within `bytesMax`. */
export function printableText(bytes: Buffer, bytesMax: number): string {
  const text = bytes.toString('utf8').replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, REPLACEMENT);
  if (Buffer.byteLength(text) <= bytesMax) return text;
  return Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/(?<!\u{FFFD})\u{FFFD}+$/u, '');
}
