import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../testing/servers/free-port.ts';
import { silentLog } from '../../platform/log.ts';
import { startMailListener } from '../../platform/mail/listener.ts';
import { checkMailIn } from './check-network.ts';
import type { InstallationCheck, InspectedConfig } from './checks.ts';

const RELAY = { name: 'relay.test', probe: () => Promise.resolve(null) };

function check(changed: Partial<InspectedConfig>): Promise<InstallationCheck[]> {
  return checkMailIn({
    warnings: [],
    dataDir: '.',
    embedded: true,
    publicUrl: 'http://localhost',
    host: '127.0.0.1',
    tls: null,
    ports: [],
    servesApi: true,
    pooled: false,
    connectionsNeeded: 25,
    relay: RELAY,
    ...changed,
  });
}

test('checkMailIn › checks nothing in a process without inbound mail', async () => {
  expect(await check({})).toEqual([]);
});

test('checkMailIn › warns of a relay without MAIL_DOMAIN, with the fix', async () => {
  const address = { host: '127.0.0.1', port: await freePort() };
  const [, set] = await check({ mailIn: { ...address, domain: 'in.acme.test' } });
  expect(set).toMatchObject({ state: 'ok', message: expect.stringContaining('in.acme.test') as string });
  const [, unset] = await check({ mailIn: { ...address, domain: null } });
  expect(unset).toMatchObject({ state: 'warn', next: expect.stringContaining('MX') as string });
  const [, testInbox] = await check({ relay: null, mailIn: { ...address, domain: null } });
  expect(testInbox).toMatchObject({ state: 'ok' });
});

test('checkMailIn › says that bounces do not arrive if a provider replaces the return path', async () => {
  const mailIn = { host: '127.0.0.1', port: await freePort(), domain: 'in.acme.test' };
  const [, replaced] = await check({ mailIn, relay: { ...RELAY, name: 'smtp.postmarkapp.com:587' } });
  expect(replaced).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('Postmark replaces the return path') as string,
  });
  const [, forwarded] = await check({
    mailIn,
    relay: { ...RELAY, name: 'email-smtp.eu-west-1.amazonaws.com' },
  });
  expect(forwarded).toMatchObject({ state: 'ok' });
});

test('checkMailIn › accepts a port that is free or used by Beckon, and no other program', async () => {
  const mailIn = { host: '127.0.0.1', port: await freePort(), domain: 'in.acme.test' };
  expect((await check({ mailIn }))[0]).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('free') as string,
  });
  const listener = await startMailListener({
    ...mailIn,
    sizeMax: 1_000,
    credentials: null,
    accept: () => Promise.resolve(),
    log: silentLog,
  });
  expect((await check({ mailIn }))[0]).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('Beckon') as string,
  });
  await listener.close();
  const other = createServer((socket) => socket.end('220 other\r\n')).listen(mailIn.port, mailIn.host);
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  expect((await check({ mailIn }))[0]).toMatchObject({ state: 'fail' });
  expect((await check({ mailIn: { ...mailIn, host: '203.0.113.7' } }))[0]).toMatchObject({ state: 'fail' });
  expect((await check({ mailIn: { ...mailIn, port: 0 } }))[0]).toMatchObject({ state: 'ok' });
});
