import { expect, test } from 'vitest';
import { readEmailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import { replyAddress } from './headers.ts';
import type { Outlet } from './gate/facts.ts';

const name = { projectId: 7, emailId: '019b0000-0000-7000-8000-000000000001' };
const tokenKeys: TokenKeys = [Buffer.alloc(32, 1)];

test.each<[string, Partial<Outlet>, string | null]>([
  ['a relay and a mail host', { kind: 'relay', mailDomain: 'in.acme.test' }, 'in.acme.test'],
  ['a relay without a mail host', { kind: 'relay', mailDomain: null }, null],
  ['the test inbox', { kind: 'test_inbox', mailDomain: null }, 'test-inbox.invalid'],
  ['the test inbox and a mail host', { kind: 'test_inbox', mailDomain: 'in.acme.test' }, 'in.acme.test'],
])('with %s the reply address is %s', (_, changed, host) => {
  const outlet = { kind: 'relay', publicUrl: 'https://x.test', mailDomain: null, ...changed } as const;
  const address = replyAddress({ name, outlet, tokenKeys });
  const [, token, at] = /^r\+([^@]+)@(.+)$/.exec(address ?? '') ?? [];
  expect(at ?? null).toBe(host);
  if (token !== undefined) expect(readEmailToken(token, 'reply', tokenKeys)).toEqual(name);
});
