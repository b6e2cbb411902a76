import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/** The address of the dashboard API: a URL, or the local socket of a server on this machine. */
export type Target = { url: string; socketPath: string | null };

export type HttpRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  signal: AbortSignal;
};

/**
 * Sends one request and resolves once the response headers are there. It does not follow redirects, so a token never
 * reaches another host. `fetch` cannot use a socket file; `node:http` serves both cases with the same code.
 */
export function sendHttp({ url, socketPath }: Target, request: HttpRequest): Promise<Response> {
  const { method, path, headers, body, signal } = request;
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(signal.aborted ? signal.reason : error);
    try {
      const at = socketPath === null ? {} : { socketPath };
      const outgoing = send(url + path, { ...at, method, signal, headers: { ...headers, ...length } });
      outgoing.on('error', fail).on('response', (incoming) => {
        const { statusCode: status = 502, rawHeaders } = incoming;
        const pairs = rawHeaders.flatMap((name, at_): [string, string][] =>
          at_ % 2 === 0 ? [[name, rawHeaders[at_ + 1] ?? '']] : [],
        );
        const hasBody = status !== 204 && status !== 304;
        const stream = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>) : null;
        resolve(new Response(stream, { status, headers: pairs }));
      });
      outgoing.end(body);
    } catch (error) {
      fail(error);
    }
  });
}
