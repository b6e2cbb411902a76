import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { HOUR, MINUTE } from '../../testkit/drafts.ts';
import { openEngine } from '../../testkit/engine.ts';
import { putRecords } from '../../testkit/inbox.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { createProject } from '../flows/create-project.ts';
import { createRule } from '../flows/create-rule.ts';
import { setSettings } from '../flows/set-settings.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const directory = await mkdtemp(join(tmpdir(), 'beckon-draft-'));
afterAll(() => rm(directory, { recursive: true }));

/** A command as it is typed, for this test's project. */
const beckon = (...args: string[]): Promise<Ran> => typed({ db }, [...args, '--project', String(projectId)]);
const draft = (...args: string[]) => beckon('draft', ...args);

type Row = { id: string; state: string; deadline_at: string | null };
const list = async (...args: string[]): Promise<Row[]> =>
  (await draft('list', ...args, '--json')).json as Row[];

const LETTER = { subject: 'Hello', body: 'Hello {{ person.name | default: "there" }}' };
const GREETER = { name: 'greeter', when: { event: 'hello' }, priority: 60, steps: [{ draft: LETTER }] };
let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await createRule(db, { projectId, document: GREETER });
  await setSettings(db, projectId, { quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' });
  engine.transport.answer({ result: 'sent' });
});

/** Somebody for whom the rule has written a letter just now: its id. */
async function greet(id: string, traits: object = {}): Promise<string> {
  // Ids of one moment have no order.
  clock.advance(1);
  const user = { external_user_id: id, email: `${id}@x.org`, traits };
  await putRecords(db, { projectId, kind: 'users', records: [user] });
  const event = { external_user_id: id, name: 'hello', properties: {} };
  await putRecords(db, { projectId, kind: 'events', records: [event] });
  await engine.settle();
  return (await list('--user', id))[0]?.id ?? '';
}

let files = 0;
async function file(content: object): Promise<string> {
  const path = join(directory, `${(files += 1)}.json`);
  await writeFile(path, JSON.stringify(content));
  return path;
}

const inMs = (ms: number): string => new Date(clock.now() + ms).toISOString();

test('list prints an array of the drafts, the newest first, under the names that scripts rely on', async () => {
  await greet('bea');
  const id = await greet('ada');
  expect(await list()).toMatchObject([{ id }, { external_user_id: 'bea' }]);
  expect(await list('--user', 'ada')).toEqual([
    {
      id,
      state: 'scheduled',
      rule: 'greeter',
      external_user_id: 'ada',
      subject: 'Hello',
      deadline_at: inMs(2 * HOUR),
      reason: null,
      expires_at: inMs(74 * HOUR),
      not_before: null,
      held_until: null,
      edited: false,
      priority: 60,
    },
  ]);
  expect((await draft('list')).out).toMatch(/^id +state +reason +rule[^]*scheduled[^]*greeter/);
});

test('list shows those of one state, one rule or one user, and no more than wanted', async () => {
  const [ada, bea] = [await greet('ada'), await greet('bea')];
  await draft('skip', '--draft', ada);
  expect((await list('--state', 'skipped')).map(({ id }) => id)).toEqual([ada]);
  expect((await list('--state', 'scheduled')).map(({ id }) => id)).toEqual([bea]);
  expect(await list('--rule', 'greeter')).toHaveLength(2);
  expect(await list('--rule', 'welcome')).toEqual([]);
  expect((await list('--limit', '1')).map(({ id }) => id)).toEqual([bea]);
  expect(await draft('list', '--state', 'lost')).toMatchObject({ code: 2 });
  expect(await draft('list', '--limit', '0')).toMatchObject({ code: 2 });
  expect(await draft('list', '--rule', 'none')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no rule "none"') as string,
  });
  expect((await draft('list', '--user', 'nobody')).out).toBe('There is no such draft\n');
});

test('show prints the whole draft, what it has been through, and what would hold it now', async () => {
  const id = await greet('ada', { name: 'Ada' });
  expect((await draft('show', '--draft', id, '--json')).json).toMatchObject({
    id,
    subject: 'Hello',
    body: 'Hello Ada',
    facts: { 'person.name': 'Ada' },
    rule_holds: true,
    gate: { passes: true },
    moves: [{ number: 1, at: inMs(0), action: 'schedule', to: 'scheduled', actor: 'engine' }],
  });
  await setSettings(db, projectId, { paused: 'true' });
  const shown = { gate: { passes: false, reason: 'paused', until: null } };
  expect((await draft('show', '--draft', id, '--json')).json).toMatchObject(shown);
  const { out } = await draft('show', '--draft', id);
  expect(out).toMatch(/Hello Ada[^]*It would be held: paused[^]*schedule/);
  for (const missing of ['nothing', '01900000-0000-7000-8000-000000000000']) {
    const { code, err } = await draft('show', '--draft', missing);
    expect([code, err]).toEqual([1, expect.stringContaining(`There is no draft "${missing}"`)]);
  }
});

test('approve has a draft leave, and tells the gate that says no', async () => {
  const id = await greet('ada');
  await setSettings(db, projectId, { quiet_hours: '00:00-23:59' });
  const { json } = await draft('approve', '--draft', id, '--json');
  const gate = { passes: false, reason: 'quiet_hours', detail: { quiet_hours: '00:00-23:59' } };
  expect(json).toMatchObject({ id, state: 'approved', not_before: inMs(10_000), gate });
  await setSettings(db, projectId, { quiet_hours: 'off' });
  await engine.advance(10_000);
  expect(await list()).toMatchObject([{ id, state: 'sent' }]);
  const again = await draft('approve', '--draft', id, '--json');
  expect(again).toMatchObject({ code: 1, out: '' });
  expect(JSON.parse(again.err)).toEqual({
    error: { code: 'conflict', message: 'It has been sent already' },
  });
});

test('approve --anyway is for a letter whose rule holds no more', async () => {
  const document = { ...GREETER, name: 'trial', only_if: { trait: 'plan', equals: 'trial' } };
  await createRule(db, { projectId, document });
  await greet('ada', { plan: 'trial' });
  const [row] = await list('--rule', 'trial');
  const records = [{ external_user_id: 'ada', traits: { plan: 'pro' } }];
  await putRecords(db, { projectId, kind: 'users', records });
  await engine.settle();
  const refused = await draft('approve', '--draft', row?.id ?? '');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('does not hold any more')]);
  const { json } = await draft('approve', '--draft', row?.id ?? '', '--anyway', '--json');
  expect(json).toMatchObject({ state: 'approved' });
});

test('skip keeps the reason, and undo takes it back', async () => {
  const id = await greet('ada');
  const skipped = await draft('skip', '--draft', id, '--reason', 'We spoke', '--json');
  expect(skipped.json).toMatchObject({ id, state: 'skipped', reason: 'We spoke', gate: null });
  expect((await draft('undo', '--draft', id, '--json')).json).toMatchObject({ id, state: 'scheduled' });
  const { json } = await draft('show', '--draft', id, '--json');
  const actors = (json as { moves: { actor: string }[] }).moves.map(({ actor }) => actor);
  expect(actors).toEqual(['engine', 'operator', 'operator']);
});

test('approve and skip take one draft, or all of a rule', async () => {
  const [ada, bea] = [await greet('ada'), await greet('bea')];
  const done = await draft('approve', '--rule', 'greeter', '--json');
  expect(done.json).toEqual({ acted: [bea, ada], refused: [] });
  expect((await draft('skip', '--rule', 'greeter')).out).toBe('0 drafts done, 0 left as they are\n');
  for (const args of [[], ['--draft', ada, '--rule', 'greeter']]) {
    const { code, err } = await draft('approve', ...args);
    expect([code, err]).toEqual([1, expect.stringContaining('either which draft')]);
  }
});

test('postpone takes a time, or how long from now', async () => {
  const id = await greet('ada');
  const until = async (...args: string[]) => draft('postpone', '--draft', id, '--until', ...args, '--json');
  expect((await until('3h')).json).toMatchObject({ deadline_at: inMs(3 * HOUR), state: 'scheduled' });
  expect((await until(inMs(4 * HOUR))).json).toMatchObject({ deadline_at: inMs(4 * HOUR) });
  const tooFar = await until('30d');
  expect([tooFar.code, tooFar.err]).toEqual([1, expect.stringContaining('It expires at')]);
  expect((await until('30d', '--extend')).json).toMatchObject({ deadline_at: inMs(720 * HOUR) });
  const { code, err } = await until('tomorrow');
  expect([code, err]).toEqual([1, expect.stringContaining('until must be a time such as')]);
});

test('edit changes what the file says and leaves the rest', async () => {
  const id = await greet('ada');
  const { json } = await draft('edit', '--draft', id, '--file', await file({ subject: 'Mine' }), '--json');
  expect(json).toMatchObject({ subject: 'Mine', edited: true, deadline_at: inMs(2 * HOUR) });
  expect((await draft('show', '--draft', id, '--json')).json).toMatchObject({ body: 'Hello there' });
  for (const [content, message] of [
    [{}, 'Say what changes'],
    [{ subject: 7 }, 'subject must be a text'],
    [{ subject: ' ' }, 'A letter needs a subject'],
    [{ text: 'Hello' }, 'text is not known here'],
  ] as const) {
    const { code, err } = await draft('edit', '--draft', id, '--file', await file(content));
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  }
});

test('send-again makes a new draft; of what may have arrived only with --yes', async () => {
  engine.transport.answer({ result: 'unknown', reason: 'lost' });
  const id = await greet('ada');
  await engine.advance(2 * HOUR);
  expect(await list()).toMatchObject([{ id, state: 'unknown', reason: 'lost' }]);
  const refused = await draft('send-again', '--draft', id);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('arrive twice')]);
  const { json } = await draft('send-again', '--draft', id, '--yes', '--json');
  expect(json).toMatchObject({ state: 'approved', gate: { passes: true } });
  const made = (json as Row).id;
  const shown = await draft('show', '--draft', made, '--json');
  expect(shown.json).toMatchObject({ again_of: id });
});

test('pause has nothing leave; resume shows what that means, and does it', async () => {
  await greet('ada');
  expect((await beckon('pause', '--json')).json).toEqual({
    id: String(projectId),
    name: 'Acme',
    paused: true,
  });
  await engine.advance(3 * HOUR);
  expect(await list()).toMatchObject([{ state: 'scheduled' }]);
  expect((await beckon('resume', '--json')).json).toEqual({
    was_paused: true,
    open: 1,
    expired: 0,
    overdue: 1,
    held: 0,
    long_held: 0,
    needs_confirmation: false,
    resumed: true,
    canceled: 0,
    postponed: 1,
  });
  await engine.advance(45 * MINUTE);
  expect(await list()).toMatchObject([{ state: 'sent' }]);
  expect((await beckon('resume')).out).toBe('It was not paused\n');
});

test('resume lets many that were held for long go only with --yes, and shows how many', async () => {
  const people = Array.from({ length: 101 }, (_, i) => `u${i}`);
  const users = people.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const events = people.map((id) => ({ external_user_id: id, name: 'hello', properties: {} }));
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
  await setSettings(db, projectId, { quiet_hours: '00:00-23:59' });
  await engine.advance(2 * HOUR);
  expect(await list('--state', 'held', '--limit', '200')).toHaveLength(101);
  await beckon('pause');
  await engine.advance(25 * HOUR);
  const refused = await beckon('resume', '--json');
  expect(refused.code).toBe(1);
  expect(refused.json).toMatchObject({ long_held: 101, needs_confirmation: true, resumed: false });
  expect((await beckon('resume')).out).toMatch(/101 for more than a day[^]*still paused: say --yes/);
  expect((await beckon('settings', 'get', '--json')).json).toMatchObject({ paused: true });
  const done = await beckon('resume', '--yes', '--json');
  expect([done.code, done.json]).toMatchObject([0, { resumed: true, postponed: 101 }]);
});
