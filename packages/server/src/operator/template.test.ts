import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { openEngine } from '../../testkit/engine.ts';
import { putRecords } from '../../testkit/inbox.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { createProject } from '../flows/create-project.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const directory = await mkdtemp(join(tmpdir(), 'beckon-template-'));
afterAll(() => rm(directory, { recursive: true }));

const template = (...args: string[]): Promise<Ran> =>
  typed({ db }, ['template', ...args, '--project', String(projectId)]);

let projectId: number;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const MARKDOWN =
  '---\nname: hello\nsubject: Hi: {{ person.name }}\n\npreheader: Soon\n---\nHello {{ person.town }}\n';
const MJML =
  '<mjml><mj-head><mj-title>Tea &amp; {{ person.name | default: "you" }}</mj-title><mj-preview>Soon</mj-preview></mj-head>' +
  '<mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>';

test('a letter is made from a file of each kind, shown, changed, previewed and deleted', async () => {
  const made = await template('create', '--file', await file('a.md', MARKDOWN));
  expect(made.err).toBe('');
  expect(made.out).toMatch(/^Letter hello has the id [\w-]{36}; version 1 is published\n$/);
  const shown = await template('show', '--template', 'hello', '--json');
  expect(shown.json).toMatchObject({
    name: 'hello',
    format: 'markdown',
    subject: 'Hi: {{ person.name }}',
    preheader: 'Soon',
    body: 'Hello {{ person.town }}\n',
    variables: [
      { name: 'person.name', holds: true },
      { name: 'person.town', holds: true },
    ],
  });
  const changed = await template(
    'update',
    '--template',
    'hello',
    '--file',
    await file('b.mjml', MJML),
    '--subject',
    'Mine',
    '--json',
  );
  expect(changed.json).toMatchObject({ name: 'hello', version: 2, drafts: 0 });
  expect((await template('show', '--template', 'hello', '--json')).json).toMatchObject({
    format: 'mjml',
    subject: 'Mine',
    preheader: 'Soon',
    versions: [{ version: 2, published_by: 'operator' }, { version: 1 }],
  });
  const json = await file('c.json', JSON.stringify({ subject: 'Three', body: 'B' }));
  expect((await template('create', '--template', 'third', '--file', json)).code).toBe(0);
  const list = await template('list');
  expect(list.out).toMatch(/hello +2 +own/);
  expect(list.out).toMatch(/welcome +- +shipped +welcome/);
  expect((await template('delete', '--template', 'hello')).out).toBe('Letter hello is deleted\n');
  expect((await template('show', '--template', 'hello')).err).toContain('There is no letter "hello"');
});

test('a title in MJML is the subject, with its signs', async () => {
  await template('create', '--template', 'tea', '--file', await file('d.mjml', MJML));
  expect((await template('preview', '--template', 'tea', '--json')).json).toMatchObject({
    subject: 'Tea & Ada',
    preheader: 'Soon',
  });
});

test('a preview says what leaves, how large it is and what would hold it, and writes the HTML', async () => {
  await template('create', '--file', await file('a.md', MARKDOWN));
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: 'ada', traits: { name: 'Ada' } }],
  });
  await engine.settle();
  const html = join(directory, 'out.html');
  const { out, code } = await template('preview', '--template', 'hello', '--user', 'ada', '--html', html);
  expect(code).toBe(0);
  expect(out).toContain('To ada, about user_signed_up\n\nSubject: Hi: Ada\nPreheader: Soon\n\nHello\n');
  expect(out).toMatch(
    /[\d,]+ bytes of HTML, \d+ of text\n\nIt would be held: nothing is known of person\.town\n$/,
  );
  expect(await readFile(html, 'utf8')).toContain('<title>Hi: Ada</title>');
  const change = await file('e.json', JSON.stringify({ body: '[x](javascript:1)' }));
  expect((await template('preview', '--template', 'hello', '--file', change)).out).toContain(
    'is left out: a letter links to',
  );
  expect((await template('preview')).err).toContain('Say which letter');
  expect((await template('preview', '--template', 'hello', '--user', 'bob')).code).toBe(1);
});

test('what cannot be a letter is refused with the place', async () => {
  const bad = await template(
    'create',
    '--template',
    'x',
    '--file',
    await file('f.md', 'Hi {{ user.name }}'),
    '--subject',
    'a',
  );
  expect(bad).toMatchObject({
    code: 1,
    err: expect.stringContaining('body: line 1, column 7: "user" is not known') as string,
  });
  const none = await template('create', '--template', 'x', '--file', await file('g.md', 'Hi'));
  expect(none.err).toBe('subject is required\n');
  expect((await template('create', '--template', 'x', '--file', '/nowhere/x.md')).err).toContain(
    'cannot be read',
  );
  expect((await template('create', '--template', 'x', '--file', await file('h.json', '[]'))).err).toContain(
    'A letter is an object',
  );
});
