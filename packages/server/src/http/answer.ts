import type { ServerResponse } from 'node:http';

/** Names and values in turn, as Node writes them: a flat list is the cheapest thing that `writeHead` takes. */
export type HeaderList = string[];

const JSON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
];
const HSTS = ['Strict-Transport-Security', 'max-age=31536000'];

export type Answer = { status: number; body: string; headers: HeaderList };

/** The one place where an answer under /api is written: whatever happened, it carries the same standard headers. */
export function writeAnswer(
  response: ServerResponse,
  requestId: string,
  answer: Answer & { https: boolean },
): void {
  if (response.headersSent || response.destroyed) return;
  const headers = [
    ...JSON_HEADERS,
    'X-Request-Id',
    requestId,
    'Content-Length',
    String(Buffer.byteLength(answer.body)),
    ...(answer.https ? HSTS : []),
    ...answer.headers,
  ];
  response.writeHead(answer.status, headers);
  response.end(response.req.method === 'HEAD' ? undefined : answer.body);
}
