import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findText } from '../../testkit/find-text.ts';
import { newStory, openStage, type Story } from '../../testkit/story.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { createSuppressionHasher } from '../features/suppressions/index.ts';

const stage = await openStage();
const { db } = stage.server;
const folder = await mkdtemp(join(tmpdir(), 'beckon-lists-'));
afterAll(() => rm(folder, { recursive: true }));

const OTHER_INSTALLATION = createSuppressionHasher(Buffer.alloc(32, 9));

let story: Story;
let EMAIL = '';
beforeEach(async () => {
  story = await newStory(stage);
  EMAIL = `needle${story.projectId}@x.org`;
});

const on = (args: string[], more: Parameters<typeof typed>[0] = { db }): Promise<Ran> =>
  typed(more, [...args, '--project', String(story.projectId)]);
const suppression = (...args: string[]): Promise<Ran> => on(['suppression', ...args]);
const listed = async (...args: string[]) =>
  (await suppression('list', '--json', ...args)).json as Record<string, unknown>[];

async function eraseAda(): Promise<void> {
  await story.user('ada', { email: EMAIL });
  await stage.engine.settle();
  await suppression('add', '--email', EMAIL, '--reason', 'unsubscribed');
  await suppression('add', '--email', EMAIL, '--reason', 'manual');
  expect((await on(['user', 'erase', '--user', 'ada'])).code).toBe(0);
}

async function exported(): Promise<string> {
  const path = join(folder, `${story.projectId}.csv`);
  await writeFile(path, (await suppression('export')).out);
  return path;
}
const forgetAll = (): Promise<unknown> =>
  db.query(`DELETE FROM beckon.suppression WHERE project_id = $1`, [story.projectId]);

describe('suppression list', () => {
  test('shows a row without an address, finds it by the address, and filters erased users', async () => {
    await eraseAda();
    await suppression('add', '--email', 'bob@x.org');
    expect((await suppression('list')).out).toMatch(/email +an erased user +unsubscribed/);
    const [row, ...more] = await listed('--email', EMAIL.toUpperCase());
    expect(row).toMatchObject({ kind: 'email', value: null, from_erased: true, reason: 'unsubscribed' });
    expect(more).toEqual([]);
    expect(await listed('--erased')).toEqual([row]);
    expect(await listed()).toHaveLength(2);
  });
});

describe('suppression remove', () => {
  test('lifts the hash of an erased user for whoever types the address', async () => {
    await eraseAda();
    expect((await suppression('remove', '--email', EMAIL)).err).toContain('is suppressed: unsubscribed');
    expect((await suppression('remove', '--email', EMAIL, '--yes')).code).toBe(0);
    expect(await listed()).toEqual([]);
    expect((await suppression('remove', '--email', EMAIL, '--yes')).err).toContain('it was, unsubscribed');
    expect(await findText(db, [EMAIL])).toEqual([]);
  });
});

describe('suppression export and import', () => {
  test('carry the hash and the id of its key, and import it where the key is', async () => {
    await eraseAda();
    const before = await listed();
    const path = await exported();
    const lines = join(folder, `${story.projectId}.ndjson`);
    await suppression('export', '--format', 'ndjson', '--file', lines);
    const [line = ''] = (await readFile(lines, 'utf8')).split('\n');
    expect(JSON.parse(line)).toMatchObject({
      email: null,
      user: null,
      reason: 'unsubscribed',
      hash: expect.stringMatching(/^email:[0-9a-f]{64}$/),
      hash_key: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    await forgetAll();
    const ran = await suppression('import', '--file', path, '--json');
    expect(ran.json).toMatchObject({ rows: 2, added: 1, known: 1, refused: 0 });
    expect(await listed()).toMatchObject([
      { hash: before[0]?.['hash'], value: null, from_erased: true, reason: 'unsubscribed' },
    ]);
    expect(await suppression('export')).toMatchObject({ out: expect.stringMatching(/manual/) });
    // A list that comes twice changes nothing.
    expect((await suppression('import', '--file', path, '--json')).json).toMatchObject({
      added: 0,
      known: 2,
    });
  });

  test('refuse a hash of another installation or project, and import the rest', async () => {
    await eraseAda();
    await suppression('add', '--email', 'bob@x.org');
    const path = await exported();
    await forgetAll();
    const elsewhere = { db, hasher: OTHER_INSTALLATION };
    const ran = await on(['suppression', 'import', '--file', path, '--json'], elsewhere);
    expect(ran).toMatchObject({ code: 1, json: { added: 1, refused: 2 } });
    const { troubles } = ran.json as { troubles: { line: number; field: string; message: string }[] };
    expect(troubles[0]).toMatchObject({ field: 'hash_key' });
    expect(troubles[0]?.message).toContain('can only be imported into the project of the installation');
    story = await newStory(stage);
    expect((await suppression('import', '--file', path, '--json')).json).toMatchObject({
      added: 1,
      refused: 2,
    });
  });

  test('refuse a hash that is not one, or has no key', async () => {
    const path = join(folder, 'wrong.csv');
    const hash = 'ab'.repeat(32);
    await writeFile(path, `hash,hash_key\nemail:${hash.toUpperCase()},x\n${hash},x\nuser:${hash},\n`);
    const { json } = await suppression('import', '--file', path, '--json');
    const { troubles } = json as { troubles: { field: string }[] };
    expect(troubles.map(({ field }) => field)).toEqual(['hash', 'hash', 'hash_key']);
  });

  test('ignore a column named hash beside addresses', async () => {
    const path = join(folder, 'foreign.csv');
    await writeFile(path, 'email,hash\nada@x.org,d41d8cd98f\n');
    const { json } = await suppression('import', '--file', path, '--json');
    expect(json).toMatchObject({ added: 1, refused: 0 });
  });

  test('suppress a user who already has the address of an imported hash, and end what is under way', async () => {
    await eraseAda();
    const path = await exported();
    await forgetAll();
    await story.user('eve', { email: EMAIL });
    await story.event('eve', 'user_signed_up');
    await stage.engine.settle();
    expect(await story.drafts('eve')).toMatchObject([{ state: 'scheduled' }]);
    const ran = await suppression('import', '--file', path, '--json');
    expect(ran.json).toMatchObject({ added: 1, drafts: 1, runs: 1 });
    expect(await story.drafts('eve')).toMatchObject([{ state: 'canceled', reason: 'suppressed' }]);
    expect(await listed()).toMatchObject([{ value: EMAIL, from_erased: true }]);
  });

  test('suppress a user who comes after the import', async () => {
    await eraseAda();
    const path = await exported();
    await forgetAll();
    // Processing reads the project's definitions again, at a moment at which it keeps no hashes.
    const steps = [{ draft: { subject: 'Hello', body: 'You' } }];
    await story.rule({ name: 'greeter', when: { event: 'hello' }, steps });
    await story.user('bob', { email: 'bob@x.org' });
    await stage.engine.settle();
    await suppression('import', '--file', path);
    await story.user('eve', { email: EMAIL });
    await stage.engine.settle();
    expect(await listed()).toMatchObject([{ value: EMAIL, from_erased: true }]);
  });

  test('merge a typed list with the hash of the same address', async () => {
    await eraseAda();
    const path = join(folder, 'typed.csv');
    await writeFile(path, `email,reason\n${EMAIL},hard_bounce\n`);
    const tried = await suppression('import', '--file', path, '--json', '--dry-run');
    expect(tried.json).toMatchObject({ added: 0, known: 1 });
    expect(await listed()).toMatchObject([{ value: null }]);
    await suppression('import', '--file', path);
    expect(await listed()).toMatchObject([{ value: EMAIL, reason: 'unsubscribed', from_erased: true }]);
  });
});
