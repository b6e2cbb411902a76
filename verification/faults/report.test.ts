import { expect, test } from 'vitest';
import type { Entry, LoadEntry } from './journal.ts';
import { faultsOf, loadOf, refusalsOf } from './report.ts';

type Begin = Extract<LoadEntry, { kind: 'begin' }>;
const begin = (id: string, more: Partial<Begin> = {}): Entry => ({
  kind: 'begin',
  at: 1,
  id,
  request: id,
  project: '1',
  key: 'key',
  to: 'http://127.0.0.1:1',
  path: '/api/v1/events',
  idempotencyKey: id,
  body: '{}',
  records: 1,
  intent: 'normal',
  ...more,
});
const end = (id: string, status: number): Entry => ({
  kind: 'end',
  at: 2,
  id,
  status,
  body: 'no',
  replayed: false,
});

test('loadOf counts a request once for any number of attempts, and as ambiguous if one attempt got no response', () => {
  const load = loadOf([
    begin('a', { request: 'one', path: '/api/v1/events/batch', records: 5 }),
    { kind: 'lost', at: 2, id: 'a', reason: 'gone' },
    begin('b', { request: 'one', path: '/api/v1/events/batch', records: 5, intent: 'retry' }),
    end('b', 202),
    begin('c'),
    end('c', 202),
    begin('d'),
    end('d', 422),
  ]);
  expect(load).toMatchObject({ acknowledged: 2, singles: 1, records: 6, tries: 4, ambiguous: 1 });
});

test('counts a fault only if work was under way', () => {
  const fault = (code: string, inFlight: number): Entry => ({
    kind: 'fault',
    at: 1,
    code,
    detail: '',
    victim: '',
    inFlight,
  });
  const { faults, recovered } = faultsOf([
    fault('F2', 0),
    fault('F2', 3),
    fault('F3', 1),
    { kind: 'recovered', at: 2, code: 'F3', afterMs: 700 },
    { kind: 'recovered', at: 3, code: 'F6', afterMs: 9_000 },
  ]);
  expect(faults).toEqual({ F2: { all: 2, counted: 1 }, F3: { all: 1, counted: 1 } });
  expect(recovered).toEqual({ times: 1, slowestMs: 700 });
});

test('refusedOf finds refused valid requests, but not 429, 5xx, clashes and revoked keys', () => {
  const act = {
    kind: 'action',
    at: 1,
    endedAt: 2,
    action: 'revoke_key',
    project: '1',
    subject: 'old',
    status: 200,
  } as const;
  const fine = [
    act,
    begin('a'),
    end('a', 429),
    begin('b'),
    end('b', 503),
    begin('c', { intent: 'clash' }),
    end('c', 422),
    begin('d', { key: 'old' }),
    end('d', 401),
  ];
  expect(refusalsOf(fine)).toEqual([]);
  expect(refusalsOf([...fine, begin('e'), end('e', 401)])).toHaveLength(1);
  expect(refusalsOf([...fine, begin('f', { intent: 'retry' }), end('f', 422)])).toHaveLength(1);
});
