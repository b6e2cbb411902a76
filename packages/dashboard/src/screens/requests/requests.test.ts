import { expect, test } from 'vitest';
import type { FeedItem } from '@beckon/contract/dashboard';
import { meaningOf, sampleCall } from './sample-call.ts';
import { requestOf } from './shown-request.ts';

test('sampleCall › is of the same endpoint', () => {
  expect(sampleCall('events-batch')).toEqual({
    path: 'events/batch',
    body: { events: [{ external_user_id: 'user_1', name: 'user_signed_up' }] },
  });
});

test('meaningOf › explains known and unknown responses', () => {
  expect(meaningOf(202, null)).toContain('Accepted');
  expect(meaningOf(429, 'rate_limited')).toContain('Retry-After');
  expect(meaningOf(418, 'teapot')).toContain('Refused');
  expect(meaningOf(503, null)).toContain('Retry');
});

test('requestOf › converts a request of the stream, and returns null for other items', () => {
  const item: FeedItem = {
    id: 'i',
    at: '2026-01-01T00:00:00.000Z',
    place: 'p',
    type: 'request',
    endpoint: 'users',
    status: 202,
    code: 'idempotent_replay',
    requests: 2,
    accepted: 2,
    rejected: 0,
    request_id: 'r',
    key_id: null,
    bytes: null,
    slowest_ms: 4,
  };
  expect(requestOf(item)).toMatchObject({
    code: null,
    replayed: true,
    requests: 2,
    slowest_ms: 4,
    bytes: null,
    key: null,
  });
  expect(requestOf({ ...item, type: 'event' })).toBeNull();
});
