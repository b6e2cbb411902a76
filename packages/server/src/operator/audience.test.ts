import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { listBuilding, noWrites, serveEdition, writeStandings } from '../features/audiences/index.ts';
import { createProject } from '../flows/create-project.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const directory = await mkdtemp(join(tmpdir(), 'beckon-audience-'));
afterAll(() => rm(directory, { recursive: true }));

/** A command as it is typed, for this test's project. */
const audience = (...args: string[]): Promise<Ran> =>
  typed({ db }, ['audience', ...args, '--project', String(projectId)]);

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

const at = new Date(clock.now()).toISOString();
const PAYING = { name: 'Paying', definition: { trait: 'plan', equals: 'pro' } };

async function make(content: object = PAYING): Promise<string> {
  return ((await audience('create', '--file', await file(content), '--json')).json as { id: string }).id;
}

async function fill(...userIds: string[]): Promise<void> {
  const edition = (await listBuilding(db, 100)).find((one) => one.projectId === projectId)?.edition ?? 0;
  const since = new Date(clock.now());
  await db.transaction(async (tx) => {
    const joined = userIds.map((userId) => ({ projectId, userId, edition, since }));
    await writeStandings(tx, { ...noWrites(), joined }, since);
    await serveEdition(tx, { projectId, edition, now: since });
  });
}

test('create prints what it made, list an array of all', async () => {
  const made = await audience('create', '--file', await file(PAYING), '--json');
  const expected = {
    id: expect.any(String),
    name: 'Paying',
    state: 'building',
    members: 0,
    progress: { built: 0, people: 0 },
    sentence: 'plan is pro',
    created_at: at,
    updated_at: at,
  };
  expect(made).toMatchObject({ code: 0, err: '', json: expected });
  expect((await audience('list', '--json')).json).toEqual([expected]);
  expect((await audience('list')).out).toMatch(/Paying\s+building\s+0\s+0\/0\s+plan is pro/);
  const words = await audience('create', '--file', await file({ ...PAYING, name: 'Also' }));
  expect(words.out).toMatch(/^Audience Also has the id [0-9a-f-]{36}\n\nWho is meant: plan is pro\n$/);
});

test('members are listed with the moment since when, and as many as asked for', async () => {
  await make();
  await fill('u3', 'u1', 'u2');
  const members = ['u1', 'u2', 'u3'].map((id) => ({ external_user_id: id, since: at }));
  expect((await audience('members', '--audience', 'Paying', '--json')).json).toEqual(members);
  const two = await audience('members', '--audience', 'Paying', '--limit', '2', '--json');
  expect(two.json).toEqual(members.slice(0, 2));
  const rest = await audience('members', '--audience', 'Paying', '--after', 'u2', '--json');
  expect(rest.json).toEqual(members.slice(2));
  expect((await audience('members', '--audience', 'Paying', '--limit', '0')).code).toBe(2);
});

test('more members than a page has are all listed', async () => {
  await make();
  await fill(...Array.from({ length: 2_345 }, (_, i) => `u${i}`));
  const listed = async (...limit: string[]) =>
    (await audience('members', '--audience', 'Paying', ...limit, '--json')).json as unknown[];
  expect(await listed()).toHaveLength(1_000);
  expect(await listed('--limit', '1500')).toHaveLength(1_500);
  const all = (await listed('--limit', '9999')) as { external_user_id: string }[];
  expect(new Set(all.map((one) => one.external_user_id)).size).toBe(2_345);
});

test('show tells the definition, the growth and some members, by id or by name', async () => {
  const id = await make();
  await fill('u1', 'u2');
  const shown = (await audience('show', '--audience', id, '--json')).json;
  expect(shown).toMatchObject({
    ...PAYING,
    state: 'ready',
    members: 2,
    progress: null,
    growth: [{ day: at.slice(0, 10), joined: 0, left: 0, members: 2 }],
    sample: [
      { external_user_id: 'u1', since: at },
      { external_user_id: 'u2', since: at },
    ],
  });
  expect((await audience('show', '--audience', 'Paying', '--json')).json).toEqual(shown);
  const { out } = await audience('show', '--audience', 'Paying');
  for (const part of ['ready', 'Who is meant: plan is pro', '"equals": "pro"', 'joined', 'u2'])
    expect(out).toContain(part);
});

test('edit changes the name, the definition or both', async () => {
  const id = await make();
  await fill('u1');
  const edit = async (content: object) =>
    (await audience('edit', '--audience', id, '--file', await file(content), '--json')).json;
  expect(await edit({ name: 'Payers' })).toMatchObject({ id, name: 'Payers', state: 'ready', members: 1 });
  const definition = { trait: 'plan', equals: 'team' };
  expect(await edit({ definition })).toMatchObject({
    name: 'Payers',
    state: 'rebuilding',
    members: 1,
    sentence: 'plan is team',
  });
  expect((await audience('show', '--audience', 'Payers')).out).toContain('rebuilding: 0 of 0 people done');
});

test('delete refuses what another audience refers to, by its name', async () => {
  const id = await make();
  await make({ name: 'Others', definition: { not: { audience: id } } });
  expect(await audience('delete', '--audience', 'Paying', '--json')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('\\"Others\\" refers to it') as string,
  });
  expect((await audience('delete', '--audience', 'Others', '--json')).json).toMatchObject({ name: 'Others' });
  expect((await audience('delete', '--audience', id)).out).toBe('Audience Paying is deleted\n');
  expect((await audience('list', '--json')).json).toEqual([]);
  expect((await audience('list')).out).toContain('audience create makes one');
});

test('preview counts and makes nothing', async () => {
  await db.query(
    `INSERT INTO beckon.person (project_id, external_user_id, plan, traits, first_seen_at, last_seen_at)
     SELECT $1, 'u' || n, 'pro', '{}', now(), now() FROM generate_series(1, 3) n`,
    [projectId],
  );
  const path = await file({ definition: { any: [PAYING.definition, { event: 'paid', at_least: 2 }] } });
  expect((await audience('preview', '--file', path, '--json')).json).toEqual({
    count: 3,
    sample: [{ external_user_id: 'u1' }, { external_user_id: 'u2' }, { external_user_id: 'u3' }],
    sentence: expect.stringContaining('plan is pro') as string,
    uncounted_events: ['paid'],
  });
  const { out } = await audience('preview', '--file', path);
  expect(out).toContain('3 people: ');
  expect(out).toContain('"paid"');
  expect((await audience('list', '--json')).json).toEqual([]);
});

test('whatever is wrong in a file is told by its place, and makes nothing', async () => {
  const wrong = [
    ['{"name": ', 'is not JSON'],
    ['[]', 'must hold a JSON object with name and definition'],
    [{ ...PAYING, colour: 'red' }, 'colour is not known here'],
    [{ definition: PAYING.definition }, 'name must be a text'],
    [{ name: 'Paying' }, 'definition is required'],
    [{ ...PAYING, definition: { all: [{ trait: 'plan' }] } }, 'definition.all.0 must have one of'],
  ] as const;
  for (const [content, message] of wrong)
    expect(await audience('create', '--file', await file(content)), message).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(message) as string,
    });
  expect((await audience('create', '--file', join(directory, 'none.json'))).err).toContain('cannot be read');
  expect((await audience('list', '--json')).json).toEqual([]);
  expect((await audience('show', '--audience', 'Nobody')).err).toBe(
    'There is no audience "Nobody": audience list shows their ids and names\n',
  );
  expect((await audience('create')).code).toBe(2);
});

test('a text in a definition cannot steer the terminal that shows it', async () => {
  await make({ name: 'Evil', definition: { trait: 'plan', equals: '\u001b[2J' } });
  for (const command of [['list'], ['show', '--audience', 'Evil']])
    expect((await audience(...command)).out).not.toContain('\u001b');
});
