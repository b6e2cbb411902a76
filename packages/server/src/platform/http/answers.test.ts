import { ERRORS_MAX, FAULT_MESSAGES, TEAM_FAULT_MESSAGES, type FaultCode } from '@beckon/contract';
import { expect, test } from 'vitest';
import { Fault } from '../fault.ts';
import { faultResponse } from './answers.ts';

const CODES = Object.keys(FAULT_MESSAGES) as FaultCode[];

test('every code of the catalog has a status, and an answer of at least one entry', () => {
  const statuses = Object.fromEntries(CODES.map((code) => [code, faultResponse(new Fault(code)).status]));
  expect(statuses).toEqual({
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
  });
  for (const code of CODES) {
    expect(faultResponse(new Fault(code)).body).toEqual({
      errors: [{ code, message: FAULT_MESSAGES[code] }],
    });
  }
});

test('an invalid request is 422 on single and batch, 400 on bulk; a reused key is 422 everywhere', () => {
  const kinds = ['single', 'batch', 'bulk'] as const;
  expect(kinds.map((kind) => faultResponse(new Fault('validation_failed'), kind).status)).toEqual([
    422, 422, 400,
  ]);
  expect(kinds.map((kind) => faultResponse(new Fault('idempotency_key_reuse'), kind).status)).toEqual([
    422, 422, 422,
  ]);
});

test('a concurrent change by another member is 409, and is in no public catalog', () => {
  const details = [{ message: 'Ana approved it' }];
  const response = faultResponse(new Fault('conflict', { details }));
  expect([response.status, response.body.errors]).toEqual([
    409,
    [{ code: 'conflict', message: 'Ana approved it' }],
  ]);
  expect(faultResponse(new Fault('conflict')).body.errors[0]?.message).toBe(TEAM_FAULT_MESSAGES.conflict);
  expect(CODES).not.toContain('conflict');
});

test('details keep their order, stop at the cap, and have no empty field', () => {
  const details = Array.from({ length: ERRORS_MAX + 5 }, (_, at) => ({ message: `m${at}`, field: `f${at}` }));
  const { errors } = faultResponse(new Fault('validation_failed', { details })).body;
  expect(errors).toHaveLength(ERRORS_MAX);
  expect(errors[1]).toEqual({ code: 'validation_failed', message: 'm1', field: 'f1' });
  expect(faultResponse(new Fault('forbidden', { details: [{ message: 'Suspended' }] })).body.errors).toEqual([
    { code: 'forbidden', message: 'Suspended' },
  ]);
});

test('an unknown error is a 500 without any detail, and so is a server_error with details', () => {
  const secret = 'relation "ingest_queue" does not exist';
  for (const error of [new Error(secret), secret, undefined, null, { statusCode: 404, message: secret }]) {
    expect(faultResponse(error)).toEqual({
      status: 500,
      headers: {},
      body: { errors: [{ code: 'server_error', message: FAULT_MESSAGES.server_error }] },
    });
  }
  const detailed = new Fault('server_error', { details: [{ message: secret }], cause: new Error(secret) });
  expect(JSON.stringify(faultResponse(detailed))).not.toContain('ingest_queue');
});

test('server_error is 503 with Retry-After exactly when it has a retry time', () => {
  const busy = faultResponse(new Fault('server_error', { retryAfterS: 3 }));
  expect([busy.status, busy.headers]).toEqual([503, { 'Retry-After': '3' }]);
});

test('Retry-After is whole seconds, rounded up, at least one, on both codes of 429', () => {
  const retryAfter = (code: FaultCode, options = {}): string | undefined =>
    faultResponse(new Fault(code, options)).headers['Retry-After'];
  expect(retryAfter('rate_limited', { retryAfterS: 0.2 })).toBe('1');
  expect(retryAfter('rate_limited', { retryAfterS: 2.1 })).toBe('3');
  expect(retryAfter('rate_limited')).toBe('1');
  expect(retryAfter('backfill_queue_full', { retryAfterS: 60 })).toBe('60');
});

test('rate_limited and auth_required have one text whatever the cause', () => {
  const details = [{ message: 'revoked yesterday' }];
  expect(faultResponse(new Fault('rate_limited', { details })).body.errors[0]?.message).toBe(
    'Too many requests',
  );
  expect(faultResponse(new Fault('auth_required', { details }))).toEqual(
    faultResponse(new Fault('auth_required')),
  );
});

test('401 names the scheme, and 403 has no Retry-After even if the fault has a time', () => {
  expect(faultResponse(new Fault('auth_required', { retryAfterS: 5 })).headers).toEqual({
    'WWW-Authenticate': 'Bearer',
  });
  expect(faultResponse(new Fault('forbidden', { retryAfterS: 5 })).headers).toEqual({});
});

test('405 lists the allowed methods, 415 the accepted codings', () => {
  expect(faultResponse(new Fault('method_not_allowed')).headers).toEqual({ Allow: 'POST' });
  expect(faultResponse(new Fault('method_not_allowed'), 'single', 'GET, HEAD').headers).toEqual({
    Allow: 'GET, HEAD',
  });
  expect(faultResponse(new Fault('unsupported_media_type')).headers).toEqual({
    'Accept-Encoding': 'gzip, br, zstd',
  });
});
