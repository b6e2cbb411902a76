import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { webhooks } from '@beckon/client';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { insertWebhooks } from '../../../server/src/modules/webhooks/deliveries/store.ts';
import { idMaker } from '../../../server/src/platform/ids.ts';

const world = await testWorld();
const newId = idMaker(world.server.db.clock);
const env = { BECKON_URL: world.url };

test('login › shows a code, polls at the interval of the server, and saves the token', async () => {
  const shell = testShell(env);
  const pauses: number[] = [];
  const going = shell.start(['login', '--label', 'Ada’s laptop'], {
    terminal: true,
    // The default scopes, then yes to the browser.
    answers: ['', true],
    wait: async (ms) => {
      pauses.push(ms);
      if (pauses.length === 2)
        await world.approve(/[A-Z]{4}-[A-Z]{4}/.exec(await going.waitFor('code'))?.[0] ?? '');
    },
  });
  const { code, out } = await going.ended;
  expect([code, pauses]).toEqual([0, [5_000, 5_000]]);
  expect(out).toContain('Ada’s laptop');
  expect(shell.opened).toEqual([expect.stringMatching(/^http:\/\/localhost:\d+\/device\?code=[A-Z-]{9}$/)]);
  const kept = await readFile(join(shell.folder, '.config/beckon/profiles.json'), 'utf8');
  const { token } = JSON.parse(kept).profiles.default as { token: string };
  expect(token).toMatch(/^bkp_/);
  expect(out).not.toContain(token);
  expect((await shell.run(['whoami', '--json'])).lines[0]).toMatchObject({
    label: 'Ada’s laptop',
    scopes: ['read', 'review', 'edit'],
  });
  // Logout revokes the token, so that a copy of it is useless.
  expect((await shell.run(['logout', '--json'])).lines).toEqual([{ profile: 'default', revoked: true }]);
  expect((await shell.run(['whoami', '--json'])).code).toBe(3);
  expect((await shell.run(['whoami', '--json'], { env: { BECKON_TOKEN: token } })).code).toBe(3);
  expect((await shell.run(['logout', '--json'])).code).toBe(1);
});

test('login › saves a token or key from stdin in the named profile', async () => {
  const shell = testShell();
  const token = await world.tokenFor(['read']);
  const made = await shell.run(['login', '--json', '--with-token', '--profile', 'work', '--url', world.url], {
    stdin: `${token}\n`,
  });
  expect([made.code, made.lines]).toMatchObject([0, [{ scopes: ['read'] }]]);
  const key = await shell.run(['login', '--with-key', '--profile', 'work'], { stdin: world.apiKey });
  expect(key.code).toBe(0);
  expect((await shell.run(['track', 'u', 'e'])).code).toBe(0);
  const wrong = await shell.run(['login', '--with-token'], { stdin: 'sk_live_nothing' });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('Invalid token')]);
  const unknown = await shell.run(['login', '--with-token'], { stdin: `bkp_${'x'.repeat(40)}` });
  expect(unknown.code).toBe(3);
  expect((await shell.run(['login', '--with-token', '--with-key'])).code).toBe(2);
  expect((await shell.run(['login', '--scopes', 'everything'])).code).toBe(2);
  expect((await shell.run(['login', '--url', 'http://127.0.0.1:9'])).code).toBe(1);
});

/** A local server that answers with these statuses in turn. */
async function receiver(statuses: number[]) {
  const got: { body: string; headers: Record<string, string | string[] | undefined> }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      got.push({ body, headers: request.headers });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => server.close());
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` };
}

async function happens(type: string, about: object): Promise<string> {
  const { db } = world.server;
  const id = newId();
  const at = new Date(db.clock.now()).toISOString();
  const body = JSON.stringify({ id: `msg_${id}`, type, timestamp: at, livemode: true, data: about });
  const row = { projectId: world.projectId, outcomeId: null, type, userId: 'u1', id, body };
  await insertWebhooks(db, [{ ...row, createdAt: db.clock.now() }]);
  return `msg_${id}`;
}

test('listen › forwards signed events unchanged, with a stable secret', async () => {
  const shell = testShell({ ...env, BECKON_TOKEN: await world.tokenFor(['read']) });
  const { got, url } = await receiver([503, 204, 400]);
  const secret = (await shell.run(['listen', '--print-secret'])).out.trim();
  const listen = shell.start(
    ['listen', '--forward-to', url, '--types', 'email.replied,email.bounced', '--json'],
    {
      wait: async () => {},
    },
  );
  expect(await listen.waitFor('Listening')).toContain(secret);
  const payload = { external_user_id: 'u1', snippet: 'é\u0000' };
  const first = await happens('email.replied', payload);
  await listen.waitFor(first);
  await happens('email.opened', {});
  const last = await happens('email.bounced', {});
  await listen.waitFor(last);
  listen.interrupt();
  const { code, lines } = await listen.ended;
  expect(code).toBe(0);
  expect(lines).toMatchObject([
    { id: first, type: 'email.replied', event: { data: payload }, forwarded: { status: 204, attempts: 2 } },
    // A rejected event is not retried.
    { id: last, forwarded: { status: 400, attempts: 1 } },
  ]);
  expect(got).toHaveLength(3);
  for (const { body, headers } of got) expect(webhooks.verify(body, headers, secret).livemode).toBe(true);
});

test('listen › reports an unreachable target, and shows events without one', async () => {
  const shell = testShell({ ...env, BECKON_TOKEN: await world.tokenFor(['read']) });
  const away = shell.start(['listen', '--forward-to', '127.0.0.1:9/hooks'], {
    terminal: true,
    wait: async () => {},
  });
  const onTerminal = shell.start(['listen'], { terminal: true });
  await Promise.all([away.waitFor('Listening'), onTerminal.waitFor('Listening')]);
  await happens('email.clicked', { url: 'https://x.example/\u001B[2J' });
  expect(await onTerminal.waitFor('email.clicked')).toContain('\\u001b[2J');
  expect(await away.waitFor('after 4 attempts')).toContain('email.clicked');
  for (const command of [away, onTerminal]) {
    command.interrupt();
    expect((await command.ended).code).toBe(0);
  }
  for (const wrong of [
    ['--types', 'email.lost'],
    ['--forward-to', 'http://ada:x@localhost'],
    ['--forward-to', 'http://'],
  ])
    expect((await shell.run(['listen', ...wrong])).code).toBe(2);
});
