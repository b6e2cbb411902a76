import type { Attack, Finding, Target } from './attack.ts';
import { bodyFor, dashboardRoutes, ENDLESS, liftLimits, newToken, publicRoutes, RESERVED } from './routes.ts';
import { runTests } from './run-tests.ts';
import { dataOf, JSON_BODY, type Reply, type SendOptions, type Victim } from './victim.ts';

type Keys = {
  ownKey: string;
  other: string;
  revoked: string;
  suspended: string;
  token: string;
  cookie: string;
};
type Credentials = {
  name: string;
  headers?: Record<string, string | string[]>;
  query?: string;
  inBody?: object;
};

const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });

/** Returns invalid API keys in every way in which a request can carry one. All of them get the same 401. */
function invalidCredentials({ ownKey, revoked, token, cookie }: Keys): Credentials[] {
  const [begin, end] = [ownKey.slice(0, -1), ownKey.at(-1) === 'x' ? 'y' : 'x'];
  const inQuery = ['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'Authorization'];
  return [
    { name: 'no key' },
    { name: 'a revoked key', headers: bearer(revoked) },
    { name: 'a key of the other environment', headers: bearer(ownKey.replace('sk_live_', 'sk_test_')) },
    { name: 'another last character', headers: bearer(begin + end) },
    { name: 'another first character', headers: bearer(ownKey.replace(/^sk_live_./, 'sk_live_-')) },
    { name: 'one character too short', headers: bearer(begin) },
    { name: 'one character too long', headers: bearer(`${ownKey}x`) },
    { name: 'in upper case', headers: bearer(ownKey.toUpperCase()) },
    { name: 'without its prefix', headers: bearer(ownKey.replace('sk_live_', '')) },
    { name: 'only its prefix', headers: bearer('sk_live_') },
    { name: 'its masked form', headers: bearer(`sk_live_…${ownKey.slice(-4)}`.replace('…', '...')) },
    { name: 'the text null', headers: bearer('null') },
    { name: 'an empty key', headers: { authorization: 'Bearer ' } },
    { name: 'two spaces', headers: { authorization: `Bearer  ${ownKey}` } },
    { name: 'a tab', headers: { authorization: `Bearer\t${ownKey}` } },
    { name: 'no space', headers: { authorization: `Bearer${ownKey}` } },
    { name: 'no scheme', headers: { authorization: ownKey } },
    { name: 'another scheme', headers: { authorization: `Token ${ownKey}` } },
    { name: 'Basic, as user', headers: { authorization: `Basic ${btoa(`${ownKey}:`)}` } },
    { name: 'Basic, as password', headers: { authorization: `Basic ${btoa(`:${ownKey}`)}` } },
    { name: 'two headers', headers: { authorization: [`Bearer ${ownKey}`, `Bearer ${ownKey}`] } },
    { name: 'two in one header', headers: bearer(`${ownKey}, ${ownKey}`) },
    { name: 'quoted', headers: bearer(`"${ownKey}"`) },
    { name: 'a pattern', headers: bearer('%') },
    { name: 'SQL', headers: bearer("' OR 1=1 --") },
    { name: 'in X-API-Key', headers: { 'x-api-key': ownKey } },
    { name: 'in X-Authorization', headers: { 'x-authorization': `Bearer ${ownKey}` } },
    { name: 'in Proxy-Authorization', headers: { 'proxy-authorization': `Bearer ${ownKey}` } },
    { name: 'in X-Original headers', headers: { 'x-original-authorization': `Bearer ${ownKey}` } },
    { name: 'as a cookie', headers: { cookie: `api_key=${ownKey}; authorization=Bearer ${ownKey}` } },
    { name: "the owner's session", headers: { cookie, origin: 'http://localhost' } },
    { name: 'a personal token', headers: bearer(token) },
    { name: 'in the body', inBody: { api_key: ownKey, authorization: `Bearer ${ownKey}` } },
    ...inQuery.map((name) => ({ name: `in the query as ${name}`, query: `?${name}=${ownKey}` })),
    { name: 'in the query, with a wrong header', query: `?api_key=${ownKey}`, headers: bearer('sk_live_x') },
  ];
}

export const s01: Attack = {
  id: 'S1',
  title: 'authorization: every route, with every kind of invalid credentials',
  passLine:
    '401 with the same text each time, 403 if suspended; the key of another project reaches only that project',
  quick: true,
  async run(target) {
    const victim = await target.sharedVictim();
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
  const ownKey = await victim.newKey(victim.projectId, 'mine');
  const other = await victim.newKey(await victim.newProject('Other'), 'other');
  const revoked = await victim.newKey(victim.projectId, 'gone');
  await dataOf(
    victim.owner(`POST /projects/${victim.projectId}/keys/${revoked.id}/revoke`, { label: 'gone' }),
  );
  const asleep = await victim.newProject('Asleep');
  const suspended = await victim.newKey(asleep, 'asleep');
  await victim.product('projects', 'suspend', '--project', String(asleep), '--yes');
  await liftLimits(victim);
  const token = await newToken(victim);
  return {
    ownKey: ownKey.secret,
    other: other.secret,
    revoked: revoked.secret,
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
    for (const credentials of invalidCredentials(keys)) {
      const body = method === 'POST' ? { ...bodyFor(path, 'stranger'), ...credentials.inBody } : undefined;
      const reply = await sendWithRetry(
        victim,
        `${method} ${path}${credentials.query ?? ''}`,
        optionsOf(credentials, body),
      );
      target.count('requests with invalid keys');
      if (reply.status === 401) texts.add(reply.text);
      if (reply.status !== 401 || reply.headers['www-authenticate'] !== 'Bearer')
        findings.push({
          severity: 'high',
          title: `${method} ${path} with ${credentials.name}: ${reply.status}`,
          evidence: reply.text,
        });
    }
  if (texts.size > 1)
    findings.push({
      severity: 'low',
      title: 'the causes of a 401 are distinguishable',
      evidence: [...texts].join(' | '),
    });
  for (const { method, path } of routes) {
    const sendEvent = (headers: Record<string, string>, user: string): Promise<Reply> =>
      sendWithRetry(victim, `${method} ${path}`, optionsOf({ name: '', headers }, bodyFor(path, user)));
    const expected: [string, Record<string, string>, string, number[]][] = [
      ['a suspended key', bearer(keys.suspended), 'asleep', [403]],
      ['a lowercase scheme', { authorization: `bearer ${keys.ownKey}` }, 'mine', [200, 202]],
      ['another project’s key', bearer(keys.other), 'others', [200, 202]],
    ];
    for (const [name, headers, user, statuses] of expected) {
      const { status, text } = await sendEvent(headers, user);
      target.count('requests with other keys');
      if (!statuses.includes(status))
        findings.push({
          severity: 'high',
          title: `${method} ${path} with ${name}: ${status}`,
          evidence: text,
        });
    }
  }
  return [...findings, ...(await checkRecords(victim))];
}

/** Checks that records of strangers are stored nowhere, and that records of the other project are stored in that project alone. */
async function checkRecords(victim: Victim): Promise<Finding[]> {
  return victim.database(async (db) => {
    const waiting = async (): Promise<number> =>
      Number((await db.query('SELECT count(*) AS n FROM ingest_queue')).rows[0].n);
    for (let polls = 0; polls < 600 && (await waiting()) > 0; polls += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    const { rows } = await db.query<{ project_id: string; external_user_id: string }>(
      'SELECT project_id, external_user_id FROM person',
    );
    const ownProject = String(victim.projectId);
    const misplaced = rows.filter(
      ({ project_id, external_user_id: user }) =>
        ['stranger', 'asleep'].includes(user) ||
        (user === 'others' && String(project_id) === ownProject) ||
        (user === 'mine' && String(project_id) !== ownProject),
    );
    const isStored = ['mine', 'others'].every((user) => rows.some((row) => row.external_user_id === user));
    return [
      ...misplaced.map((row): Finding => ({
        severity: 'high',
        title: 'a record was stored in a project that no caller may write to',
        evidence: JSON.stringify(row),
      })),
      ...(isStored ? [] : [{ severity: 'high' as const, title: 'records sent with valid keys are missing' }]),
    ];
  });
}

/** Checks that an API key opens no route of the dashboard, in whichever way the request carries it. */
async function attackDashboard(target: Target, victim: Victim, keys: Keys): Promise<Finding[]> {
  const findings: Finding[] = [];
  const allCredentials: Credentials[] = [
    { name: 'nothing' },
    { name: 'a key', headers: bearer(keys.ownKey) },
    { name: 'a key in the query', query: `?api_key=${keys.ownKey}` },
    { name: 'a key as the session', headers: { cookie: `beckon_session=${keys.ownKey}` } },
    { name: 'a session that is one character too short', headers: { cookie: keys.cookie.slice(0, -1) } },
    {
      name: 'a session under another name',
      headers: { cookie: keys.cookie.replace('beckon_session', 'session') },
    },
    { name: 'a session as a bearer', headers: bearer(keys.cookie.split('=')[1] ?? '') },
    { name: 'a token that is one character too short', headers: bearer(keys.token.slice(0, -1)) },
  ];
  for (const { key, needs } of dashboardRoutes) {
    if (needs === 'anyone') continue;
    const [method = '', path = ''] = key.split(' ');
    const filled = path.replace(':project', String(victim.projectId)).replaceAll(/:\w+/g, 'nothing');
    for (const credentials of allCredentials) {
      const requestLine = `${method} /api/dashboard${filled}${credentials.query ?? ''}`;
      const options = optionsOf(
        { ...credentials, headers: { origin: victim.url, ...credentials.headers } },
        method === 'GET' ? undefined : {},
      );
      const { status, text } = await sendWithRetry(victim, requestLine, options);
      target.count('dashboard requests without a valid session');
      if (status !== 401 && !ENDLESS.has(key))
        findings.push({
          severity: 'high',
          title: `${key} with ${credentials.name}: ${status}`,
          evidence: text,
        });
    }
  }
  return findings;
}

function optionsOf({ headers = {} }: Credentials, body: object | undefined): SendOptions {
  return body === undefined
    ? { headers }
    : { headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) };
}

const RETRIES_MAX = 30;

/** Waits and retries when rate limited. Attempts with many keys are limited, but the limit is not the subject of this attack. */
async function sendWithRetry(victim: Victim, requestLine: string, options: SendOptions): Promise<Reply> {
  for (let retries = 0; ; retries += 1) {
    const reply = await victim.send(requestLine, options);
    if (reply.status !== 429 || retries >= RETRIES_MAX) return reply;
    const seconds = Number(reply.headers['retry-after']);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}
