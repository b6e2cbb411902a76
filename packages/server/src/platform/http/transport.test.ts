import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientAddress, redirectLocation, transportOf, transportRules } from './transport.ts';

function rulesFor(...trustProxy: string[]) {
  return transportRules({ publicUrl: 'https://beckon.example/', trustProxy });
}

function from(remoteAddress: string | undefined, headers: Record<string, string> = {}) {
  return { headers, socket: { remoteAddress } };
}

const SAYS_HTTPS = { 'x-forwarded-proto': 'https' };

test('trusts X-Forwarded-Proto from a listed proxy only', () => {
  const rules = rulesFor('10.0.0.1');
  expect(transportOf(rules, from('10.0.0.1', SAYS_HTTPS))).toBe('https');
  expect(transportOf(rules, from('10.0.0.2', SAYS_HTTPS))).toBe('plain');
  expect(transportOf(rules, from(undefined, SAYS_HTTPS))).toBe('plain');
  expect(transportOf(rulesFor(), from('127.0.0.1', SAYS_HTTPS))).toBe('plain');
});

test('takes a listed proxy without the header, or with another value, as plain HTTP', () => {
  const rules = rulesFor('10.0.0.1');
  const proto = (value: string) => transportOf(rules, from('10.0.0.1', { 'x-forwarded-proto': value }));
  expect(transportOf(rules, from('10.0.0.1'))).toBe('plain');
  expect(['http', '', 'http, https', 'httpsx', ', https'].map(proto)).toEqual(Array(5).fill('plain'));
  expect(['HTTPS', ' https , http', 'https'].map(proto)).toEqual(Array(3).fill('https'));
});

test('takes our own TLS as https, whatever the peer and its headers', () => {
  const request = {
    headers: { 'x-forwarded-proto': 'http' },
    socket: { remoteAddress: '192.0.2.1', encrypted: true },
  };
  expect(transportOf(rulesFor(), request)).toBe('https');
  expect(transportOf(rulesFor('192.0.2.1'), request)).toBe('https');
});

test('accepts addresses and CIDR ranges of both families in the list', () => {
  const rules = rulesFor('10.0.0.0/8', ' 192.0.2.7 ', 'fd00::/8', '2001:db8::1');
  const trusted = ['10.255.255.255', '192.0.2.7', 'fd12:3456::1', '2001:db8::1', '2001:db8:0::1'];
  const strangers = ['11.0.0.0', '192.0.2.8', 'fe80::1', '2001:db8::2', '', 'localhost', '10.0.0.1.evil'];
  for (const address of trusted) expect([address, rules.isTrusted(address)]).toEqual([address, true]);
  for (const address of strangers) expect([address, rules.isTrusted(address)]).toEqual([address, false]);
});

test('takes IPv4-mapped IPv6 as the same address, as a peer and in the list', () => {
  expect(rulesFor('10.0.0.0/8').isTrusted('::ffff:10.1.2.3')).toBe(true);
  expect(rulesFor('10.0.0.0/8').isTrusted('::ffff:11.1.2.3')).toBe(false);
  expect(rulesFor('::ffff:10.0.0.0/104').isTrusted('10.1.2.3')).toBe(true);
  expect(rulesFor('::ffff:10.0.0.1').isTrusted('10.0.0.2')).toBe(false);
  expect(clientAddress(rulesFor(), from('::ffff:192.0.2.1'))).toBe('192.0.2.1');
});

test('stops the start for an invalid entry, and names it', () => {
  for (const entry of [
    'proxy',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    '10.1/8',
    '',
    '1.2.3.4/-1',
    '1.2.3.4/x',
  ]) {
    expect(() => rulesFor(entry), entry).toThrow(`Not an address or CIDR range: ${JSON.stringify(entry)}`);
  }
});

test('bounds the cache about unlisted peers, with correct answers', () => {
  const rules = rulesFor('10.0.0.0/8');
  for (let at = 0; at < 5_000; at += 1) expect(rules.isTrusted(`192.0.${at >> 8}.${at & 255}`)).toBe(false);
  expect(rules.isTrusted('10.0.0.1')).toBe(true);
});

test('takes the nearest address in X-Forwarded-For that is not our proxy as the client', () => {
  const rules = rulesFor('10.0.0.0/8');
  const client = (forwarded: string, peer = '10.0.0.1') =>
    clientAddress(rules, from(peer, { 'x-forwarded-for': forwarded }));
  expect(client('203.0.113.9')).toBe('203.0.113.9');
  expect(client('6.6.6.6, 203.0.113.9')).toBe('203.0.113.9');
  expect(client('6.6.6.6, 203.0.113.9, 10.0.0.2,10.0.0.3')).toBe('203.0.113.9');
  expect(client('10.0.0.9, 10.0.0.2')).toBe('10.0.0.9');
  expect(client('203.0.113.9:4711')).toBe('203.0.113.9');
  expect(client('[2001:db8::1]:4711')).toBe('2001:db8::1');
  expect(client('::ffff:203.0.113.9')).toBe('203.0.113.9');
  expect(client('6.6.6.6', '203.0.113.1')).toBe('203.0.113.1');
});

test('stops at the last known proxy before an invalid address', () => {
  const rules = rulesFor('10.0.0.0/8');
  for (const junk of ['unknown', '', '1.2.3', '_hidden', '999.1.1.1', ',', '6.6.6.6,']) {
    expect([junk, clientAddress(rules, from('10.0.0.1', { 'x-forwarded-for': junk }))]).toEqual([
      junk,
      '10.0.0.1',
    ]);
  }
});

test('redirects to the public origin with the requested path and query', () => {
  const rules = transportRules({ publicUrl: 'https://beckon.example:8443/ignored', trustProxy: [] });
  expect(redirectLocation(rules, '/api/v1/events?a=1&b=%20')).toBe(
    'https://beckon.example:8443/api/v1/events?a=1&b=%20',
  );
  expect(redirectLocation(rules, 'http://evil.example/x?y')).toBe('https://beckon.example:8443/x?y');
  expect(redirectLocation(rules, 'http://evil.example?y')).toBe('https://beckon.example:8443/?y');
  expect(redirectLocation(rules, '*')).toBe('https://beckon.example:8443/');
  expect(redirectLocation(rules, 'evil.example:443')).toBe('https://beckon.example:8443/');
  expect(redirectLocation(rules, '/\u00e9 \r\nSet-Cookie: x')).toBe(
    'https://beckon.example:8443/%E9%20%0D%0ASet-Cookie:%20x',
  );
});

test('redirects no request target anywhere but to the public origin', () => {
  const rules = rulesFor();
  const pieces = fc.constantFrom(
    '/',
    '//',
    '\\',
    '@',
    ':',
    '.',
    '?',
    '#',
    'http:',
    'evil.example',
    '%00',
    ' ',
    '\t',
    'é',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      expect(new URL(redirectLocation(rules, parts.join(''))).origin).toBe('https://beckon.example');
    }),
  );
});
