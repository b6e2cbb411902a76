import { describe, expect, test } from 'vitest';
import { statusOf } from './show-records.ts';

const found = (...values: string[]) => ({ kind: 'found', values }) as const;

describe('statusOf', () => {
  test('accepts a name in any case and with a final dot', () => {
    const record = { type: 'CNAME', value: 'dkim.Relay.test' } as const;
    expect(statusOf(record, found('DKIM.relay.test.'))).toMatchObject({ status: 'ok' });
    expect(statusOf(record, found('other.test'))).toEqual({ status: 'wrong', found: ['other.test'] });
  });

  test('compares an MX without its preference', () => {
    const record = { type: 'MX', value: '10 feedback.relay.test' } as const;
    expect(statusOf(record, found('20 feedback.relay.test'))).toMatchObject({ status: 'ok' });
  });

  test('finds a text among others, and never calls another text wrong', () => {
    const record = { type: 'TXT', value: 'k=rsa; p=abc' } as const;
    expect(statusOf(record, found('v=spf1 -all', 'k=rsa;p=abc'))).toMatchObject({ status: 'ok' });
    expect(statusOf(record, found('v=spf1 -all'))).toMatchObject({ status: 'missing' });
  });

  test('tells a missing record from a DNS failure', () => {
    const record = { type: 'TXT', value: 'x' } as const;
    expect(statusOf(record, { kind: 'none', code: 'ENODATA' }).status).toBe('missing');
    expect(statusOf(record, { kind: 'failed', code: 'ETIMEOUT' }).status).toBe('unknown');
  });
});
