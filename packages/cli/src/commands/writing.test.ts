import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';

const world = await testWorld();
const local = testShell({ DATA_DIR: await world.localSocket() });
const remote = testShell({ BECKON_URL: world.url, BECKON_API_KEY: world.apiKey });
const file = async (name: string, content: unknown): Promise<void> =>
  writeFile(join(local.folder, name), typeof content === 'string' ? content : JSON.stringify(content));
const at = (name: string): string => join(local.folder, name);

const PRO = { trait: 'plan', equals: 'pro' };

beforeAll(async () => {
  const { definition } = (await local.json(['rules', 'show', 'welcome'])) as { definition: { name: string } };
  await file('rule.json', { ...definition, name: 'second' });
  await file('nameless.json', { ...definition, name: undefined, priority: 7 });
  await file('wrong.json', { name: 'wrong', when: 1 });
  await file('array.json', []);
  await file('text.json', 'no json');
  await file('audience.json', { name: 'Pro', definition: PRO });
  await file('members.json', { name: 'Members', definition: PRO });
  await file('renamed.json', { name: 'Paying' });
  await file('other.json', { title: 'Pro' });
  await file(
    'email.md',
    '---\nsubject: Hello {{ user.name | default: "you" }}\npreheader: Hi\n---\n\nWelcome **back**.\n',
  );
  await file(
    'email.mjml',
    '<mjml><mj-head><mj-title>Hi &amp; hello</mj-title></mj-head><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>',
  );
  await file('email.json', { format: 'markdown', subject: 'From JSON', preheader: '', body: 'Text' });
  await file('empty.md', 'No subject');
});

describe('audiences', () => {
  let id = '';
  testCases(local, [
    { run: 'audiences list', shows: /No audiences yet/, json: [] },
    { run: () => `audiences preview --file ${at('audience.json')}`, shows: /0 users: /, json: { count: 0 } },
    {
      run: () => `audiences create --file ${at('audience.json')}`,
      json: { name: 'Pro' },
      keep: (made: { id: string }) => (id = made.id),
    },
    { run: () => `audiences create --file ${at('renamed.json')}`, fails: [2, /needs name and definition/] },
    { run: () => `audiences create --file ${at('text.json')}`, fails: [2, /not valid JSON/] },
    { run: 'audiences create', fails: [2, /--file/] },
    { run: 'audiences list', shows: /Pro +(ready|finding members).*\n/, json: [{ name: 'Pro' }] },
    { run: () => `audiences show ${id}`, shows: /"trait": "plan"/, json: { definition: PRO } },
    { run: () => `audiences edit ${id} --file ${at('renamed.json')}`, shows: /name +Paying/ },
    { run: () => `audiences edit ${id} --file ${at('other.json')}`, fails: [2, /name and definition/] },
    { run: 'audiences members Paying', shows: /This audience has no members/, json: [] },
    { run: 'audiences test Paying u1', fails: [1, /./] },
    { run: 'audiences delete Paying', fails: [2, /Delete the audience Paying with 0 members\? Pass --yes/] },
    { run: 'audiences delete Paying --yes', json: { id: expect.any(String) } },
    { run: 'audiences show Paying', fails: [1, /./] },
  ]);

  test('test explains each condition', async () => {
    await local.json(['audiences', 'create', '--file', at('audience.json')]);
    expect((await remote.run(['users', 'upsert', 'u1', '-t', 'plan=pro'])).code).toBe(0);
    await expect
      .poll(async () => (await local.run(['audiences', 'test', 'Pro', 'u1'])).out, { timeout: 20_000 })
      .toMatch(/^u1 is a member\.\nyes +/);
    expect((await local.run(['audiences', 'members', 'Pro'])).out).toContain('u1');
  });
});

describe('rules', () => {
  testCases(local, [
    {
      run: 'rules list',
      shows: /welcome +enabled +\w+/,
      json: [{ on: true }],
    },
    { run: 'rules show welcome', shows: /"when"[^]*/, json: { name: 'welcome', definition: {} } },
    { run: 'rules show nothing', fails: [1, /./] },
    { run: () => `rules check --file ${at('rule.json')}`, json: { faults: [] } },
    { run: () => `rules check --file ${at('array.json')}`, fails: [2, /must hold a JSON object/] },
    {
      run: () => `rules create --file ${at('rule.json')}`,
      shows: /Created rule second \(ID \S+\), disabled\./,
    },
    { run: () => `rules create --file ${at('wrong.json')}`, fails: [2, /when/] },
    {
      run: () => `rules edit second --file ${at('nameless.json')}`,
      json: { rule: { name: 'second', priority: 7 } },
    },
    {
      run: 'rules enable second',
      shows: /Enabled rule second\. 0 runs and 0 drafts continue/,
      json: { rule: { on: true } },
    },
    { run: 'rules enroll second', fails: [1, /audience/] },
    { run: 'rules enroll second --dry-run', fails: [1, /no audience starts the rule/] },
    { run: 'rules enable second --enroll --yes', fails: [1, /no audience starts the rule/] },
    { run: 'rules disable second', shows: /Disabled rule second/, json: { rule: { on: false } } },
    {
      run: 'rules backtest welcome --since 2d',
      shows: /evaluated +\d+\n[^]*Enrolled +users: \d[^]*Assumptions/,
      json: { rule: 'welcome' },
    },
    { run: () => `rules backtest --file ${at('nameless.json')}`, fails: [2, /name/] },
    { run: 'rules backtest', fails: [2, /Pass a saved rule, or --file/] },
    { run: 'rules backtest welcome --since 2y', fails: [2, /--since must be a duration/] },
    {
      run: 'rules set-mode second autopilot --deadline 2h',
      shows: /second is in mode autopilot/,
      json: { before: {} },
    },
    { run: 'rules set-mode second fast', fails: [2, /fast is not one of draft, autopilot/] },
    { run: 'rules reorder second --before welcome', json: { changed: expect.any(Array) } },
    { run: 'rules reorder second', shows: /rule +priority/ },
    { run: 'rules duplicate second --name third', shows: /Created rule third/ },
    {
      run: 'rules versions second',
      shows: /version +current +created/,
      json: [{ version: 2 }, { version: 1 }],
    },
    {
      run: 'rules results welcome --days 7',
      shows: /Funnel +enrolled: 0/,
      json: { funnel: { enrolled: 0 } },
    },
    {
      run: 'rules flow welcome --days 7',
      shows: /enrolled +0[^]*step +what +active +paused +passed/,
      json: { enrolled: 0, steps: [{ at: 0, path: 'steps.0', passed: 0 }] },
    },
    { run: 'rules runs welcome', shows: /No active runs/, json: [] },
    { run: 'rules move-waiting second', shows: /Moved 0 runs to version \d/, json: { moved: 0 } },
    { run: 'rules recurring-edits welcome', shows: /No recurring edits/, json: { edited: 0 } },
  ]);

  test('check prints errors at their fields, and ends with 2', async () => {
    const { code, out } = await local.run(['rules', 'check', '--file', at('wrong.json')]);
    expect([code, out]).toEqual([2, expect.stringMatching(/when must be an object/)]);
  });
});

describe('enrollment', () => {
  const PREVIEW =
    /^1 of 2 users would be enrolled in on_members\.\nFirst users: A\S+da \(ada\)\nNot enrolled: 1 \(.*no email address/;

  beforeAll(async () => {
    const members = ['audiences', 'create', '--file', at('members.json')];
    const { id } = (await local.json(members)) as { id: string };
    const { definition } = (await local.json(['rules', 'show', 'welcome'])) as { definition: object };
    const when = [{ audience: id, move: 'joined' }];
    await file('on-audience.json', { ...definition, name: 'on_members', when });
    await local.json(['rules', 'create', '--file', at('on-audience.json')]);
    const named = ['-t', 'plan=pro', '-t', 'name=A\u001B[31mda'];
    await remote.json(['users', 'upsert', 'ada', '--email', 'ada@x.org', ...named]);
    await remote.json(['users', 'upsert', 'u1', '-t', 'plan=pro']);
  });

  test('waits for the audience, then prints the preview with --dry-run, also of a disabled rule', async () => {
    const preview = async () => local.run(['rules', 'enroll', 'on_members', '--dry-run']);
    await expect.poll(async () => (await preview()).out, { timeout: 20_000 }).toMatch(PREVIEW);
    expect(await local.json(['rules', 'enroll', 'on_members', '--dry-run'])).toMatchObject({
      would_enroll: 1,
      first: [{ external_user_id: 'ada' }],
    });
    expect(await local.json(['rules', 'show', 'on_members'])).toMatchObject({ on: false, enrollment: null });
  });

  test('asks with the preview before it enables the rule, without control characters of names', async () => {
    const enable = ['rules', 'enable', 'on_members', '--enroll'];
    const piped = await local.run(enable);
    expect([piped.code, piped.out]).toEqual([2, '']);
    expect(piped.err.replace('error: ', '')).toMatch(PREVIEW);
    expect(piped.err).toContain('Enable it and enroll them? Pass --yes to confirm.');
    expect((await local.run(enable, { terminal: true, answers: [false] })).code).toBe(130);
    expect(local.questions.at(-1)).toMatch(PREVIEW);
    expect(local.questions.at(-1)).not.toContain('\u001B');
    expect(await local.json(['rules', 'show', 'on_members'])).toMatchObject({ on: false, enrollment: null });
  });

  test('enables the rule and enrolls the users, and prints one JSON value', async () => {
    const refused = await local.run(['rules', 'enroll', 'on_members', '--yes']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is disabled')]);
    expect(await local.json(['rules', 'enable', 'on_members', '--enroll', '--yes'])).toMatchObject({
      rule: { on: true },
      enrollment: { members: 2 },
    });
    await expect
      .poll(async () => (await local.run(['rules', 'show', 'on_members'])).out, { timeout: 20_000 })
      .toMatch(/Enrollment +\w+: [^]*enrolled: 1/);
    const again = await local.run(['rules', 'enroll', 'on_members', '--yes']);
    expect(again.out).toMatch(/Started the enrollment: 2 users to evaluate\. .*beckon rules show on_members/);
    const enabled = await local.run(['rules', 'enable', 'on_members', '--enroll', '--yes']);
    expect(enabled.out).toMatch(/^Enabled rule on_members\.[^]*Started the enrollment/);
  });
});

describe('templates', () => {
  testCases(local, [
    { run: 'templates list', shows: /welcome +- +built-in/ },
    { run: 'templates show welcome', shows: /Variables\nname +required +share/, json: { version: null } },
    { run: 'templates show nothing', fails: [1, /./] },
    { run: () => `templates create news --file ${at('email.md')}`, shows: /Published version 1 of news/ },
    { run: () => `templates create news2 --file ${at('empty.md')}`, fails: [2, /needs a subject/] },
    { run: () => `templates save news --file ${at('email.json')}`, shows: /Saved\. Publish it/ },
    {
      run: () => `templates save news --file ${at('email.mjml')}`,
      fails: [2, /Replace the unpublished version.*--yes/],
    },
    { run: () => `templates preview news --unpublished`, shows: /subject +From JSON/, json: { faults: [] } },
    { run: () => `templates preview news --file ${at('email.mjml')}`, json: { subject: 'Hi & hello' } },
    { run: 'templates publish news --update-drafts', shows: /Published version 2 of news/ },
    { run: 'templates publish news', fails: [1, /./] },
    { run: () => `templates save news --file ${at('email.md')}`, json: { has_unpublished: true } },
    { run: 'templates discard news', answers: [true], shows: /Discarded/ },
    { run: 'templates send-test news --to ada@x.org', shows: /From JSON” to ada@x.org/ },
    { run: 'templates delete news', fails: [2, /all its versions\? Pass --yes/] },
    { run: 'templates delete news --yes', json: { drafts: 0 } },
  ]);
});
