import { afterAll, describe, expect, test } from 'vitest';
import type { SendingDomain } from '@beckon/contract/dashboard';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { startDnsServer } from '../../../server/testing/servers/dns-server.ts';
import { testResolver } from '../../../server/testing/servers/test-resolver.ts';

const dns = await startDnsServer();
afterAll(() => dns.stop());
const world = await testWorld({
  resolver: testResolver(dns),
  mail: { mailDomain: 'in.beckon.test', spfInclude: null },
});
const local = testShell({ DATA_DIR: await world.localSocket() });
const name = 'mail.acme.test';

describe('domains', () => {
  testCases(local, [
    { run: 'domains list', shows: /No sending domains yet/, json: [] },
    { run: 'domains check', shows: /No sending domains yet/, json: [] },
    {
      run: `domains add ${name} --throttle 5/s`,
      shows:
        /is pending: no emails are sent[^]*\nDKIM +required.*\n +TXT {2}\S+\._domainkey\.mail\.acme\.test\n +v=DKIM1.*[^]*not set: SMTP_SPF_INCLUDE \(SPF\)/,
    },
    { run: 'domains add new.acme.test --skip-warmup', json: { warm: true } },
    { run: `domains add ${name}`, fails: [1, /./] },
    { run: 'domains add localhost', fails: [2, /./] },
    { run: 'domains add', fails: [2, /missing required argument/] },
    { run: 'domains list', shows: /mail\.acme\.test +pending +0 of 3 +5\/s +needed/ },
    { run: `domains show ${name}`, shows: /Publish these DNS records/, json: { name } },
    { run: 'domains show x.test', fails: [1, /./] },
    { run: `domains check ${name}`, shows: /DKIM +missing\n[^]*expected: v=DKIM1/, json: { name } },
  ]);

  test('check shows a wrong record with the value that was found, then a verified domain', async () => {
    const { records } = (await local.json(['domains', 'show', name])) as SendingDomain;
    const check = async (): Promise<string> => (await local.run(['domains', 'check', name])).out;
    for (const { type, name: host, value } of records) dns.set(type, host, [value]);
    dns.set('TXT', `_dmarc.${name}`, ['v=DMARC1; p=perhaps']);
    expect(await check()).toMatch(/DMARC +wrong.*[^]*found: {4}v=DMARC1; p=perhaps/);
    for (const { type, name: host, value } of records) dns.set(type, host, [value]);
    expect(await check()).toMatch(/is verified: emails are sent from it\.\n\nDKIM +ok\n/);
    expect(await local.json(['domains', 'check'])).toMatchObject([{}, {}]);
  });

  testCases(local, [
    { run: `domains set ${name} --throttle 300/m --skip-warmup`, shows: /throttle 300\/m, no warm-up/ },
    { run: `domains set ${name} --start-warmup`, json: { warm: false, throttle: '300/m' } },
    { run: `domains set ${name}`, fails: [2, /one of --throttle, --skip-warmup, --start-warmup/] },
    {
      run: `domains set ${name} --skip-warmup --start-warmup`,
      fails: [2, /one of --skip-warmup and --start-warmup/],
    },
    { run: `domains resume ${name}`, shows: /was not paused/ },
    { run: `domains pause ${name} --reason audit`, shows: /Paused mail\.acme\.test/ },
    { run: 'domains list', shows: /paused: .*audit/ },
    { run: `domains show ${name}`, shows: /It is paused: .*audit.*beckon domains resume/ },
    { run: `domains resume ${name}`, shows: /Resumed mail\.acme\.test\. 0 held drafts checked/ },
    { run: `domains track ${name} --host t.${name}`, shows: /CNAME {2}t\.mail\.acme\.test\n +localhost\n/ },
    { run: `domains check ${name}`, shows: /Tracking host t\.mail\.acme\.test: not used/ },
    { run: `domains track ${name} --off`, shows: /use the server's own address/, json: { tracking: null } },
    { run: `domains track ${name}`, fails: [2, /one of --host and --off/] },
    { run: `domains rotate ${name}`, shows: /DKIM +required, key active[^]*DKIM +.*key \w+/ },
    { run: `domains remove ${name}`, fails: [2, /Emails are sent from it now, and will be held\. .*--yes/] },
    { run: `domains remove ${name} --yes`, shows: /Keep its DNS records for a week/ },
    { run: 'domains remove new.acme.test --yes', json: { name: 'new.acme.test' } },
    { run: `domains remove ${name} --yes`, fails: [1, /./] },
  ]);
});
