import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { webhookStage } from '../../testkit/webhooks.ts';
import { HOOK_CA } from '../../testkit/hook-server.ts';
import { createOutbound } from '../io/outbound/index.ts';

const stage = await webhookStage();
const { db, hooks, sealer } = stage;
const projectId = await stage.project();
afterAll(() => stage.close());
beforeEach(() => stage.forget());

const openOutbound = () => createOutbound({ allowPrivate: true, ca: HOOK_CA });

function run(...args: string[]): Promise<Ran> {
  const [command = '', ...rest] = args;
  return typed({ db, sealer, openOutbound }, ['webhook', command, '--project', String(projectId), ...rest]);
}

async function create(path: string, ...more: string[]): Promise<{ id: string; secret: string }> {
  const { json } = await run('create', '--url', hooks.url(path), '--json', ...more);
  return json as { id: string; secret: string };
}

function countOf(path: string): number {
  return hooks.received.filter((one) => one.path === path).length;
}

test('an endpoint is made, and its secret told once', async () => {
  const made = await create('/made', '--types', 'email.clicked,email.opened', '--description', 'our CRM');
  expect(made).toEqual({
    id: expect.any(String),
    secret: expect.stringMatching(/^whsec_[A-Za-z\d+/]{43}=$/),
  });
  const { json, out } = await run('list', '--json');
  expect(out).not.toContain(made.secret);
  expect(json).toEqual([
    expect.objectContaining({
      id: made.id,
      url: hooks.url('/made'),
      types: ['email.opened', 'email.clicked'],
      description: 'our CRM',
      state: 'enabled',
      secrets: [{ created_at: expect.any(String), expires_at: null }],
    }),
  ]);
  expect((await run('list')).out).toContain('our CRM');
});

test('what cannot be an endpoint is refused with the reason', async () => {
  const { code, err } = await run('create', '--url', 'ftp://example.com');
  expect(code).toBe(1);
  expect(err).toContain('It has to begin with https://');
  expect((await run('enable', '--endpoint', 'nonsense')).err).toContain('webhook list shows');
});

test('a test event is sent to this endpoint alone, and its answer is shown, also where it is a refusal', async () => {
  const { id } = await create('/tested');
  hooks.answer(() => ({ status: 418, body: 'short\nand stout' }));
  const { json, code } = await run('test', '--endpoint', id, '--json');
  expect(code).toBe(1);
  expect(json).toMatchObject([
    {
      endpoint_id: id,
      type: 'test',
      state: 'exhausted',
      attempts: [{ status: 418, response: 'short\nand stout' }],
    },
  ]);
  expect(hooks.received.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    [
      '/tested',
      expect.objectContaining({ type: 'test', id: expect.stringMatching(/^msg_/), livemode: true }),
    ],
  ]);
  await stage.advance(24 * 3_600_000);
  expect(hooks.received).toHaveLength(1);
  expect((await run('test', '--endpoint', id)).out).toContain('418');
});

test('deliveries are shown with every attempt, by endpoint, message and state', async () => {
  const { id } = await create('/shown', '--types', 'email.replied');
  hooks.answer(() => ({ status: 500, body: 'no' }));
  const [message] = await stage.queue(projectId, 1, { type: 'email.replied' });
  await stage.advance(6_000);
  const { json } = await run(
    'deliveries',
    '--endpoint',
    id,
    '--state',
    'pending',
    '--message',
    `msg_${message}`,
    '--json',
  );
  expect(json).toEqual([
    expect.objectContaining({
      id: `msg_${message}`,
      endpoint_id: id,
      type: 'email.replied',
      state: 'pending',
      attempts: [
        expect.objectContaining({ number: 1, status: 500, error: null, response: 'no' }),
        expect.objectContaining({ number: 2, status: 500 }),
      ],
    }),
  ]);
  expect((await run('deliveries', '--endpoint', id)).out).toContain('500');
  expect((await run('deliveries', '--message', `msg_${message}`)).out).toContain('attempt');
  expect((await run('deliveries', '--message', 'msg_1')).err).toContain('no id of a message');
});

test('of a message that several endpoints were told it is said which, and what to do where it was missed', async () => {
  const both = [await create('/told'), await create('/missed')];
  const [told, missed] = both.map(({ id }) => id);
  await run('disable', '--endpoint', missed ?? '');
  const [message] = await stage.queue(projectId, 1, { type: 'email.unsubscribed' });
  await stage.settle();
  const { out } = await run('deliveries', '--message', `msg_${message}`);
  expect(out).toContain(`is delivered to endpoint ${told}`);
  expect(out).toContain(
    `is missed by endpoint ${missed}\nIt was not tried: webhook replay --missed sends it`,
  );
  for (const { id } of both) await run('delete', '--endpoint', id);
});

test('where a filter leaves no delivery nobody is told that there are none', async () => {
  const { id } = await create('/filtered', '--types', 'email.replied');
  await stage.queue(projectId, 1, { type: 'email.replied' });
  await stage.settle();
  for (const filter of [
    ['--state', 'exhausted', '--endpoint', id],
    ['--message', `msg_${stage.newId()}`],
  ])
    expect((await run('deliveries', ...filter)).out).toBe('There is no such delivery of the last 30 days\n');
});

test('one delivery, a range, or all that was missed is sent again', async () => {
  const { id } = await create('/again', '--types', 'email.bounced');
  const [message] = await stage.queue(projectId, 2, { type: 'email.bounced' });
  await stage.settle();
  expect(countOf('/again')).toBe(2);
  expect((await run('replay', '--delivery', `msg_${message}`, '--endpoint', id, '--json')).json).toEqual({
    replayed: 1,
  });
  await stage.settle();
  expect(
    (await run('replay', '--endpoint', id, '--since', '1h', '--states', 'delivered', '--json')).json,
  ).toEqual({ replayed: 2 });
  await stage.settle();
  expect((await run('disable', '--endpoint', id)).code).toBe(0);
  await stage.queue(projectId, 1, { type: 'email.bounced' });
  expect((await run('replay', '--endpoint', id, '--missed')).err).toContain('webhook enable');
  expect((await run('enable', '--endpoint', id)).code).toBe(0);
  expect((await run('replay', '--missed', '--endpoint', id, '--json')).json).toEqual({ replayed: 1 });
  await stage.settle();
  expect(countOf('/again')).toBe(6);
  expect((await run('replay')).err).toContain('--since');
  expect((await run('replay', '--missed', '--since', '1h')).code).toBe(1);
  expect((await run('replay', '--delivery', `msg_${stage.newId()}`)).err).toContain('no such delivery');
});

test('it is changed, its secret replaced, and in the end it is deleted', async () => {
  const { id, secret } = await create('/changed');
  const changed = await run(
    'update',
    '--endpoint',
    id,
    '--types',
    'all',
    '--rate',
    '5',
    '--in-flight',
    '2',
    '--json',
  );
  expect(changed.json).toMatchObject({ id, types: null, per_second: 5, in_flight_max: 2 });
  expect((await run('update', '--endpoint', id, '--rate', 'fast')).err).toContain('Requests a second');
  const rotated = (await run('rotate', '--endpoint', id, '--overlap', '2h', '--json')).json as {
    secret: string;
  };
  expect(rotated.secret).not.toBe(secret);
  expect((await run('rotate', '--endpoint', id, '--overlap', 'ever')).code).toBe(2);
  expect((await run('delete', '--endpoint', id, '--json')).json).toMatchObject({ id, deleted: true });
  expect((await run('list')).out).not.toContain(id);
});
