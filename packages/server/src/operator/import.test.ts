import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openTestDatabase } from '../../testkit/database.ts';
import { importDeps } from '../../testkit/imports.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { systemClock } from '../base/clock.ts';
import { createProject } from '../flows/create-project.ts';
import { startImporter } from '../worker/importer.ts';

const db = await openTestDatabase(systemClock);
const { id: projectId } = await createProject(db, { name: 'Acme' });
const folder = await mkdtemp(join(tmpdir(), 'beckon-import-'));
afterAll(() => rm(folder, { recursive: true }));

async function beckon(...args: string[]): Promise<Ran> {
  return typed({ db }, ['import', ...args, '--project', String(projectId)]);
}

/** It listens for signals once while a file is checked and again while it is brought in; `act` comes when it begins to for the `nth` time. */
async function beckonUntil(nth: number, act: (signal: () => void) => void, args: string[]): Promise<Ran> {
  let times = 0;
  return typed({ db }, ['import', ...args, '--project', String(projectId)], (listener) => {
    times += 1;
    if (times === nth) act(() => listener('SIGINT'));
    return () => {};
  });
}

async function newest(): Promise<string> {
  const [one] = (await beckon('list', '--json')).json as { id: string }[];
  if (!one) throw new Error('nothing was imported');
  return one.id;
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test('a file is checked and brought in, by the server where one runs and by the command where none does', async () => {
  const users = await file('users.csv', 'ID,Mail,Seats\nada,ada@x.org,3\nbob,nothing,4\n');
  const args = ['users', '--file', users, '--map', 'traits.seats=Seats', '--types', 'traits.seats=text'];
  const alone = await beckon(...args, '--json');
  expect(alone.json).toMatchObject({
    state: 'done',
    progress: { rows: 2, rejected: 1, users: { accepted: 1, new: 1 } },
    mapping: { columns: { Seats: { to: 'traits.seats', type: 'text' } } },
  });
  expect(alone.code).toBe(1);

  const importer = startImporter(importDeps(db));
  const events = await file('events.jsonl', '{"user_id":"ada","event":"opened","message_id":"m1"}\n');
  const dry = await beckon('events', '--file', events, '--dry-run');
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('0 letters will go out') });
  const served = await beckon('events', '--file', events);
  expect(served.out).toContain('Events: 1 new, 0 known\n0 letters went out for it');
  await importer.stop();

  const list = (await beckon('list', '--json')).json as { id: string; state: string }[];
  expect(list.map(({ state }) => state)).toEqual(['done', 'canceled', 'done']);
  expect((await beckon('show', list[0]?.id ?? '')).out).toContain('events.jsonl: done');
});

test('what cannot be brought in is said, and leaves no import that somebody has to end', async () => {
  const noId = await file('no-id.csv', 'mail\nada@x.org\n');
  expect(await beckon('users', '--file', noId)).toMatchObject({
    code: 1,
    err: 'Say which column holds the id of the user\n',
  });
  expect((await beckon('users', '--file', join(folder, 'nothing'))).err).toContain('cannot be read');
  expect((await beckon('users', '--file', noId, '--map', 'x')).err).toContain('field=value');
  expect((await beckon('resume', 'nothing')).err).toContain('This project has no such import');
  const key = await file('key', 'pk_live_public');
  expect((await beckon('stripe', '--key-file', key)).err).toContain('A Stripe key begins with');
  const list = (await beckon('list', '--json')).json as { state: string }[];
  expect(list.filter(({ state }) => state !== 'done' && state !== 'canceled')).toEqual([]);
});

test('one that is stopped before its end ends with 1, also while it is checked; gone on with to its end it ends with 0', async () => {
  const users = await file('good.csv', 'id,mail\ncyd,cyd@x.org\n');
  const args = ['users', '--file', users];
  const unchecked = await beckonUntil(1, (signal) => signal(), args);
  const id = await newest();
  expect(unchecked).toMatchObject({ code: 1, out: expect.stringContaining(': ready') });
  expect(unchecked.err).toContain(`import cancel ${id} --project ${projectId}`);
  expect(unchecked.err).not.toContain('import resume');
  expect((await beckon('cancel', id)).code).toBe(0);
  expect((await beckonUntil(1, (signal) => signal(), [...args, '--dry-run'])).code).toBe(1);
  expect((await beckon('cancel', await newest())).code).toBe(0);

  const paused = await beckonUntil(2, (signal) => signal(), args);
  expect(paused).toMatchObject({ code: 1, out: expect.stringContaining(': paused') });
  const left = await newest();
  expect(paused.err).toContain(`import resume ${left} --project ${projectId}`);
  expect((await beckon('show', left)).code).toBe(0);
  expect(await beckon('resume', left)).toMatchObject({ code: 0, out: expect.stringContaining(': done') });
});

test('one that somebody else ends while it is brought in ends with 1', async () => {
  const users = await file('other.csv', 'id,mail\ndee,dee@x.org\n');
  let ended: Promise<unknown> = Promise.resolve();
  const end = async (): Promise<Ran> => beckon('cancel', await newest());
  const ran = await beckonUntil(2, () => void (ended = end()), ['users', '--file', users]);
  expect(ran).toMatchObject({ code: 1, out: expect.stringContaining(': canceled') });
  expect(await ended).toMatchObject({ code: 0 });
});
