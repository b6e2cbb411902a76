import type { ServerResponse } from 'node:http';

/** Names and values in turn, as Node writes them. A flat list is the cheapest form that `writeHead` takes. */
export type HeaderList = string[];

const JSON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
];
const HTTPS_HEADERS = [...JSON_HEADERS, 'Strict-Transport-Security', 'max-age=31536000'];

export type Answer = { status: number; body: string; headers: HeaderList };

/** Writes every response under /api, so that all of them carry the same standard headers. */
export function writeAnswer(
  response: ServerResponse,
  requestId: string,
  { status, body, headers, https }: Answer & { https: boolean },
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.byteLength(body);
  const standard = https ? HTTPS_HEADERS : JSON_HEADERS;
  response.writeHead(status, [
    ...standard,
    'X-Request-Id',
    requestId,
    'Content-Length',
    String(bytes),
    ...headers,
  ]);
  // Text of one byte per character goes out with the headers in one write, without being encoded again.
  if (response.req.method === 'HEAD') response.end();
  else response.end(body, bytes === body.length ? 'latin1' : 'utf8');
}
