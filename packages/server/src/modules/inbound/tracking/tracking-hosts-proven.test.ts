import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { TOKEN_KEYS } from '../../../../testing/factories/send-services.ts';
import { testProject, testServer } from '../../../../testing/servers/server.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { addDomain, removeDomain } from '../../sending/domains/change-domain.ts';
import { probeDomain, trackDomain } from '../../sending/domains/tracking.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

const MINUTE_MS = 60_000;
const clock = fixedClock();
const server = await testServer({ clock, listen: { publicUrl: 'http://api.public.test' } });
afterAll(() => server.stop());
const { db } = server;
const encrypter = createEncrypter('a secret of this test alone', null, 'test');
const mail = { mailDomain: null, spfInclude: null };

type RegisteredDomain = { projectId: number; id: string; name: string };
let project: Awaited<ReturnType<typeof testProject>>;
let seen = 0;
beforeEach(async () => {
  await db.query('TRUNCATE beckon.sending_domain, beckon.dkim_key');
  project = await testProject(server);
  seen += 1;
});

type RequestOptions = { host: string; path?: string; method?: string; body?: object };

async function sendRequest({ host, path = '/livez', method = 'GET', body }: RequestOptions) {
  const request = http.request(`${server.url}${path}`, {
    method,
    headers: { host, authorization: `Bearer ${project.secret}`, 'content-type': 'application/json' },
  });
  request.end(body && JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode ?? 0, text };
}

const sendEvent = (host: string) =>
  sendRequest({
    host,
    path: '/api/v1/events',
    method: 'POST',
    body: { external_user_id: 'u1', name: 'login' },
  });

async function register(host: string, projectId = project.id): Promise<RegisteredDomain> {
  const name = host.slice(host.indexOf('.') + 1);
  const { domain } = await addDomain({ db, encrypter, mail }, { projectId, name });
  await trackDomain({ db, mail }, { projectId, name }, host);
  return { projectId, id: domain.id, name };
}

/** Replaces the DNS answers that verify a domain. */
function setState({ projectId, id }: RegisteredDomain, state: 'verified' | 'failed'): Promise<unknown> {
  return db.query(`UPDATE beckon.sending_domain SET state = $3 WHERE project_id = $1 AND id = $2`, [
    projectId,
    id,
    state,
  ]);
}

/** Sends the probe request to the server under the name of the host, as when the host leads here. */
const leadsHere: Pick<Outbound, 'get'> = {
  async get({ url }) {
    const { hostname: host, pathname: path } = new URL(url);
    const { status, text } = await sendRequest({ host, path });
    return { ok: true, status, retryAfter: null, body: text, file: null, ms: 1 };
  },
};
const failingOutbound: Pick<Outbound, 'get'> = {
  get: () => Promise.resolve({ ok: false, error: 'dns', detail: 'The DNS has no address', ms: 1 }),
};
const probe = (domain: RegisteredDomain, outbound = leadsHere) =>
  probeDomain({ db, outbound, tokenKeys: TOKEN_KEYS }, domain);

/** Waits until the server has read its list again: it then restricts a proven host of this test alone. */
async function refreshed(): Promise<void> {
  const host = `t.marker${seen}.test`;
  seen += 1;
  const domain = await register(host);
  await setState(domain, 'verified');
  await probe(domain);
  clock.advance(MINUTE_MS);
  await expect.poll(async () => (await sendRequest({ host })).status).toBe(404);
}

async function expectUnrestricted(host: string): Promise<void> {
  expect((await sendRequest({ host })).status, `GET /livez at ${host}`).toBe(200);
  expect((await sendEvent(host)).status, `POST /api/v1/events at ${host}`).toBe(202);
}

async function expectLinksOnly(host: string): Promise<void> {
  for (const path of ['/livez', '/', '/api/dashboard/session', '/sign-in', '/docs'])
    expect((await sendRequest({ host, path })).text, path).toContain('not_found');
  expect((await sendEvent(host)).status).toBe(404);
  expect((await sendRequest({ host, path: '/o/x.gif' })).text).toContain('<html');
}

describe('tracking host', () => {
  test('changes nothing while its domain is not verified and no probe reached it', async () => {
    await register('api.victim.test');
    await refreshed();
    await expectUnrestricted('api.victim.test');
  });

  test('changes nothing while only its domain is verified', async () => {
    await setState(await register('api.victim.test'), 'verified');
    await refreshed();
    await expectUnrestricted('api.victim.test');
  });

  test('changes nothing while its domain is not verified, though the host leads here as a second name of the API', async () => {
    const domain = await register('api.victim.test');
    expect(await probe(domain)).toMatchObject({ before: 'pending', after: 'working' });
    await refreshed();
    await expectUnrestricted('api.victim.test');
  });

  test('serves the links of emails and nothing else once its domain is verified and a pending probe got through', async () => {
    const domain = await register('t.acme.test');
    await setState(domain, 'verified');
    expect(await probe(domain)).toMatchObject({ before: 'pending', after: 'working' });
    await refreshed();
    await expectLinksOnly('t.acme.test');
    expect(await probe(domain)).toMatchObject({ before: 'working', after: 'working' });
  });

  test('stays restricted after it worked once and then failed', async () => {
    const domain = await register('t.acme.test');
    await setState(domain, 'verified');
    await probe(domain);
    for (let n = 0; n < 3; n += 1) await probe(domain, failingOutbound);
    await refreshed();
    await expectLinksOnly('t.acme.test');
  });

  test('is released when its domain fails, is removed, or gets another tracking host', async () => {
    const change: Record<string, (domain: RegisteredDomain) => Promise<unknown>> = {
      't.fails.test': (domain) => setState(domain, 'failed'),
      't.goes.test': (domain) => removeDomain(db, domain),
      't.moves.test': (domain) => trackDomain({ db, mail }, domain, `u.${domain.name}`),
    };
    for (const [host, released] of Object.entries(change)) {
      const domain = await register(host);
      await setState(domain, 'verified');
      await probe(domain);
      await refreshed();
      await expectLinksOnly(host);
      await released(domain);
      await refreshed();
      await expectUnrestricted(host);
    }
  });

  test('is restricted by the project that proved it, whatever another project claims', async () => {
    const [ours, { id: otherId }] = [await register('t.acme.test'), await testProject(server)];
    const theirs = await register('t.acme.test', otherId);
    await setState(ours, 'verified');
    await probe(ours);
    await refreshed();
    await expectLinksOnly('t.acme.test');
    await removeDomain(db, ours);
    await probe(theirs);
    await refreshed();
    await expectUnrestricted('t.acme.test');
  });

  test('never restricts the host of PUBLIC_URL', async () => {
    const domain = await register('api.public.test');
    await setState(domain, 'verified');
    await probe(domain);
    await refreshed();
    await expectUnrestricted('api.public.test');
  });
});
