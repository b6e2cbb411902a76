import { expect, test } from 'vitest';
import {
  emailsRule,
  newOutcomeScenario,
  OPENED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { goodEmail } from '../../../../testing/factories/outgoing-email.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { testTeam } from '../../../../testing/factories/team.ts';
import { idMaker } from '../../../platform/ids.ts';
import { insertReply } from '../../inbound/replies/store.ts';
import { keepMail } from '../../review/test-inbox/keep-mail.ts';
import { DASHBOARD_ROUTES } from '../../../main/dashboard-routes.ts';

const stage = await openStage();
const { db } = stage.server;
const newId = idMaker(db.clock);
stage.engine.transport.setResult({ result: 'sent' });
const [scenario, theirs] = [await newOutcomeScenario(stage), await newOutcomeScenario(stage)];
await scenario.rule(emailsRule());
await sendTo(scenario, ['ada']);
await scenario.recordOutcome('ada', OPENED);
await scenario.rule({
  name: 'greeter',
  when: { event: 'hello' },
  mode: 'draft',
  deadline: '8h',
  steps: [{ draft: { subject: 'Hello', body: 'You' } }],
});
await scenario.event('ada', 'hello');
await scenario.later(5_000);
const { ada } = await testTeam(stage.server).setUp();

type Made = { id: string };
async function post(path: string, body: object): Promise<string> {
  const { status, text, json } = await ada.request(`POST /projects/${scenario.projectId}${path}`, body);
  if (status !== 200) throw new Error(`${path}: ${text}`);
  return (json.data as Made).id;
}
async function first(path: string, at: 'id' | 'place' = 'id'): Promise<string> {
  const { json } = await ada.request(`GET /projects/${scenario.projectId}${path}`);
  return (json.data as Record<string, string>[])[0]?.[at] ?? 'none';
}

/** The data of one project, under the parameter names of the paths. */
const key = await post('/keys', { label: 'one' });
const endpoint = await post('/webhooks', { url: 'https://hooks.acme.test/in' });
const audience = await post('/audiences', { name: 'Trials', definition: { trait: 'plan', equals: 'trial' } });
const view = await post('/views', { screen: 'users', name: 'Mine', filter: 'plan:trial' });
const reply = newId();
const email = await first('/emails');
await keepMail(db, {
  projectId: scenario.projectId,
  id: email,
  draftId: newId(),
  userId: 'ada',
  mailFrom: 'b+t@acme.test',
  rcptTo: 'ada@x.test',
  at: scenario.now(),
  raw: await goodEmail({ date: new Date(scenario.now()) }),
});
await insertReply(db, {
  projectId: scenario.projectId,
  id: reply,
  emailId: email,
  draftId: newId(),
  userId: 'ada',
  inboundId: newId(),
  kind: 'reply',
  verified: 'recipient',
  receivedAt: scenario.now(),
  fromAddress: 'ada@home.test',
  fromName: 'Ada',
  subject: 'Re: Welcome',
  text: 'Thanks!',
  raw: Buffer.from('x'),
  forwardAt: scenario.now(),
});
const rows = await db.query<{ id: string }>(
  `SELECT id FROM beckon.draft WHERE project_id = $1 ORDER BY id DESC LIMIT 1`,
  [scenario.projectId],
);
const rules = await db.query<{ id: string }>(`SELECT id FROM beckon.rule WHERE project_id = $1 ORDER BY id`, [
  scenario.projectId,
]);
const ids: Record<string, string> = {
  draft: rows[0]?.id ?? '',
  email,
  reply,
  key,
  endpoint,
  audience,
  view,
  rule: rules.at(-1)?.id ?? '',
  user: 'ada',
  place: encodeURIComponent(await first('/stream', 'place')),
  message: newId(),
};

/** Tables that the server writes after it answered the public API, at some later time. */
const BEHIND = new Set(['ingest_log', 'ingest_warning', 'api_key_use', 'api_key_traffic', 'rate_limit']);

/** Returns all data of a project, or of the whole database. */
async function standOf(projectId: number | null): Promise<Record<string, string>> {
  const tables = await db.query<{ name: string; tenant: boolean }>(
    `SELECT c.relname AS name, EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'project_id') AS tenant
     FROM pg_class c WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind = 'r'`,
  );
  const stand: Record<string, string> = {};
  for (const { name, tenant } of tables) {
    if (BEHIND.has(name) || (projectId !== null && !tenant)) continue;
    const where = projectId === null ? '' : `WHERE project_id = ${projectId}`;
    const [row] = await db.query<{ sum: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS sum FROM beckon."${name}" t ${where}`,
    );
    stand[name] = row?.sum ?? '';
  }
  return stand;
}

const fill = (path: string, projectId: number): string =>
  path.replace(':project', String(projectId)).replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? name);

const QUERIES: Record<string, string> = {
  'GET /projects/:project/users/:user/at': '?at=2020-01-01T10:00:00Z',
  'GET /projects/:project/views': '?screen=users',
  'GET /projects/:project/search': '?text=ada',
  'GET /projects/:project/filter-values': '?of=rule',
  'GET /projects/:project/suppressions/check': '?email=ada@x.org',
  'GET /projects/:project/audiences/:audience/test': '?user=ada',
  'GET /projects/:project/policy/simulate': '?quiet_hours=off',
};
/** These responses do not end. */
const STREAMS = new Set(['GET /projects/:project/feed', 'GET /projects/:project/listen']);
const reads = DASHBOARD_ROUTES.filter(
  ({ key: routeKey }) => routeKey.startsWith('GET ') && !STREAMS.has(routeKey),
);

/** Paths to data that this project does not have. */
const NOT_HERE =
  /^GET (?:.links$|.token$|.device.:code$|.projects.:project.(?:domains.:domain|events.:event|templates.:template|imports.:import|relays.:relay|webhook-deliveries.:message))/;

/** Exports are audited, and attempts at a code are counted. */
const NOTED = { audit: '', team_attempt: '' };

test('no read changes anything', async () => {
  const before = { ...(await standOf(null)), ...NOTED };
  const statuses = new Map<string, number>();
  for (const { key: routeKey } of reads) {
    const { status } = await ada.request(`${fill(routeKey, scenario.projectId)}${QUERIES[routeKey] ?? ''}`);
    statuses.set(routeKey, status);
  }
  expect({ ...(await standOf(null)), ...NOTED }).toEqual(before);
  const missed = [...statuses].filter(([, status]) => status !== 200).map(([routeKey]) => routeKey);
  expect(missed).toEqual(
    reads.map(({ key: routeKey }) => routeKey).filter((routeKey) => NOT_HERE.test(routeKey)),
  );
});

/** Bodies with which the owner of the data would have changed it. */
const later = new Date(scenario.now() + 86_400_000).toISOString();
const BODIES: Record<string, object> = {
  'POST /projects/:project/drafts/:draft/postpone': { until: later },
  'POST /projects/:project/drafts/:draft/edit': { subject: 'Theirs' },
  'POST /projects/:project/drafts/:draft/send-again': { confirm: 'ada' },
  'POST /projects/:project/rules/:rule/mode': { mode: 'draft' },
  'POST /projects/:project/rules/:rule/reorder': { before: null },
  'POST /projects/:project/rules/:rule/switch': { on: false, confirmed: true },
  'PUT /projects/:project/rules/:rule': {
    document: emailsRule(),
    updated_at: '2026-11-22T10:00:00.000Z',
  },
  'POST /projects/:project/keys/:key/revoke': { label: 'one' },
  'PATCH /projects/:project/webhooks/:endpoint': { description: 'Theirs' },
  'DELETE /projects/:project/webhooks/:endpoint': { url: 'https://hooks.acme.test/in' },
  'PATCH /projects/:project/audiences/:audience': { name: 'Theirs' },
  'DELETE /projects/:project/audiences/:audience': { confirm: 'Trials' },
  'PATCH /projects/:project/views/:view': { name: 'Theirs' },
  'POST /projects/:project/users/:user/erase': { confirm: 'ada' },
};
/** This parameter is an endpoint of the public API, which all projects have. */
const NOT_OWN = 'PATCH /projects/:project/rate-limits/:endpoint';
const NAMED = Object.keys(ids);

test("returns 404 for one project's data in another of the same owner, and leaves it unchanged", async () => {
  const before = await standOf(scenario.projectId);
  const found: string[] = [];
  for (const { key: routeKey } of DASHBOARD_ROUTES) {
    const named = [...routeKey.replace(':project', '').matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
    if (
      !routeKey.includes(':project') ||
      named.length === 0 ||
      routeKey === NOT_OWN ||
      !named.every((name) => NAMED.includes(name))
    )
      continue;
    const body = routeKey.startsWith('GET ') ? undefined : (BODIES[routeKey] ?? {});
    const { status, text } = await ada.request(
      `${fill(routeKey, theirs.projectId)}${QUERIES[routeKey] ?? ''}`,
      body,
    );
    if (status !== 404) found.push(`${routeKey}: ${status} ${text.slice(0, 100)}`);
  }
  expect(found).toEqual([]);
  expect(await standOf(scenario.projectId)).toEqual(before);
});

test("refuses one project's data in the requests of another", async () => {
  const before = await standOf(scenario.projectId);
  const request = (what: string, body?: object) => {
    const [method = '', path = ''] = what.split(' ');
    return ada.request(`${method} /projects/${theirs.projectId}${path}`, body);
  };
  for (const act of [{ kind: 'approve' }, { kind: 'skip' }, { kind: 'postpone', until: later }]) {
    expect((await request('POST /drafts/bulk', { action: act, ids: [ids['draft']] })).status).toBe(404);
    const preview = await request('POST /drafts/bulk/preview', { action: act, ids: [ids['draft']] });
    expect(preview.json.data).toMatchObject({ would_change: 0, users: 0 });
  }
  const replay = { endpoint: ids['endpoint'], since: '2026-01-01T00:00:00Z' };
  expect((await request('POST /webhook-replays', replay)).status).toBe(404);
  expect((await request('GET /webhook-deliveries?endpoint=' + ids['endpoint'])).status).toBe(404);
  const [mine] = (await request('GET /rules')).json.data as { id: string }[];
  expect((await request(`POST /rules/${mine?.id}/reorder`, { before: ids['rule'] })).status).toBe(404);
  const inside = { name: 'Spy', definition: { audience: ids['audience'] } };
  expect((await request('POST /audiences', inside)).status).toBe(422);
  expect((await request('GET /test-inbox?draft=' + ids['draft'])).json.data).toEqual([]);
  expect((await request('GET /stream')).text).not.toContain(ids['draft']);
  expect((await request('GET /suppressions/check?user=ada')).text).not.toContain('ada@x.org');
  expect(await standOf(scenario.projectId)).toEqual(before);
});

test('keeps nothing about an erased user after any action on their drafts, not even in the audit log', async () => {
  const of = `/projects/${theirs.projectId}`;
  await theirs.rule({
    name: 'greeter',
    when: { event: 'hello' },
    mode: 'draft',
    deadline: '8h',
    steps: [{ draft: { subject: 'Hello {{ user.name | default: "you" }}', body: 'You' } }],
  });
  const zoe = { email: 'zoe.zebra@x.org', traits: { name: 'Zoe Zebra' } };
  await theirs.user('zoe-zebra', zoe);
  await theirs.event('zoe-zebra', 'hello');
  await theirs.later(5_000);
  const [draft] = (await ada.request(`GET ${of}/drafts`)).json.data as { id: string }[];
  for (const [act, body] of [
    ['edit', { subject: 'Hello again, Zoe Zebra' }],
    ['postpone', { until: later }],
    ['undo', {}],
    ['skip', {}],
    ['undo', {}],
    ['approve', {}],
  ] as const)
    expect([act, (await ada.request(`POST ${of}/drafts/${draft?.id}/${act}`, body)).status]).toEqual([
      act,
      200,
    ]);
  await ada.request(`POST ${of}/users/suppress`, { users: ['zoe-zebra'] });
  expect((await findText(db, ['Zoe Zebra'])).length).toBeGreaterThan(0);
  expect((await ada.request(`POST ${of}/users/zoe-zebra/erase`, { confirm: 'zoe-zebra' })).status).toBe(200);
  expect(await findText(db, ['zoe-zebra', 'zoe.zebra', 'Zoe Zebra'])).toEqual([]);
});
