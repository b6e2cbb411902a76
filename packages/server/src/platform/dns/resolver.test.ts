import { afterAll, beforeEach, expect, test } from 'vitest';
import { type DnsServer, startDnsServer } from '../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../testing/servers/test-resolver.ts';
import { createResolver } from './resolver.ts';

const dns: DnsServer = await startDnsServer();
afterAll(() => dns.stop());
const resolver = testResolver(dns);

beforeEach(() => {
  dns.fail(null);
});

test('joins a record of several strings into one text', async () => {
  const long = 'x'.repeat(3_000);
  dns.set('TXT', 'long.test', [long]);
  dns.set('TXT', 'cut.test', [['v=DKIM1; p=ab', 'cd', '', 'ef'], 'another one']);
  expect(await resolver.txt('long.test')).toEqual({ kind: 'found', values: [long] });
  const found = await resolver.txt('cut.test');
  expect(found).toMatchObject({ kind: 'found' });
  expect(found.kind === 'found' && found.values.toSorted()).toEqual(['another one', 'v=DKIM1; p=abcdef']);
});

test('returns MX records with the most preferred first', async () => {
  dns.set('MX', 'mx.test', ['20 b.test', '5 a.test']);
  expect(await resolver.mx('mx.test')).toEqual({ kind: 'found', values: ['5 a.test', '20 b.test'] });
});

test('follows aliases to the record', async () => {
  dns.set('CNAME', 'alias.test', ['target.test']);
  dns.set('TXT', 'target.test', ['here']);
  expect(await resolver.txt('alias.test')).toEqual({ kind: 'found', values: ['here'] });
  expect(await resolver.cname('alias.test')).toEqual({ kind: 'found', values: ['target.test'] });
});

test('returns `none` for a missing name and for a missing record', async () => {
  dns.set('TXT', 'there.test', ['x']);
  expect(await resolver.txt('nowhere.test')).toEqual({ kind: 'none', code: 'ENOTFOUND' });
  expect(await resolver.mx('there.test')).toEqual({ kind: 'none', code: 'ENODATA' });
});

test.each([
  ['servfail', 'ESERVFAIL'],
  ['refused', 'EREFUSED'],
  ['silence', 'ETIMEOUT'],
] as const)('returns `trouble` for %s, not `none`', async (kind, code) => {
  dns.set('TXT', 'there.test', ['x']);
  dns.fail(kind);
  expect(await resolver.txt('there.test')).toEqual({ kind: 'failed', code });
  expect(await resolver.mx('there.test')).toEqual({ kind: 'failed', code });
  dns.fail(null);
  expect(await resolver.txt('there.test')).toEqual({ kind: 'found', values: ['x'] });
});

test('returns `trouble` in bounded time for a server that is down', async () => {
  const closedServer = await startDnsServer();
  await closedServer.stop();
  const patient = createResolver({ servers: closedServer.servers, timeoutMs: 50, tries: 100 });
  expect(await patient.txt('there.test')).toMatchObject({ kind: 'failed' });
  dns.fail('silence');
  // A hundred tries would exceed the timeout of this test: the total time has its own limit.
  const insistent = createResolver({ servers: dns.servers, timeoutMs: 50, tries: 100 });
  expect(await insistent.txt('there.test')).toEqual({ kind: 'failed', code: 'ETIMEOUT' });
});

test('caches no answers, so that a change is visible in the next lookup', async () => {
  dns.set('TXT', 'changing.test', ['before']);
  await resolver.txt('changing.test');
  dns.set('TXT', 'changing.test', ['after']);
  expect(await resolver.txt('changing.test')).toEqual({ kind: 'found', values: ['after'] });
  dns.remove('TXT', 'changing.test');
  expect(await resolver.txt('changing.test')).toMatchObject({ kind: 'none' });
});

test('returns addresses of both families, or of one if the other has none or times out', async () => {
  // Long enough for the family that answers, on a busy machine too.
  const resolver = createResolver({ servers: dns.servers, timeoutMs: 2_000, tries: 1 });
  dns.set('A', 'both.test', ['192.0.2.1', '192.0.2.2']);
  dns.set('AAAA', 'both.test', ['2001:db8::1']);
  dns.set('A', 'old.test', ['192.0.2.3']);
  dns.set('AAAA', 'new.test', ['2001:db8::2']);
  const found = await resolver.addresses('both.test');
  expect(found.kind === 'found' && found.values.toSorted()).toEqual([
    '192.0.2.1',
    '192.0.2.2',
    '2001:db8::1',
  ]);
  expect(await resolver.addresses('old.test')).toEqual({ kind: 'found', values: ['192.0.2.3'] });
  expect(await resolver.addresses('new.test')).toEqual({ kind: 'found', values: ['2001:db8::2'] });
  for (const kind of ['silence', 'servfail'] as const) {
    dns.fail(kind, 'AAAA old.test');
    expect(await resolver.addresses('old.test')).toEqual({ kind: 'found', values: ['192.0.2.3'] });
    dns.fail(kind, 'A new.test');
    expect(await resolver.addresses('new.test')).toEqual({ kind: 'found', values: ['2001:db8::2'] });
    dns.fail(kind, 'AAAA nowhere.test');
    expect(await resolver.addresses('nowhere.test')).toMatchObject({ kind: 'failed' });
  }
  dns.fail(null, 'AAAA old.test');
  dns.fail(null, 'A new.test');
  dns.fail(null, 'AAAA nowhere.test');
  expect(await resolver.addresses('nowhere.test')).toEqual({ kind: 'none', code: 'ENOTFOUND' });
});

test('does not wait long for the other family once it has an address', async () => {
  dns.set('A', 'old.test', ['192.0.2.3']);
  dns.fail('silence', 'AAAA old.test');
  const patient = createResolver({ servers: dns.servers, timeoutMs: 60_000, tries: 1 });
  expect(await patient.addresses('old.test')).toEqual({ kind: 'found', values: ['192.0.2.3'] });
  dns.fail(null, 'AAAA old.test');
});
