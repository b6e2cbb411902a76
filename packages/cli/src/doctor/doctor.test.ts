import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { testShell } from '../../testkit/shell.ts';
import type { Check } from './checks.ts';

/** The answers of a server by path; any other path is not found. */
type Says = Record<string, { status: number; body: unknown }>;

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const data = (value: unknown) => ({ status: 200, body: { data: value } });
const refused = (status: number, code: string) => ({ status, body: { errors: [{ code, message: code }] } });

const HEALTHY: Says = {
  '/livez': data({ status: 'live' }),
  '/readyz': data({ status: 'ready' }),
  '/version': data({ version: '0.1.7', node: 'v26' }),
  '/api/v1/events': refused(422, 'validation_failed'),
  '/api/dashboard/token': data({
    label: 'laptop',
    scopes: ['read'],
    expires_at: '2026-02-01T00:00:00Z',
    member: { name: 'Ada', email: 'ada@x.org' },
    projects: [{ id: 1, name: 'Acme' }],
  }),
  '/api/dashboard/projects/1/home': data({
    health: {
      queue: { waiting: 3, waiting_max: 50_000, oldest_ms: 0 },
      sender: { test_inbox: false, problem: null },
      domain: { name: 'mail.acme.example', state: 'verified', paused: null },
    },
  }),
};

const NOW = Date.parse('2026-01-01T12:00:00Z');
const shell = testShell({
  BECKON_API_KEY: `sk_live_${'a'.repeat(40)}`,
  BECKON_TOKEN: `bkp_${'a'.repeat(40)}`,
});

/** Returns the failed checks by name. */
async function examine(
  says: Says,
  now = NOW,
): Promise<{ code: number | null; ill: Record<string, string>; all: string[] }> {
  server = createServer((request, response) => {
    const reply = says[request.url ?? ''] ?? refused(404, 'not_found');
    response.writeHead(reply.status, {
      'content-type': 'application/json',
      date: new Date(NOW).toUTCString(),
    });
    response.end(JSON.stringify(reply.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, lines } = await shell.run(['doctor', '--json', '--url', url], { now });
  const { checks } = lines[0] as { checks: Check[] };
  const ill = checks
    .filter(({ status }) => status !== 'ok')
    .map(({ name, status, message, todo }) => [name, `${status}: ${message} → ${todo ?? ''}`]);
  server.closeAllConnections();
  server.close();
  return {
    code,
    ill: Object.fromEntries(ill) as Record<string, string>,
    all: checks.map(({ name }) => name),
  };
}

test('doctor › reports every check as ok on a healthy server', async () => {
  expect(await examine(HEALTHY)).toEqual({
    code: 0,
    ill: {},
    all: ['server', 'tls', 'clock', 'version', 'ready', 'key', 'token', 'queue', 'sender', 'domain'],
  });
});

test('doctor › reports each problem with its next step and exit code', async () => {
  const cases: [Says, number, Record<string, RegExp>][] = [
    [{ '/livez': refused(404, 'not_found') }, 1, { server: /answered 404 → Check the address/ }],
    [{ '/readyz': refused(503, 'the database is away') }, 1, { ready: /error: the database is away/ }],
    [
      { '/version': data({ version: '0.3.0' }) },
      0,
      { version: /warning: The server is 0.3.0, this is 0.1.0/ },
    ],
    [{ '/api/v1/events': refused(401, 'auth_required') }, 3, { key: /Unknown API key → Create one/ }],
    [{ '/api/v1/events': refused(429, 'rate_limited') }, 0, { key: /warning: Not checked: too many/ }],
    [{ '/api/dashboard/token': refused(401, 'session_required') }, 0, { token: /skipped/ }],
    [{ '/api/dashboard/token': refused(500, 'server_error') }, 3, { token: /error: server_error/ }],
    [
      { '/api/dashboard/projects/1/home': refused(403, 'role_required') },
      0,
      { project: /skipped: role_required/ },
    ],
  ];
  for (const [says, code, ill] of cases) {
    const found = await examine({ ...HEALTHY, ...says });
    expect([found.code, Object.keys(found.ill)]).toEqual([code, Object.keys(ill)]);
    for (const [name, words] of Object.entries(ill)) expect(found.ill[name]).toMatch(words);
  }
});

test('doctor › warns about a wrong clock, and fails when signatures would be rejected', async () => {
  expect((await examine(HEALTHY, NOW + 4_000)).ill).toEqual({});
  expect((await examine(HEALTHY, NOW - 20_000)).ill['clock']).toMatch(/^warning: .* by 20\.0 s/);
  const far = await examine(HEALTHY, NOW + 3_600_000);
  expect([far.code, far.ill['clock']]).toEqual([
    1,
    expect.stringContaining('Webhook signatures are rejected'),
  ]);
});
