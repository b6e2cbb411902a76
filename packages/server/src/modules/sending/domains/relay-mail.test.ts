import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { relayDeps } from '../../../../testing/factories/relays.ts';
import { startDnsServer } from '../../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../../testing/servers/test-resolver.ts';
import type { RelayKind, RelaySettings } from '../../../platform/relays/adapter.ts';
import { createProject } from '../../administration/create-project.ts';
import { addRelay, changeRelay, useRelay } from '../relays/change-relay.ts';
import { INSTALLATION, type RelayId } from '../relays/relay.ts';
import { addDomain } from './change-domain.ts';
import { checkDomain } from './check-domain.ts';
import { requireDomain, showDomain } from './domain-view.ts';
import { listSpfFaults } from './reads.ts';

const dns = await startDnsServer();
const clock = fixedClock();
const db = await openTestDatabase(clock);
afterAll(() => dns.stop());

const mail = { mailDomain: 'in.beckon.test', spfInclude: 'spf.url.test' };
const relays = relayDeps(db);
const deps = { db, encrypter: relays.encrypter, resolver: testResolver(dns), mail };

let projectId = 0;
let name = '';
beforeEach(async () => {
  ({ id: projectId } = await createProject(db, { name: 'Acme' }));
  name = `mail${projectId}.acme.test`;
  await addDomain(deps, { projectId, name });
});

type Use = { owner?: number; domain?: string };

async function use(
  kind: RelayKind,
  settings: RelaySettings,
  { owner, domain = '' }: Use = {},
): Promise<RelayId> {
  const relay = await addRelay(relays, {
    projectId: owner ?? projectId,
    kind,
    name: randomUUID(),
    settings,
  });
  await useRelay(relays, { projectId: owner ?? projectId, domain, relay });
  return relay;
}

const show = () => showDomain(db, { projectId, name }, mail);
const spf = async () => (await show()).records.find(({ kind }) => kind === 'return_path_spf');
const publish = (value: string, at = `bounce.${name}`) => dns.set('TXT', at, [value]);

async function check() {
  await checkDomain(deps, await requireDomain(db, { projectId, name }));
  return (await spf())?.finding;
}

const SMTP = { host: 'smtp.acme.test' };
const MAILGUN = { api_key: 'key-1', domain: 'mg.acme.test' };

describe('SPF of a sending domain', () => {
  test('needs the include of the relay of the domain, else of the project, the installation or SMTP_URL', async () => {
    expect((await spf())?.value).toBe('v=spf1 include:spf.url.test ~all');
    await use('smtp', { ...SMTP, spf_include: 'spf.all.test' }, { owner: INSTALLATION });
    expect((await spf())?.value).toBe('v=spf1 include:spf.all.test ~all');
    await use('smtp', { ...SMTP, spf_include: 'spf.project.test' });
    expect((await spf())?.value).toBe('v=spf1 include:spf.project.test ~all');
    await use('smtp', { ...SMTP, spf_include: 'spf.domain.test' }, { domain: name });
    expect((await spf())?.value).toBe('v=spf1 include:spf.domain.test ~all');
    await useRelay(relays, { projectId: INSTALLATION, domain: '', relay: null });
  });

  test('needs no include of a provider with a return path of its own', async () => {
    await use('postmark', { server_token: 'token-1' });
    expect(await spf()).toBeUndefined();
    await use('smtp', { host: 'smtp.sendgrid.net' });
    expect(await spf()).toBeUndefined();
  });

  test('needs the include of Mailgun at the domain of Mailgun', async () => {
    await use('mailgun', MAILGUN);
    expect(await spf()).toMatchObject({ name: 'mg.acme.test', value: 'v=spf1 include:mailgun.org ~all' });
    publish('v=spf1 include:mailgun.org -all', 'mg.acme.test');
    expect(await check()).toMatchObject({ verdict: 'ok' });
  });

  test('names the include that is missing, and shows the record with it', async () => {
    await use('smtp', { ...SMTP, spf_include: 'spf.project.test' });
    publish('v=spf1 include:_spf.google.test ip4:192.0.2.1 -all');
    dns.set('TXT', '_spf.google.test', ['v=spf1 ip4:192.0.2.2 ~all']);
    expect(await check()).toMatchObject({
      verdict: 'wrong',
      says: 'It does not include the relay. Put include:spf.project.test before its all',
    });
    expect((await spf())?.value).toBe(
      'v=spf1 include:_spf.google.test ip4:192.0.2.1 include:spf.project.test -all',
    );
    expect(await listSpfFaults(db, 1_000)).toContainEqual({
      name: `bounce.${name}`,
      include: 'spf.project.test',
    });
    publish((await spf())?.value ?? '');
    expect(await check()).toMatchObject({ verdict: 'ok' });
  });

  test('passes if another include contains the one of the relay', async () => {
    await use('smtp', { ...SMTP, spf_include: 'spf.nested.test' });
    publish('v=spf1 include:all.acme.test ~all');
    dns.set('TXT', 'all.acme.test', ['v=spf1 include:spf.nested.test ~all']);
    expect(await check()).toMatchObject({ verdict: 'ok' });
  });

  test('fails after ten lookups, as receivers do', async () => {
    await use('smtp', { ...SMTP, spf_include: 'spf.deep.test' });
    publish('v=spf1 include:n1.acme.test ~all');
    for (let depth = 1; depth <= 10; depth += 1)
      dns.set('TXT', `n${depth}.acme.test`, [
        `v=spf1 include:${depth === 10 ? 'spf.deep.test' : `n${depth + 1}.acme.test`} ~all`,
      ]);
    expect(await check()).toMatchObject({
      verdict: 'wrong',
      says: expect.stringMatching(/^It needs more than 10 lookups/) as string,
    });
  });

  test('counts as not checked after the relay changed, and is checked soon', async () => {
    const relay = await use('smtp', { ...SMTP, spf_include: 'spf.first.test' });
    publish('v=spf1 include:spf.first.test ~all');
    expect(await check()).toMatchObject({ verdict: 'ok' });
    clock.advance(1_000);
    await changeRelay(relays, relay, { settings: { spf_include: 'spf.second.test' } });
    expect((await spf())?.finding).toBeNull();
    expect((await show()).domain.nextCheckAt).toBe(clock.now());
    expect(await check()).toMatchObject({ verdict: 'wrong' });
  });
});
