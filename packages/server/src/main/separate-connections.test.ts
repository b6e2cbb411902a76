import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { idMaker } from '../platform/ids.ts';
import { createEncrypter } from '../platform/crypto/encrypt.ts';
import { findMail } from '../modules/review/test-inbox/reads.ts';
import { readMail } from '../modules/sending/email-checks/read-mail.ts';
import { createKey } from '../modules/ingest/keys/change-key.ts';
import { createProject } from '../modules/administration/create-project.ts';
import { setSettings } from '../modules/administration/set-settings.ts';
import { addEndpoint } from '../modules/webhooks/endpoints/change-endpoint.ts';
import { PEPPER, testServer } from '../../testing/servers/server.ts';
import { systemClock } from '../platform/time/clock.ts';
import { testTeam } from '../../testing/factories/team.ts';

const SEALER = createEncrypter('a secret of these tests, and long enough', null, 'secrets at rest');

const hooks: string[] = [];
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    hooks.push((JSON.parse(body) as { type: string }).type);
    response.writeHead(204).end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

const server = await testServer({
  more: { encrypter: SEALER, webhooks: { allowPrivate: true, agent: 'test' } },
});
const { db } = server;
const team = testTeam({ ...server, clock: systemClock as never });
afterAll(async () => {
  await server.stop();
  receiver.close();
});

/** Creates a project that sends automatically at once and has an endpoint, and another with the same members. */
async function prepare() {
  const { ada, projectId } = await team.setUp();
  const token = await team.tokenFor(ada, ['read']);
  const [organization] = await db.query<{ id: string }>(
    'SELECT organization_id AS id FROM beckon.project WHERE project_id = $1',
    [projectId],
  );
  const other = await createProject(db, { name: 'Other', organizationId: organization?.id ?? '' });
  const { secret } = await createKey({ db, pepper: PEPPER }, { projectId, label: 'server' });
  await setSettings(db, projectId, {
    quiet_hours: 'off',
    autopilot: '1s',
    frequency_cap: 'off',
    throttle: 'off',
  });
  const deps = { db, newId: idMaker(db.clock), encrypter: SEALER, rules: { allowPrivate: true } };
  const types = ['email.unsubscribed'];
  await addEndpoint(deps, { projectId, url: hookUrl, types, description: null } as never);
  return { projectId, otherId: other.id, secret, token };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** Repeats more requests than the dashboard has connections, for tables that are locked. */
function fillPages({ projectId, otherId, token }: Prepared): { stop(): Promise<void> } {
  const headers = { authorization: `Bearer ${token}` };
  const stopped = new AbortController();
  const paths = [projectId, otherId].flatMap((id) => [
    ...Array.from({ length: 10 }, () => `${id}/views?screen=users`),
    ...Array.from({ length: 10 }, () => `${id}/requests?filter=code:x`),
  ]);
  const requests = paths.map(async (path) => {
    const url = `${server.url}/api/dashboard/projects/${path}`;
    while (!stopped.signal.aborted)
      await fetch(url, { headers, signal: stopped.signal }).then(
        (response) => response.text(),
        () => {},
      );
  });
  return {
    async stop() {
      stopped.abort();
      await Promise.all(requests);
    },
  };
}

async function untilFull(): Promise<void> {
  const held = async (): Promise<unknown> =>
    db.query(
      `SELECT application_name AS pool, count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name LIKE 'beckon dashboard%' GROUP BY 1 ORDER BY 1`,
    );
  const full = [
    { pool: 'beckon dashboard', count: 3 },
    { pool: 'beckon dashboard_heavy', count: 3 },
  ];
  while (JSON.stringify(await held()) !== JSON.stringify(full));
}

async function post(secret: string, path: string, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return (
    await fetch(`${server.url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  ).status;
}

/** Unsubscribes once the email has arrived, as a mail program does when its reader presses the button. */
async function unsubscribe(projectId: number): Promise<void> {
  const mails = async (): Promise<{ id: string; copy: number }[]> =>
    db.query(`SELECT id, copy FROM beckon.test_inbox_email WHERE project_id = $1`, [projectId]);
  let kept = await mails();
  while (kept.length === 0) kept = await mails();
  const [mail] = kept;
  const found = mail && (await findMail(db, { projectId, ...mail }));
  const { headers } = await readMail(found?.raw ?? Buffer.alloc(0));
  const link = new URL(
    /<(http[^>]*)>/.exec(headers.find(({ name }) => name === 'list-unsubscribe')?.value ?? '')?.[1] ?? '',
  );
  const response = await fetch(`${server.url}${link.pathname}${link.search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  expect(response.status).toBe(200);
}

describe('connections of the dashboard', () => {
  test('are all in use while events are accepted and processed, and an email and its webhook are sent', async () => {
    const prepared = await prepare();
    const { projectId, secret } = prepared;
    const holder = await db.session();
    await holder.script(`BEGIN; LOCK TABLE beckon.saved_view, beckon.ingest_log IN ACCESS EXCLUSIVE MODE`);
    const pages = fillPages(prepared);
    await untilFull();
    expect(await post(secret, 'users', { external_user_id: 'u1', email: 'ada@acme.test' })).toBe(202);
    expect(await post(secret, 'events', { external_user_id: 'u1', name: 'user_signed_up' })).toBe(202);
    await unsubscribe(projectId);
    while (hooks.length === 0) await db.query('SELECT 1');
    expect(hooks).toEqual(['email.unsubscribed']);
    // All of it happened while they waited.
    await untilFull();
    await pages.stop();
    await holder.script('ROLLBACK');
    holder.release();
  }, 60_000);
});
