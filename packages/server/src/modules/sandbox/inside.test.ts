import { afterAll, expect, test } from 'vitest';
import { testHasher, TOKEN_KEYS } from '../../../testing/factories/send-services.ts';
import { endpointServer, newCaller } from '../../../testing/servers/endpoint-server.ts';
import { EVENTS } from '../../../testing/factories/endpoints.ts';
import { hookServer, HOOK_CA } from '../../../testing/servers/hook-server.ts';
import { testSandbox, type TestSandbox } from '../../../testing/factories/sandbox.ts';
import { testProject, testServer } from '../../../testing/servers/server.ts';
import { startSink } from '../../../testing/servers/smtp-sink.ts';
import { AGENT, settled } from '../../../testing/factories/webhook-stage.ts';
import { idMaker } from '../../platform/ids.ts';
import { emailToken, type TokenUse } from '../../platform/crypto/email-token.ts';
import { silentLog } from '../../platform/log.ts';
import { createEncrypter } from '../../platform/crypto/encrypt.ts';
import { createDelivery } from '../webhooks/dispatch/dispatch.ts';
import { erasePerson } from '../profiles/erase-user.ts';
import { settleHits } from '../inbound/tracking/settle-hits.ts';
import { setSettings } from '../administration/set-settings.ts';
import { addEndpoint } from '../webhooks/endpoints/change-endpoint.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';

const DAY = 86_400_000;

async function signUp(sandbox: TestSandbox, id: string): Promise<void> {
  await sandbox.post('users', { external_user_id: id, email: `${id}@example.com` });
  await sandbox.post('events', { external_user_id: id, name: 'user_signed_up' });
}

test('sends no email of a sandbox through the relay, with workers running, and stores each once', async () => {
  const sink = await startSink();
  const server = await testServer({ smtpUrl: `smtp://127.0.0.1:${sink.port}` });
  const live = await testProject(server);
  await setSettings(server.db, live.id, { quiet_hours: 'off' });
  const sandbox = await testSandbox(server, live.id);
  const people = Array.from({ length: 8 }, (_, i) => `u${i}`);
  await Promise.all(people.map((id) => signUp(sandbox, id)));
  // The workers of the server run at the same time.
  const { emails } = await sandbox.advance('4d');
  expect(emails).toBe(16);
  const left = await sandbox.emails();
  expect(left.map(({ rule, user }) => `${rule} ${user}`).toSorted()).toEqual(
    ['onboarding_stall', 'welcome'].flatMap((rule) => people.map((id) => `${rule} ${id}`).toSorted()),
  );
  const [kept] = await server.db.query<{ mails: number }>(
    `SELECT count(*) AS mails FROM beckon.test_inbox_email WHERE project_id = $1`,
    [sandbox.id],
  );
  expect(kept?.mails).toBe(16);
  // Without an advance of the clock, only the workers send.
  await setSettings(server.db, sandbox.id, { autopilot: '1s', frequency_cap: 'off' });
  await signUp(sandbox, 'eve');
  await expect.poll(async () => (await sandbox.emails()).at(-1)?.user, { timeout: 20_000 }).toBe('eve');
  expect(sink.emails).toEqual([]);
  await server.stop();
  await sink.close();
});

const server = await endpointServer();
const { db, clock } = server;
const hooks = await hookServer();
const outbound = createOutbound({ allowPrivate: true, ca: HOOK_CA });
const encrypter = createEncrypter('a secret of this test alone', null, 'test');
const newId = idMaker(clock);
afterAll(async () => {
  outbound.close();
  await hooks.close();
});

test('reports outcomes to endpoints of the sandbox alone, at once, and as not live', async () => {
  const live = await newCaller(server, EVENTS);
  const sandbox = await testSandbox(server, live.id);
  const deps = { db, newId, encrypter, rules: { allowPrivate: true } };
  await addEndpoint(deps, { projectId: live.id, url: hooks.url('/live') });
  await addEndpoint(deps, { projectId: sandbox.id, url: hooks.url('/sandbox') });
  await signUp(sandbox, 'ada');
  await sandbox.advance('60d');
  const name = await emailNameOf(sandbox, 'welcome');
  const link = (use: TokenUse): string => emailToken(name, use, TOKEN_KEYS);
  const opened = await fetch(`${server.url}/o/${link('open')}.gif`);
  expect(opened.status).toBe(200);
  await expect.poll(() => hitsOf(sandbox.id)).toBe(1);
  clock.advance(11_000);
  await settleHits({ db, newId, log: silentLog });
  const gone = await fetch(`${server.url}/u/${link('unsubscribe')}`, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  expect(gone.status).toBe(200);
  await settled(createDelivery({ db, log: silentLog, encrypter, outbound, agent: AGENT }));
  const deliveries = hooks.received
    .map(({ path, body }) => ({ path, ...(JSON.parse(body) as { type: string }) }))
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
  const then = new Date(clock.now() + 60 * DAY).toISOString();
  expect(deliveries.map(({ path, ...body }) => [path, body])).toEqual([
    ['/sandbox', expect.objectContaining({ type: 'email.opened', livemode: false })],
    ['/sandbox', expect.objectContaining({ type: 'email.unsubscribed', livemode: false, timestamp: then })],
  ]);
  // It is an event of the sandbox too, and the last one: she gets no further emails.
  await sandbox.post('events', {
    external_user_id: 'ada',
    name: 'trial_started',
    properties: { trialDays: 5 },
  });
  expect(await sandbox.advance('5d')).toMatchObject({ emails: 0 });
  const events = await db.query<{ name: string; at: Date }>(
    `SELECT name, occurred_at AS at FROM beckon.event WHERE project_id = $1 AND name LIKE 'email.%' ORDER BY 2`,
    [sandbox.id],
  );
  expect(events.map((row) => row.name)).toEqual(['email.unsubscribed']);
  expect(events[0]?.at.toISOString()).toBe(then);
});

test('erases a user from a sandbox, and later timers find no user', async () => {
  const live = await newCaller(server, EVENTS);
  const sandbox = await testSandbox(server, live.id);
  await signUp(sandbox, 'ada');
  await signUp(sandbox, 'eve');
  await sandbox.advance('1d');
  await erasePerson({ db, newId, hasher: testHasher }, { projectId: sandbox.id, userId: 'ada' });
  expect(await sandbox.advance('30d')).toMatchObject({ drafts: 1, emails: 1 });
  expect((await sandbox.emails()).map(({ user }) => user)).toEqual(['eve', 'eve']);
});

async function emailNameOf(
  { id: projectId }: TestSandbox,
  rule: string,
): Promise<{ projectId: number; emailId: string }> {
  const [row] = await db.query<{ id: string }>(
    `SELECT m.id FROM beckon.email m JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id
     WHERE m.project_id = $1 AND r.name = $2`,
    [projectId, rule],
  );
  if (!row) throw new Error(`no email of ${rule} was sent`);
  return { projectId, emailId: row.id };
}

async function hitsOf(projectId: number): Promise<number> {
  const rows = await db.query(`SELECT 1 FROM beckon.hit WHERE project_id = $1`, [projectId]);
  return rows.length;
}
