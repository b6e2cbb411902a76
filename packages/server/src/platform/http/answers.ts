import {
  type ErrorBody,
  type ErrorEntry,
  ERRORS_MAX,
  FAULT_MESSAGES,
  TEAM_FAULT_MESSAGES,
} from '@beckon/contract';
import type { ServerResponse } from 'node:http';
import { Fault } from '../fault.ts';

/** Only bulk answers 400 to an invalid request: the interface defines no 400 for the others. */
export type EndpointKind = 'single' | 'batch' | 'bulk';

type FaultResponse = { status: number; headers: Record<string, string>; body: ErrorBody };

/**
 * Translates every fault to HTTP. `allow` is the value of the header of a 405. Any other error is a bug of ours, and its details stay
 * private.
 */
export function faultResponse(error: unknown, kind: EndpointKind = 'single', allow = 'POST'): FaultResponse {
  const fault = error instanceof Fault ? error : new Fault('server_error');
  const status = statusOf(fault, kind);
  return { status, headers: headersOf(fault, status, allow), body: { errors: entriesOf(fault) } };
}

const MESSAGES: Record<Fault['code'], string> = { ...FAULT_MESSAGES, ...TEAM_FAULT_MESSAGES };

const STATUSES: Record<Fault['code'], number> = {
  validation_failed: 422,
  auth_required: 401,
  forbidden: 403,
  idempotency_key_reuse: 422,
  rate_limited: 429,
  backfill_queue_full: 429,
  server_error: 500,
  https_required: 308,
  not_found: 404,
  method_not_allowed: 405,
  unsupported_media_type: 415,
  payload_too_large: 413,
  bad_request: 400,
  request_timeout: 408,
  headers_too_large: 431,
  conflict: 409,
  session_required: 401,
  role_required: 403,
  confirmation_required: 403,
  busy: 503,
};

function statusOf(fault: Fault, kind: EndpointKind): number {
  if (fault.code === 'validation_failed' && kind === 'bulk') return 400;
  if (fault.code === 'server_error' && fault.retryAfterS !== undefined) return 503;
  return STATUSES[fault.code];
}

/** Clients may not retry 401 and 403 automatically, so those never carry Retry-After, whatever the fault says. */
function headersOf(fault: Fault, status: number, allow: string): Record<string, string> {
  switch (status) {
    case 401:
      return fault.code === 'auth_required' ? { 'WWW-Authenticate': 'Bearer' } : {};
    case 405:
      return { Allow: allow };
    case 415:
      return { 'Accept-Encoding': 'gzip, br, zstd' };
    case 429:
    case 503:
      return { 'Retry-After': wholeSeconds(fault.retryAfterS) };
    default:
      return {};
  }
}

function wholeSeconds(seconds: number | undefined): string {
  return String(Math.max(1, Math.ceil(seconds ?? 1)));
}

/**
 * These have one text for every cause. The interface fixes that of rate_limited. Five causes of 401 must look the same. A server_error may
 * contain details for the log alone.
 */
const ONE_TEXT: ReadonlySet<Fault['code']> = new Set(['rate_limited', 'auth_required', 'server_error']);

function entriesOf(fault: Fault): ErrorEntry[] {
  const { code } = fault;
  if (fault.details.length === 0 || ONE_TEXT.has(code)) return [{ code, message: MESSAGES[code] }];
  return fault.details
    .slice(0, ERRORS_MAX)
    .map(({ message, field }) => (field === undefined ? { code, message } : { code, message, field }));
}

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

type JsonResponse = { status: number; body: string; headers: HeaderList };

/** Writes every response under /api, so that all of them carry the same standard headers. */
export function writeResponse(
  response: ServerResponse,
  requestId: string,
  { status, body, headers, https }: JsonResponse & { https: boolean },
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
