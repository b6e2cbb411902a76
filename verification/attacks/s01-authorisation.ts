import type { Attack, Finding, Target } from './attack.ts';
import { bodyFor, dashboardRoutes, ENDLESS, liftLimits, newToken, publicRoutes, RESERVED } from './routes.ts';
import { runTests } from './run-tests.ts';
import { good, JSON_BODY, type Reply, type Sending, type Victim } from './victim.ts';

type Keys = {
  mine: string;
  other: string;
  revoked: string;
  suspended: string;
  token: string;
  cookie: string;
};
type Sent = { name: string; headers?: Record<string, string | string[]>; query?: string; inBody?: object };

const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });

/** Returns invalid API keys in every way in which a request can carry one. All of them get the same 401. */
function refused({ mine, revoked, token, cookie }: Keys): Sent[] {
  const [begin, end] = [mine.slice(0, -1), mine.at(-1) === 'x' ? 'y' : 'x'];
  const inQuery = ['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'Authorization'];
  return [
    { name: 'no key' },
    { name: 'a revoked key', headers: bearer(revoked) },
    { name: 'a key of the other environment', headers: bearer(mine.replace('sk_live_', 'sk_test_')) },
    { name: 'another last sign', headers: bearer(begin + end) },
    { name: 'another first sign', headers: bearer(mine.replace(/^sk_live_./, 'sk_live_-')) },
    { name: 'cut by a sign', headers: bearer(begin) },
    { name: 'with a sign more', headers: bearer(`${mine}x`) },
    { name: 'in capitals', headers: bearer(mine.toUpperCase()) },
    { name: 'without its prefix', headers: bearer(mine.replace('sk_live_', '')) },
    { name: 'its prefix alone', headers: bearer('sk_live_') },
    { name: 'what is shown of it', headers: bearer(`sk_live_…${mine.slice(-4)}`.replace('…', '...')) },
    { name: 'a name of nothing', headers: bearer('null') },
    { name: 'an empty one', headers: { authorization: 'Bearer ' } },
    { name: 'two spaces', headers: { authorization: `Bearer  ${mine}` } },
    { name: 'a tab', headers: { authorization: `Bearer\t${mine}` } },
    { name: 'no space', headers: { authorization: `Bearer${mine}` } },
    { name: 'no scheme', headers: { authorization: mine } },
    { name: 'another scheme', headers: { authorization: `Token ${mine}` } },
    { name: 'Basic, as user', headers: { authorization: `Basic ${btoa(`${mine}:`)}` } },
    { name: 'Basic, as password', headers: { authorization: `Basic ${btoa(`:${mine}`)}` } },
    { name: 'two headers', headers: { authorization: [`Bearer ${mine}`, `Bearer ${mine}`] } },
    { name: 'two in one header', headers: bearer(`${mine}, ${mine}`) },
    { name: 'quoted', headers: bearer(`"${mine}"`) },
    { name: 'a pattern', headers: bearer('%') },
    { name: 'SQL', headers: bearer("' OR 1=1 --") },
    { name: 'in X-API-Key', headers: { 'x-api-key': mine } },
    { name: 'in X-Authorization', headers: { 'x-authorization': `Bearer ${mine}` } },
    { name: 'in Proxy-Authorization', headers: { 'proxy-authorization': `Bearer ${mine}` } },
    { name: 'in X-Original headers', headers: { 'x-original-authorization': `Bearer ${mine}` } },
    { name: 'as a cookie', headers: { cookie: `api_key=${mine}; authorization=Bearer ${mine}` } },
    { name: "the owner's session", headers: { cookie, origin: 'http://localhost' } },
    { name: 'a personal token', headers: bearer(token) },
    { name: 'in the body', inBody: { api_key: mine, authorization: `Bearer ${mine}` } },
    ...inQuery.map((name) => ({ name: `in the query as ${name}`, query: `?${name}=${mine}` })),
    { name: 'in the query, with a wrong header', query: `?api_key=${mine}`, headers: bearer('sk_live_x') },
  ];
}

export const s01: Attack = {
  id: 'S1',
  title: 'authorisation: every route, with everything that is no right to it',
  passLine:
    '401 with one and the same text, 403 where suspended; another project’s key reaches its own alone',
  quick: true,
  async run(target) {
    const victim = await target.shared();
    const keys = await makeKeys(victim);
    return [
      ...(await attackPublic(target, victim, keys)),
      ...(await attackDashboard(target, victim, keys)),
      ...(await runTests(target, [
        'packages/server/src/modules/workspace/dashboard-api/access.test.ts',
        'packages/server/src/modules/workspace/dashboard-api/mount.test.ts',
        'packages/server/src/modules/ingest/api/dashboard-only.test.ts',
        'packages/server/src/modules/ingest/keys/keyring.test.ts',
      ])),
    ];
  },
};

async function makeKeys(victim: Victim): Promise<Keys> {
  const mine = await victim.newKey(victim.projectId, 'mine');
  const other = await victim.newKey(await victim.newProject('Other'), 'other');
  const gone = await victim.newKey(victim.projectId, 'gone');
  await good(victim.owner(`POST /projects/${victim.projectId}/keys/${gone.id}/revoke`, { label: 'gone' }));
  const asleep = await victim.newProject('Asleep');
  const suspended = await victim.newKey(asleep, 'asleep');
  await victim.product('projects', 'suspend', '--project', String(asleep), '--yes');
  await liftLimits(victim);
  const token = await newToken(victim);
  return {
    mine: mine.secret,
    other: other.secret,
    revoked: gone.secret,
    suspended: suspended.secret,
    token,
    cookie: victim.cookie,
  };
}

async function attackPublic(target: Target, victim: Victim, keys: Keys): Promise<Finding[]> {
  const findings: Finding[] = [];
  const routes = (await publicRoutes(victim)).filter(({ path }) => path.startsWith('/api/'));
  const all = [
    ...routes,
    ...RESERVED.flatMap((path) => ['GET', 'POST', 'DELETE'].map((method) => ({ method, path }))),
  ];
  const texts = new Set<string>();
  for (const { method, path } of all)
    for (const sent of refused(keys)) {
      const body = method === 'POST' ? { ...bodyFor(path, 'stranger'), ...sent.inBody } : undefined;
      const reply = await patiently(victim, `${method} ${path}${sent.query ?? ''}`, sendingOf(sent, body));
      target.count('requests with what is no key');
      if (reply.status === 401) texts.add(reply.text);
      if (reply.status !== 401 || reply.headers['www-authenticate'] !== 'Bearer')
        findings.push({
          severity: 'high',
          what: `${method} ${path} with ${sent.name}: ${reply.status}`,
          evidence: reply.text,
        });
    }
  if (texts.size > 1)
    findings.push({
      severity: 'low',
      what: 'the causes of a 401 can be told apart',
      evidence: [...texts].join(' | '),
    });
  for (const { method, path } of routes) {
    const asked = (headers: Record<string, string>, user: string): Promise<Reply> =>
      patiently(victim, `${method} ${path}`, sendingOf({ name: '', headers }, bodyFor(path, user)));
    const expected: [string, Record<string, string>, string, number[]][] = [
      ['a suspended key', bearer(keys.suspended), 'asleep', [403]],
      ['a lowercase scheme', { authorization: `bearer ${keys.mine}` }, 'mine', [200, 202]],
      ['another project’s key', bearer(keys.other), 'others', [200, 202]],
    ];
    for (const [name, headers, user, statuses] of expected) {
      const { status, text } = await asked(headers, user);
      target.count('requests with a key of somebody');
      if (!statuses.includes(status))
        findings.push({
          severity: 'high',
          what: `${method} ${path} with ${name}: ${status}`,
          evidence: text,
        });
    }
  }
  return [...findings, ...(await landed(victim))];
}

/** Checks that records of strangers are stored nowhere, and that records of the other project are stored in that project alone. */
async function landed(victim: Victim): Promise<Finding[]> {
  return victim.database(async (db) => {
    const waiting = async (): Promise<number> =>
      Number((await db.query('SELECT count(*) AS n FROM ingest_queue')).rows[0].n);
    for (let looks = 0; looks < 600 && (await waiting()) > 0; looks += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    const { rows } = await db.query<{ project_id: string; external_user_id: string }>(
      'SELECT project_id, external_user_id FROM person',
    );
    const mine = String(victim.projectId);
    const wrong = rows.filter(
      ({ project_id, external_user_id: user }) =>
        ['stranger', 'asleep'].includes(user) ||
        (user === 'others' && String(project_id) === mine) ||
        (user === 'mine' && String(project_id) !== mine),
    );
    const isThere = ['mine', 'others'].every((user) => rows.some((row) => row.external_user_id === user));
    return [
      ...wrong.map((row): Finding => ({
        severity: 'high',
        what: 'a record was stored in a project that no caller may write to',
        evidence: JSON.stringify(row),
      })),
      ...(isThere ? [] : [{ severity: 'high' as const, what: 'what good keys wrote is not there' }]),
    ];
  });
}

/** Checks that an API key opens no route of the dashboard, in whichever way the request carries it. */
async function attackDashboard(target: Target, victim: Victim, keys: Keys): Promise<Finding[]> {
  const findings: Finding[] = [];
  const ways: Sent[] = [
    { name: 'nothing' },
    { name: 'a key', headers: bearer(keys.mine) },
    { name: 'a key in the query', query: `?api_key=${keys.mine}` },
    { name: 'a key as the session', headers: { cookie: `beckon_session=${keys.mine}` } },
    { name: 'a session cut by a sign', headers: { cookie: keys.cookie.slice(0, -1) } },
    {
      name: 'a session under another name',
      headers: { cookie: keys.cookie.replace('beckon_session', 'session') },
    },
    { name: 'a session as a bearer', headers: bearer(keys.cookie.split('=')[1] ?? '') },
    { name: 'a token cut by a sign', headers: bearer(keys.token.slice(0, -1)) },
  ];
  for (const { key, needs } of dashboardRoutes) {
    if (needs === 'anyone') continue;
    const [method = '', path = ''] = key.split(' ');
    const filled = path.replace(':project', String(victim.projectId)).replaceAll(/:\w+/g, 'nothing');
    for (const way of ways) {
      const what = `${method} /api/dashboard${filled}${way.query ?? ''}`;
      const sent = sendingOf(
        { ...way, headers: { origin: victim.url, ...way.headers } },
        method === 'GET' ? undefined : {},
      );
      const { status, text } = await patiently(victim, what, sent);
      target.count('requests for the dashboard with what is no session');
      if (status !== 401 && !ENDLESS.has(key))
        findings.push({ severity: 'high', what: `${key} with ${way.name}: ${status}`, evidence: text });
    }
  }
  return findings;
}

function sendingOf({ headers = {} }: Sent, body: object | undefined): Sending {
  return body === undefined
    ? { headers }
    : { headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) };
}

const WAITS_MAX = 30;

/** Waits and retries when rate limited. Attempts with many keys are limited, but the limit is not the subject of this attack. */
async function patiently(victim: Victim, what: string, sending: Sending): Promise<Reply> {
  for (let waits = 0; ; waits += 1) {
    const reply = await victim.send(what, sending);
    if (reply.status !== 429 || waits >= WAITS_MAX) return reply;
    const seconds = Number(reply.headers['retry-after']);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}
