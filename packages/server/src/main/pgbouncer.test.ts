import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../platform/time/clock.ts';
import { deriveKey } from '../platform/crypto/hash.ts';
import { idMaker } from '../platform/ids.ts';
import { silentLog } from '../platform/log.ts';
import { createEncrypter } from '../platform/crypto/encrypt.ts';
import { findMail } from '../modules/review/test-inbox/reads.ts';
import { readMail } from '../modules/sending/email-checks/read-mail.ts';
import { createKey } from '../modules/ingest/keys/change-key.ts';
import { createProject } from '../modules/administration/create-project.ts';
import { setSettings } from '../modules/administration/set-settings.ts';
import { addEndpoint } from '../modules/webhooks/endpoints/change-endpoint.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import { testDatabase } from '../../testing/factories/database.ts';
import { missingPgbouncer, startPgbouncer } from '../../testing/servers/pgbouncer.ts';
import { type Supervised, superviseServer } from '../../testing/servers/supervised-server.ts';
import { writers } from '../../testing/oracles/survival.ts';

const SECRET_KEY = 'a secret of these tests, and long enough';
const missing = missingPgbouncer();
const testDb = await testDatabase();
const pooler = missing === null ? await startPgbouncer(testDb.url, { poolSize: 8 }) : null;
const pooled = pooler?.through(testDb.url) ?? '';
afterAll(async () => {
  await pooler?.stop();
  await testDb.drop();
});

/** The customer's server, which records the webhooks that it receives. */
async function receiver(): Promise<{ url: string; types: string[]; close(): void }> {
  const types: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      types.push((JSON.parse(body) as { type: string }).type);
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, types, close: () => void server.close() };
}

/** Creates a project whose emails are sent automatically, at once, and that has a webhook endpoint. */
async function prepare(db: Database, endpoint: string): Promise<{ id: number; secret: string }> {
  const { id } = await createProject(db, { name: 'Pooled' });
  const pepper = deriveKey(SECRET_KEY, 'api-key pepper');
  const { secret } = await createKey({ db, pepper }, { projectId: id, label: 'server' });
  await setSettings(db, id, { quiet_hours: 'off', autopilot: '1s', frequency_cap: 'off', throttle: 'off' });
  const encrypter = createEncrypter(SECRET_KEY, null, 'secrets at rest');
  const rules = { allowPrivate: true };
  await addEndpoint({ db, newId: idMaker(db.clock), encrypter, rules }, {
    projectId: id,
    url: endpoint,
    types: ['email.unsubscribed'],
    description: null,
  } as never);
  return { id, secret };
}

/** Unsubscribes once the email has arrived, as a mail program does when its reader presses the button. */
async function unsubscribe(db: Database, { id, url }: { id: number; url: string }): Promise<void> {
  const emails = async (): Promise<{ id: string; copy: number }[]> =>
    db.query(`SELECT id, copy FROM beckon.test_inbox_email WHERE project_id = $1`, [id]);
  while ((await emails()).length === 0) await pause(20);
  const [kept] = await emails();
  const email = kept && (await findMail(db, { projectId: id, ...kept }));
  const { headers } = await readMail(email?.raw ?? Buffer.alloc(0));
  const links = headers.find(({ name }) => name === 'list-unsubscribe')?.value ?? '';
  const link = new URL(/<(http[^>]*)>/.exec(links)?.[1] ?? '');
  const response = await fetch(`${url}${link.pathname}${link.search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  expect(response.status).toBe(200);
}

async function journey(server: Supervised, db: Database): Promise<void> {
  const url = await server.url;
  const hooks = await receiver();
  try {
    const { id, secret } = await prepare(db, hooks.url);
    const post = async (path: string, body: object): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      return (await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
        .status;
    };
    expect(await post('users', { external_user_id: 'u1', email: 'ada@acme.test', name: 'Ada' })).toBe(202);
    expect(await post('events', { external_user_id: 'u1', name: 'user_signed_up' })).toBe(202);
    const load = writers({ url, secret }, 8);
    await unsubscribe(db, { id, url });
    while (hooks.types.length === 0 || load.journal.acknowledged.size < 300) await pause(20);
    await load.stop();
    expect(hooks.types).toEqual(['email.unsubscribed']);
    while (
      (await db.query(`SELECT 1 FROM beckon.ingest_queue WHERE project_id = $1 LIMIT 1`, [id])).length > 0
    )
      await pause(20);
    const sent = [...load.journal.acknowledged.keys()].flatMap((write) => write.events);
    const stored = await db.query<{ name: string; count: number }>(
      `SELECT name, count(*) AS count FROM beckon.event WHERE project_id = $1 AND name = ANY ($2) GROUP BY name`,
      [id, sent],
    );
    expect(stored.filter(({ count }) => count !== 1)).toEqual([]);
    expect(stored).toHaveLength(sent.length);
  } finally {
    hooks.close();
  }
}

const SETUPS = [
  { of: 'past which sign-ins and migrations go', admin: testDb.url },
  { of: 'through which all of it goes', admin: pooled },
];
const why = missing === null ? '' : ` (${missing})`;

test.skipIf(missing !== null).each(SETUPS)(
  `processes a record into an email and a webhook behind a pooler in transaction mode, $of, without a failure${why}`,
  async ({ admin }) => {
    const server = superviseServer({
      DATABASE_URL: pooled,
      ADMIN_DATABASE_URL: admin,
      DATABASE_POOLER: 'transaction',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SECRET_KEY,
    });
    const connection = (): { connectionString: string } => ({ connectionString: pooled });
    const db = await openDatabase({ connection, clock: systemClock, log: silentLog, namedStatements: false });
    try {
      await journey(server, db);
      server.child.kill('SIGTERM');
      expect(await server.ended).toBe(0);
      const INFO = 30;
      expect(server.lines.filter(({ level }) => Number(level) > INFO)).toEqual([]);
    } finally {
      server.child.kill('SIGKILL');
      await server.ended;
      await db.close();
    }
  },
  180_000,
);
