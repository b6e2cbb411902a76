import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { costlyBody } from '../../testkit/costly-template.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { openEngine } from '../../testkit/engine.ts';
import { putRecords } from '../../testkit/inbox.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { createProject } from '../flows/create-project.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const directory = await mkdtemp(join(tmpdir(), 'beckon-rule-'));
afterAll(() => rm(directory, { recursive: true }));

/** A command as it is typed, for this test's project. */
const beckon = (...args: string[]): Promise<Ran> => typed({ db }, [...args, '--project', String(projectId)]);

const rule = (...args: string[]): Promise<Ran> => beckon('rule', ...args);
const ofGreeter = (verb: string, ...args: string[]): Promise<Ran> => rule(verb, '--rule', 'greeter', ...args);

let projectId: number;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

let files = 0;
async function file(content: unknown): Promise<string> {
  const path = join(directory, `${(files += 1)}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const STEPS = [{ draft: { subject: 'Hello', body: 'Hello' } }];
const GREETER = { name: 'greeter', when: { event: 'hello' }, deadline: '1h', steps: STEPS };

async function make(content: object = GREETER): Promise<string> {
  return ((await rule('create', '--file', await file(content), '--json')).json as { id: string }).id;
}

async function greet(...ids: string[]): Promise<void> {
  const users = ids.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  const events = ids.map((id) => ({ external_user_id: id, name: 'hello', properties: {} }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
}

test('a project begins with the four named rules, on, by autopilot', async () => {
  const { json } = await rule('list', '--json');
  expect(json).toMatchObject(
    ['onboarding_stall', 'plan_limit_upsell', 'trial_expiring', 'welcome'].map((name) => ({
      name,
      version: 1,
      state: 'on',
      mode: 'autopilot',
      deadline: null,
      alarm: null,
    })),
  );
  expect((await rule('list')).out).toMatch(/welcome +1 +on +autopilot/);
});

test('create prints what it made, and show tells it whole, as a document that can be written again', async () => {
  const made = await rule('create', '--file', await file(GREETER), '--json');
  const at = new Date(clock.now()).toISOString();
  const listed = {
    id: expect.any(String) as string,
    name: 'greeter',
    version: 1,
    state: 'on',
    mode: 'autopilot',
    deadline: '1h',
    priority: 50,
    sentence: expect.stringContaining('hello happens') as string,
    lints: [{ code: 'event_never_seen', message: expect.stringContaining('hello') as string }],
    alarm: null,
    demoted_at: null,
    demoted_why: null,
    created_at: at,
    updated_at: at,
  };
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(made.json).toEqual(listed);
  expect((await rule('list', '--json')).json).toContainEqual(listed);
  await greet('ada');
  const shown = (await ofGreeter('show', '--json')).json as { definition: object };
  expect(shown).toEqual({
    ...listed,
    lints: [],
    definition: expect.objectContaining({ name: 'greeter', mode: 'autopilot', deadline: '1h' }) as object,
    runs: { active: 1, frozen: 0, ended: {} },
    suggestion: null,
  });
  // Nothing changes where the same is written once more.
  expect((await ofGreeter('update', '--file', await file(shown.definition), '--json')).json).toMatchObject({
    version: 1,
    drafts: 0,
  });
  const { out } = await ofGreeter('show');
  for (const part of ['greeter', 'hello happens', 'active', '"steps"']) expect(out).toContain(part);
  const words = await rule('create', '--file', await file({ ...GREETER, name: 'also' }));
  expect(words.out).toMatch(/^Rule also has the id [0-9a-f-]{36}\n\nStarts when hello happens/);
});

test('a rule whose events are named wrongly is made, and says so', async () => {
  const { out } = await rule('create', '--file', await file({ ...GREETER, when: { event: 'helo' } }));
  expect(out).toContain('To be looked at:\n- helo was never seen');
});

test('usage that comes as a fraction is pointed at', async () => {
  const records = [0.8, 1].map((usagePercent) => ({
    external_user_id: 'ada',
    name: 'usage_threshold_reached',
    properties: { usagePercent },
  }));
  await putRecords(db, { projectId, kind: 'events', records });
  await engine.settle();
  const lints = async () =>
    ((await rule('show', '--rule', 'plan_limit_upsell', '--json')).json as { lints: unknown }).lints;
  expect(await lints()).toMatchObject([{ code: 'usage_is_fraction' }]);
  await putRecords(db, {
    projectId,
    kind: 'events',
    records: [
      {
        external_user_id: 'ada',
        name: 'usage_threshold_reached',
        properties: { usagePercent: 2, meter: 'x' },
      },
    ],
  });
  await engine.settle();
  expect(await lints()).toEqual([]);
});

test('update writes the whole rule, of which the name alone may be left out', async () => {
  await make();
  await greet('ada');
  const { name: _name, ...nameless } = GREETER;
  const updated = await ofGreeter('update', '--json', '--file', await file({ ...nameless, mode: 'draft' }));
  expect(updated.json).toMatchObject({
    name: 'greeter',
    version: 1,
    mode: 'draft',
    deadline: '1h',
    drafts: 1,
  });
  const path = await file({ ...GREETER, name: 'greeting', priority: 9, mode: 'autopilot' });
  const { out } = await ofGreeter('update', '--include-open', '--file', path);
  expect(out).toContain('Rule greeting is in version 2; 1 open drafts have another mode');
  const taken = await rule(
    'update',
    '--rule',
    'greeting',
    '--file',
    await file({ ...GREETER, name: 'welcome' }),
  );
  expect(taken).toMatchObject({ code: 1, out: '', err: expect.stringContaining('name is taken') as string });
});

test('disable and enable tell what stands still and what goes on', async () => {
  await make();
  await greet('ada', 'bob');
  expect((await ofGreeter('disable', '--json')).json).toMatchObject({ state: 'off', held: 2, frozen: 2 });
  expect((await ofGreeter('enable', '--json')).json).toMatchObject({
    state: 'on',
    resumed: 2,
    thawed: 2,
    expired: 0,
  });
  expect((await ofGreeter('disable')).out).toBe('Rule greeter is off: 2 runs and 2 drafts stand still\n');
  expect((await ofGreeter('enable')).out).toContain('2 runs and 2 drafts go on, 0 drafts expired');
});

test('many drafts that were held for long go on only with --yes', async () => {
  await make();
  await greet(...Array.from({ length: 101 }, (_, i) => `u${i}`));
  await ofGreeter('disable');
  clock.advance(86_400_001);
  expect(await ofGreeter('enable')).toMatchObject({
    code: 1,
    err: expect.stringContaining('101 drafts') as string,
  });
  expect((await ofGreeter('enable', '--yes', '--json')).json).toMatchObject({ state: 'on', resumed: 101 });
});

test('move-waiting moves who waits at a place that both versions have in common', async () => {
  await make({ ...GREETER, steps: [{ wait: '1d' }, ...STEPS] });
  await greet('ada');
  const update = async (steps: object[]) =>
    ofGreeter('update', '--file', await file({ ...GREETER, steps: [...steps, ...STEPS] }));
  await update([{ wait: '1d' }, { wait: '1d' }]);
  expect((await ofGreeter('move-waiting', '--json')).json).toMatchObject({
    version: 2,
    moved: 1,
    stayed: [],
  });
  await update([{ wait: '2d' }]);
  expect((await ofGreeter('move-waiting')).out).toMatch(/^0 runs go on in version 3 of greeter; 1 stay/);
});

test('whatever is wrong in a file is told by its place, and makes nothing', async () => {
  const wrong = [
    ['{"name": ', 'is not JSON'],
    ['[]', 'must be an object with name, when and steps'],
    [{ ...GREETER, colour: 'red' }, 'colour is not known here'],
    [{ ...GREETER, steps: [{ draft: 'nowhere' }] }, 'steps.0.draft names a template that does not exist'],
    [
      { ...GREETER, steps: [{ draft: { subject: 'Hello', body: costlyBody() } }] },
      'steps.0.draft.body: Rendering this email takes too much work',
    ],
  ] as const;
  for (const [content, message] of wrong)
    expect(await rule('create', '--file', await file(content)), message).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(message) as string,
    });
  expect((await rule('list', '--json')).json).toHaveLength(4);
  expect((await ofGreeter('show')).err).toBe(
    'There is no rule "greeter": rule list shows their ids and names\n',
  );
  expect((await rule('create')).code).toBe(2);
});

test('a text in a rule cannot steer the terminal that shows it', async () => {
  await make({ ...GREETER, only_if: { trait: 'plan', equals: '\u001b[2J' } });
  for (const command of [['list'], ['show', '--rule', 'greeter']])
    expect((await rule(...command)).out).not.toContain('\u001b');
});

const suppression = (...args: string[]): Promise<Ran> => beckon('suppression', ...args);

test('a suppression is added, listed and, when confirmed, removed', async () => {
  await make();
  await greet('ada', 'bob');
  expect((await suppression('add', '--email', ' Ada@X.org', '--json')).json).toEqual({
    kind: 'email',
    value: 'ada@x.org',
    reason: 'manual',
    until: null,
    added: true,
    drafts: 1,
    runs: 1,
  });
  const until = '2027-01-01T00:00:00.000Z';
  const added = await suppression('add', '--user', 'bob', '--reason', 'snoozed', '--until', until);
  expect(added.out).toBe(
    'Nothing is sent to the user "bob" any more: 1 drafts were canceled and 1 runs ended\n',
  );
  const created = { created_at: new Date(clock.now()).toISOString(), created_by: 'operator' };
  const made = { hash: null, from_erased: false, ...created };
  const ada = { kind: 'email', value: 'ada@x.org', reason: 'manual', until: null, ...made };
  const bob = { kind: 'user', value: 'bob', reason: 'snoozed', until, ...made };
  expect((await suppression('list', '--json')).json).toEqual([ada, bob]);
  expect((await suppression('list', '--limit', '1', '--json')).json).toEqual([ada]);
  expect((await suppression('list', '--user', 'bob', '--json')).json).toEqual([bob]);
  expect((await suppression('list')).out).toMatch(/user +bob +snoozed/);
  const remove = ['remove', '--email', 'ada@x.org'];
  expect(await suppression(...remove)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--yes') as string,
  });
  expect((await suppression(...remove, '--yes', '--json')).json).toMatchObject({ removed: true });
  expect(await suppression(...remove, '--yes')).toMatchObject({ code: 1 });
  expect((await suppression('list', '--json')).json).toEqual([bob]);
});

test('whoever is to be suppressed must be said once, and be somebody', async () => {
  const wrong = [
    [[], 'One of --email and --user'],
    [['--email', 'a@x.org', '--user', 'a'], 'One of --email and --user'],
    [['--email', 'a@'], 'no e-mail address'],
    [['--user', ''], "nobody's id"],
    [['--user', 'a', '--until', '2020-01-01'], 'a time to come'],
    [['--user', 'a', '--until', 'soon'], 'a time to come'],
  ] as const;
  for (const [args, message] of wrong)
    expect(await suppression('add', ...args), message).toMatchObject({
      code: 1,
      err: expect.stringContaining(message) as string,
    });
  expect((await suppression('add', '--user', 'a', '--reason', 'fun')).code).toBe(2);
  expect((await suppression('list')).out).toBe('Nobody is suppressed\n');
});
