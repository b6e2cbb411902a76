import { afterAll, beforeEach, expect, test } from 'vitest';
import { jobRun } from '../../../../testing/factories/job-run.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { startDnsServer } from '../../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../../testing/servers/test-resolver.ts';
import type { Log } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { listDueDomains } from './reads.ts';
import { createProject } from '../../administration/create-project.ts';
import { addDomain } from './change-domain.ts';
import { type DomainView, showDomain } from './domain-view.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import { checkDueDomains } from './check-due-domains.ts';

const dns = await startDnsServer();
const clock = fixedClock();
const db = await openTestDatabase(clock);
afterAll(() => dns.stop());

const MINUTE = 60_000;
const encrypter = createEncrypter('a secret', null, 'dkim keys');
const resolver = testResolver(dns);
const mail = { mailDomain: 'in.beckon.test', spfInclude: null };

let events: string[] = [];
const note = (_: object, event: string): void => void events.push(event);
const log: Log = { debug: note, info: note, warn: note, error: note };
const run = (dnsResolver: Resolver = resolver, isStopping = false): Promise<void> =>
  checkDueDomains(
    { db, log, resolver: dnsResolver, mail },
    jobRun(() => isStopping),
  );

let projectId = 0;
beforeEach(async () => {
  events = [];
  dns.fail(null);
  await db.query('TRUNCATE beckon.sending_domain, beckon.dkim_key');
  ({ id: projectId } = await createProject(db, { name: 'Acme' }));
});

const add = (name: string) => addDomain({ db, encrypter, mail }, { projectId, name });
const show = async (name: string) => (await showDomain(db, { projectId, name }, mail)).domain;
const publish = ({ records }: DomainView): void => {
  for (const { type, name, value } of records) dns.set(type, name, [value]);
};
const due = () => listDueDomains(db, { now: clock.now(), limit: 10 });

test('checks the domains that are due, and no others', async () => {
  publish(await add('early.test'));
  await run();
  expect((await show('early.test')).checkedAt).toBe(null);
  clock.advance(MINUTE);
  await run();
  expect(await show('early.test')).toMatchObject({ state: 'verified', checkedAt: clock.now() });
  expect(await due()).toEqual([]);
  expect(events).toEqual(['domain.verified']);
});

test('reports a change for the worse once, when it happens', async () => {
  const added = await add('worse.test');
  publish(added);
  clock.advance(MINUTE);
  await run();
  dns.remove('TXT', '_dmarc.worse.test');
  for (let look = 0; look < 6; look += 1) {
    clock.advance(24 * 60 * MINUTE);
    await run();
  }
  expect(events).toEqual(['domain.verified', 'domain.degraded', 'domain.failed']);
});

test('checks each domain in only one of two processes', async () => {
  const names = Array.from({ length: 6 }, (_, n) => `d${n}.both.test`);
  for (const name of names) publish(await add(name));
  clock.advance(MINUTE);
  const lookups: string[] = [];
  const counted: Resolver = {
    ...resolver,
    mx(name) {
      lookups.push(name);
      return resolver.mx(name);
    },
  };
  await Promise.all([run(counted), run(counted), run(counted)]);
  expect(lookups.toSorted()).toEqual(names.map((name) => `bounce.${name}`));
});

test('continues after a domain whose check fails, and checks that one again later', async () => {
  publish(await add('broken.test'));
  publish(await add('whole.test'));
  clock.advance(MINUTE);
  const broken: Resolver = {
    ...resolver,
    mx: (name) => (name === 'bounce.broken.test' ? Promise.reject(new Error('no')) : resolver.mx(name)),
  };
  await run(broken);
  expect((await show('whole.test')).state).toBe('verified');
  expect(events).toContain('domain.not_checked');
  expect(await due()).toEqual([]);
  clock.advance(5 * MINUTE);
  await run();
  expect((await show('broken.test')).state).toBe('verified');
});

test('starts no further check after a stop', async () => {
  publish(await add('stopped.test'));
  clock.advance(MINUTE);
  await run(resolver, true);
  expect((await show('stopped.test')).checkedAt).toBe(null);
  expect((await due()).length).toBe(1);
});
