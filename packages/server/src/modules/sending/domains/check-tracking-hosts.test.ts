import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { jobRun } from '../../../../testing/factories/job-run.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { startDnsServer } from '../../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../../testing/servers/test-resolver.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { type Log, silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { createTrackingHosts, trackDomain } from './tracking.ts';
import { createProject } from '../../administration/create-project.ts';
import { addDomain, removeDomain } from './change-domain.ts';
import { showDomain } from './domain-view.ts';
import { mountProbe } from '../../inbound/tracking/routes.ts';
import { createOutbound, type Outbound } from '../../../platform/outbound/outbound.ts';
import { checkTrackingHosts } from './check-tracking-hosts.ts';
import { linksBaseOf } from '../../delivery/compose-email.ts';

const tls = (name: string) =>
  readFileSync(new URL(`../../../../testing/servers/tls/${name}`, import.meta.url));
const dns = await startDnsServer();
const clock = fixedClock();
const db = await openTestDatabase(clock);
const resolver = testResolver(dns);
const real = createOutbound({ allowPrivate: true, resolver, ca: tls('names.crt') });

/** This installation behind TLS, and another one with another secret. */
const ours = await installation(TOKEN_KEYS);
const theirs = await installation([Buffer.alloc(32, 1)]);
let port = portOf(ours);
/** Tests cannot listen on port 443, so requests go to the port that the host resolves to. */
const outbound: Outbound = {
  ...real,
  get: (request) => real.get({ ...request, url: request.url.replace('.test/', `.test:${port}/`) }),
};

afterAll(async () => {
  real.close();
  await Promise.all([ours.close(), theirs.close()]);
  await dns.stop();
});

async function installation(
  tokenKeys: Parameters<typeof mountProbe>[1]['tokenKeys'],
): Promise<FastifyInstance> {
  const app = Fastify({
    https: { cert: tls('names.crt'), key: tls('names.key') },
    forceCloseConnections: true,
  });
  mountProbe(app as unknown as FastifyInstance, { tokenKeys });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app as unknown as FastifyInstance;
}

function portOf(app: FastifyInstance): number {
  return ((app.server as unknown as Server).address() as AddressInfo).port;
}

const MINUTE = 60_000;
const HOST = 't.acme.test';
const PUBLIC = 'https://beckon.test';
const mail = { mailDomain: null, spfInclude: null };
const encrypter = createEncrypter('a secret', null, 'dkim keys');
let events: string[] = [];
const note = (_: object, event: string): void => void events.push(event);
const log: Log = { debug: note, info: note, warn: note, error: note };
const run = (): Promise<void> => checkTrackingHosts({ db, log, outbound, tokenKeys: TOKEN_KEYS }, jobRun());

let ref = { projectId: 0, name: 'acme.test' };
beforeEach(async () => {
  events = [];
  port = portOf(ours);
  dns.set('A', HOST, ['127.0.0.1']);
  await db.query('TRUNCATE beckon.sending_domain, beckon.dkim_key');
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  ref = { projectId, name: 'acme.test' };
  await addDomain({ db, encrypter, mail }, ref);
});

const track = (host: string | null) => trackDomain({ db, mail }, ref, host);
const show = async () => (await showDomain(db, ref, mail)).domain;
const base = async () => linksBaseOf(await show(), PUBLIC);
async function runAfter(ms: number): Promise<void> {
  clock.advance(ms);
  await run();
}

test("uses the tracking host in links once it leads here, and the installation's address after it is removed", async () => {
  await track(HOST);
  expect(await base()).toBe(PUBLIC);
  await run();
  expect((await show()).tracking).toMatchObject({ state: 'working', found: null, checkedAt: clock.now() });
  expect(await base()).toBe(`https://${HOST}`);
  expect(events).toEqual(['tracking_host.working']);
  await track(null);
  expect((await show()).tracking).toBe(null);
  expect(await base()).toBe(PUBLIC);
});

test('does not use a host that leads nowhere or to another installation, and shows what was found', async () => {
  await track(HOST);
  port = portOf(theirs);
  await run();
  expect((await show()).tracking).toMatchObject({
    state: 'pending',
    misses: 1,
    found: expect.stringContaining('404'),
  });
  dns.remove('A', HOST);
  for (let n = 0; n < 2; n += 1) await runAfter(MINUTE);
  expect((await show()).tracking).toMatchObject({
    state: 'failed',
    found: expect.stringContaining('ENOTFOUND'),
  });
  expect(events).toEqual(['tracking_host.failed']);
  expect(await base()).toBe(PUBLIC);
});

test('fails a host after three wrong probes, and uses it again after the first correct one', async () => {
  await track(HOST);
  await run();
  port = portOf(theirs);
  await runAfter(10 * MINUTE);
  await runAfter(MINUTE);
  expect(await base()).toBe(`https://${HOST}`);
  await runAfter(MINUTE);
  expect(await base()).toBe(PUBLIC);
  port = portOf(ours);
  await runAfter(MINUTE);
  expect(await base()).toBe(`https://${HOST}`);
  expect(events).toEqual(['tracking_host.working', 'tracking_host.failed', 'tracking_host.working']);
});

test('probes a due host in only one of several processes, and no host before it is due', async () => {
  await track(HOST);
  let requests = 0;
  const counting: Pick<Outbound, 'get'> = { get: (request) => ((requests += 1), outbound.get(request)) };
  const counted = (): Promise<void> =>
    checkTrackingHosts({ db, log, tokenKeys: TOKEN_KEYS, outbound: counting }, jobRun());
  await Promise.all(Array.from({ length: 4 }, counted));
  await counted();
  expect(requests).toBe(1);
});

test('ignores a probe when the host or the domain has changed since its start', async () => {
  await track(HOST);
  const changed = (change: () => Promise<unknown>) =>
    checkTrackingHosts(
      {
        db,
        log,
        tokenKeys: TOKEN_KEYS,
        outbound: {
          async get(request) {
            const response = await outbound.get(request);
            await change();
            return response;
          },
        },
      },
      jobRun(),
    );
  await changed(() => track('u.acme.test'));
  expect((await show()).tracking).toMatchObject({ host: 'u.acme.test', state: 'pending', checkedAt: null });
  await changed(() => removeDomain(db, ref));
  expect(events).toEqual([]);
});

test('createTrackingHosts lists a host within a minute after a probe reached it', async () => {
  const hosts = createTrackingHosts(db, silentLog);
  expect(hosts.has(HOST)).toBe(false);
  await track(HOST);
  await run();
  await db.query(`UPDATE beckon.sending_domain SET state = 'verified'`);
  clock.advance(MINUTE);
  await expect.poll(() => hosts.has(HOST)).toBe(true);
  expect(hosts.has('acme.test')).toBe(false);
});
