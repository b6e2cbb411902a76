import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { goodLetter } from '../../testkit/good-letter.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { idMaker } from '../base/ids.ts';
import { keepMail } from '../features/test-inbox/index.ts';
import { createProject } from '../flows/create-project.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const directory = await mkdtemp(join(tmpdir(), 'beckon-outbox-'));
afterAll(() => rm(directory, { recursive: true }));

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

/** A command as it is typed, for this test's project. */
const outbox = (...args: string[]): Promise<Ran> =>
  typed({ db }, ['outbox', ...args, '--project', String(projectId)]);

async function keep(
  userId: string | null = 'ada',
  text = '',
): Promise<{ id: string; draftId: string; raw: Buffer }> {
  const raw = await goodLetter({ date: new Date(db.clock.now()), ...(text === '' ? {} : { subject: text }) });
  const [id, draftId] = [newId(), newId()];
  const envelope = { mailFrom: 'b+t@acme.test', rcptTo: 'ada@x.test', at: db.clock.now() };
  await keepMail(db, { projectId, id, draftId, userId, ...envelope, raw });
  clock.advance(1_000);
  return { id, draftId, raw };
}

test('an empty outbox says so, and what to do next', async () => {
  expect((await outbox('list')).out).toMatch(/no such letter.*SMTP_URL(.|\n)*draft list/);
  expect((await outbox('list', '--json')).json).toEqual([]);
});

test('letters are listed, the newest first, under the names of the interface', async () => {
  const at = new Date(db.clock.now()).toISOString();
  const { id, draftId, raw } = await keep();
  const newer = await keep('bob');
  const row = {
    to: 'ada@x.test',
    subject: 'Three steps are left',
    mail_from: 'b+t@acme.test',
    copy: 1,
    copies: 1,
  };
  const all = (await outbox('list', '--json')).json;
  expect(all).toMatchObject([{ id: newer.id }, { id }]);
  expect((await outbox('list', '--user', 'ada', '--json')).json).toEqual([
    { ...row, id, draft_id: draftId, at, external_user_id: 'ada', size: raw.length },
  ]);
  expect((await outbox('list', '--draft', newer.draftId, '--json')).json).toMatchObject([{ id: newer.id }]);
  expect((await outbox('list', '--limit', '1', '--json')).json).toMatchObject([{ id: newer.id }]);
  expect((await outbox('list', '--user', 'nul\0', '--json')).json).toEqual([]);
  for (const [name, value] of [
    ['draft', 'x'],
    ['limit', '0'],
    ['limit', '1e9'],
  ] as const)
    expect((await outbox('list', `--${name}`, value)).code).toBe(2);
});

test('a letter is shown whole: raw, HTML, text and what is wrong with it', async () => {
  const { id, raw } = await keep();
  const shown = (await outbox('show', '--message', id, '--json')).json;
  expect(shown).toMatchObject({ id, raw: raw.toString('utf8'), subject: 'Three steps are left' });
  expect(shown).toHaveProperty('html', expect.stringContaining('<title>Acme'));
  expect(shown).toHaveProperty('text', expect.stringContaining('Hello Ada'));
  expect(shown).toHaveProperty(
    'checks',
    expect.arrayContaining([expect.objectContaining({ name: 'dkim', status: 'warning' })]),
  );
  expect((await outbox('show', '--message', id, '--raw')).out).toBe(`${raw.toString('utf8')}\n`);
  expect((await outbox('show', '--message', id, '--text')).out).toMatch(/^Hello Ada/);
  const file = join(directory, 'email.html');
  expect((await outbox('show', '--message', id, '--html', file)).out).toContain(file);
  expect(await readFile(file, 'utf8')).toContain('<title>Acme');
  const { out } = await outbox('show', '--message', id);
  expect(out).toMatch(/WARNING +dkim +It is not signed/);
  expect(out).toMatch(/ok +links/);
  const none = await outbox('show', '--message', newId());
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('outbox list') as string });
});

test('a letter that arrived twice stands there twice, and it is said that this must not be', async () => {
  const { id, draftId, raw } = await keep();
  const envelope = { mailFrom: 'b+t@acme.test', rcptTo: 'ada@x.test', at: db.clock.now() };
  await keepMail(db, { projectId, id, draftId, userId: 'ada', ...envelope, raw });
  expect((await outbox('list', '--json')).json).toMatchObject([
    { id, copy: 2, copies: 2 },
    { id, copy: 1 },
  ]);
  expect((await outbox('list')).out).toMatch(/2 of 2(.|\n)*more than once/);
  expect((await outbox('show', '--message', id, '--copy', '2', '--json')).json).toMatchObject({ copy: 2 });
});

test('nothing that a letter holds moves the cursor of whoever looks at it', async () => {
  const { id } = await keep('ada', 'Plain');
  const raw = Buffer.from('Subject: =?utf-8?q?=1B[2Jx?=\r\n\r\nHello \u001B[2J\u009B3J you\r\n');
  const envelope = { mailFrom: 'b+t@acme.test', rcptTo: 'a@x.test', at: db.clock.now(), draftId: null };
  await keepMail(db, { projectId, id, userId: null, ...envelope, raw });
  for (const args of [['list'], ['show', '--message', id, '--copy', '2']])
    expect((await outbox(...args)).out).not.toMatch(/(?!\n)\p{Cc}/u);
});

test('the outbox is cleared of all, or of what is older', async () => {
  await keep();
  clock.advance(8 * 86_400_000);
  const { id } = await keep();
  expect((await outbox('clear', '--older', '7d', '--json')).json).toEqual({ cleared: 1 });
  expect((await outbox('list', '--json')).json).toMatchObject([{ id }]);
  expect((await outbox('clear', '--older', 'soon')).code).toBe(2);
  expect((await outbox('clear')).out).toBe('1 letter was forgotten\n');
  expect((await outbox('list', '--json')).json).toEqual([]);
});
