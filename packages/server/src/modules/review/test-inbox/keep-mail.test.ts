import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { idMaker } from '../../../platform/ids.ts';
import { deleteMailBefore, deleteMailBeyond, deleteMailOf as eraseMail } from './store.ts';
import { findMail, listMail, listWholeMailOf } from './reads.ts';
import { keepMail } from './keep-mail.ts';
import type { KeptMail, NewMail } from './mail.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);

let projectId = 0;
beforeEach(() => {
  projectId += 10;
});

const RAW = Buffer.from('Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nTo: Ada <ada@x.test>\r\n\r\nHello\r\n');
const mail = (more: Partial<NewMail> = {}): NewMail => ({
  projectId,
  id: newId(),
  draftId: newId(),
  userId: 'u1',
  mailFrom: 'b+token@x.test',
  rcptTo: 'ada@x.test',
  raw: RAW,
  at: clock.now(),
  ...more,
});
async function keep(more: Partial<NewMail> = {}): Promise<NewMail & { copy: number }> {
  const kept = mail(more);
  return { ...kept, ...(await keepMail(db, kept)) };
}
const list = (more: object = {}): Promise<KeptMail[]> => listMail(db, { projectId, limit: 100, ...more });
const ids = async (more: object = {}): Promise<string[]> => (await list(more)).map(({ id }) => id);

test('stores an email byte for byte and lists its subject', async () => {
  const every = Buffer.concat([RAW, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))]);
  const { raw, ...kept } = await keep({ raw: every });
  const row = { ...kept, copies: 1, subject: 'Grüße', size: every.length };
  expect(await list()).toEqual([row]);
  expect(await findMail(db, { projectId, id: kept.id, copy: 1 })).toEqual({ ...row, raw });
});

test.each([
  ['no mail at all', '\0\0\0', ''],
  ['nothing', '', ''],
  ['a NUL in its subject', 'Subject: =?utf-8?q?a=00b?=\r\n\r\nx', 'a b'],
  ['half a sign in its subject', 'Subject: =?utf-16be?b?2D0AYQ==?=\r\n\r\nx', '\u{FFFD}a'],
  ['a subject in lines', 'Subject: a\r\n b\r\n\r\nx', 'a b'],
  [
    'a subject of a megabyte',
    `Subject: ${'ab '.repeat(350_000)}\r\n\r\nx`,
    'ab '.repeat(400).slice(0, 1_000),
  ],
])('stores an email with %s', async (_, text, subject) => {
  const { id } = await keep({ raw: Buffer.from(text, 'latin1') });
  const found = await findMail(db, { projectId, id, copy: 1 });
  expect(found).toMatchObject({ subject, raw: Buffer.from(text, 'latin1') });
});

test('stores an email that arrives twice as two copies, even at the same time', async () => {
  const first = await keep();
  const other = await keep();
  const again = { ...first, raw: Buffer.from('Subject: again\r\n\r\nx') };
  expect(await keepMail(db, again)).toEqual({ copy: 2 });
  const copies = await Promise.all(Array.from({ length: 5 }, () => keepMail(db, again)));
  expect(copies.map(({ copy }) => copy).toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6, 7]);
  const rows = await list();
  expect(rows).toHaveLength(8);
  for (const { id, copies: count } of rows) expect(count).toBe(id === other.id ? 1 : 7);
  expect(await findMail(db, { projectId, id: first.id, copy: 1 })).toMatchObject({ raw: RAW });
  expect(await findMail(db, { projectId, id: first.id, copy: 2 })).toMatchObject({ raw: again.raw });
  expect(await findMail(db, { projectId, id: first.id, copy: 8 })).toBeUndefined();
});

test('continues after the last item, newest first, even if many arrived at the same time', async () => {
  const all: string[] = [];
  for (let n = 0; n < 9; n += 1) {
    if (n % 4 === 3) clock.advance(1);
    all.unshift((await keep()).id);
  }
  const seen: KeptMail[] = [];
  for (let page = await list({ limit: 2 }); page.length > 0;) {
    seen.push(...page);
    page = await list({ limit: 2, after: seen.at(-1) });
  }
  const order = (a: KeptMail, b: KeptMail): number => b.at - a.at || (a.id < b.id ? 1 : -1);
  expect(seen.map(({ id }) => id)).toEqual(seen.toSorted(order).map(({ id }) => id));
  expect(new Set(seen.map(({ id }) => id))).toEqual(new Set(all));
});

test('finds emails by user and by draft, and never those of another project', async () => {
  const ada = await keep();
  const bob = await keep({ userId: 'bob' });
  const team = await keep({ userId: null, draftId: null });
  await keep({ projectId: projectId + 1, id: ada.id, draftId: ada.draftId });
  expect(await ids({ userId: 'bob' })).toEqual([bob.id]);
  expect(await ids({ draftId: ada.draftId })).toEqual([ada.id]);
  expect(new Set(await ids())).toEqual(new Set([ada.id, bob.id, team.id]));
  expect((await list({ draftId: ada.draftId }))[0]?.copies).toBe(1);
  expect(await findMail(db, { projectId: projectId + 2, id: ada.id, copy: 1 })).toBeUndefined();
});

test('deletes all emails of an erased user, and of no other user', async () => {
  const gone = [await keep(), await keep()];
  await keepMail(db, gone[0] ?? mail());
  const left = await keep({ userId: 'bob' });
  const other = await keep({ projectId: projectId + 1 });
  const whole: number[] = [];
  for await (const page of listWholeMailOf(db, { projectId, userId: 'u1', pageOf: 2 }))
    whole.push(page.length);
  expect(whole).toEqual([2, 1]);
  expect(await eraseMail(db, { projectId, userId: 'u1' })).toBe(3);
  expect(await ids()).toEqual([left.id]);
  expect(await findMail(db, { projectId: projectId + 1, id: other.id, copy: 1 })).toBeDefined();
});

test('deletes emails beyond an age or a number, oldest first and up to the limit', async () => {
  const all: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    all.unshift((await keep()).id);
    clock.advance(1_000);
  }
  const before = clock.now() - 6_000;
  expect(await deleteMailBefore(db, { projectId, before, limit: 1 })).toBe(1);
  expect(await ids()).toEqual(all.slice(0, 7));
  expect(await deleteMailBefore(db, { projectId, before, limit: 5 })).toBe(1);
  expect(await ids()).toEqual(all.slice(0, 6));
  expect(await deleteMailBeyond(db, { projectId, keep: 3, limit: 2 })).toBe(2);
  expect(await deleteMailBeyond(db, { projectId, keep: 3, limit: 2 })).toBe(1);
  expect(await ids()).toEqual(all.slice(0, 3));
  expect(await deleteMailBeyond(db, { projectId, keep: 3, limit: 2 })).toBe(0);
  await expect(keepMail(db, mail({ raw: Buffer.alloc(4 * 1024 * 1024 + 1) }))).rejects.toThrow('up to 4 MB');
});
