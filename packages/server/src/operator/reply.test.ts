import { beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';
import { idMaker } from '../base/ids.ts';
import { insertReply, type NewReply } from '../features/replies/index.ts';
import { createProject } from '../flows/create-project.ts';

const clock = heldClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const reply = (...args: string[]): Promise<Ran> =>
  typed({ db }, ['reply', ...args, '--project', String(projectId)]);

async function keep(changed: Partial<NewReply> = {}): Promise<NewReply> {
  clock.advance(1_000);
  const kept: NewReply = {
    projectId,
    id: newId(),
    messageId: newId(),
    draftId: newId(),
    userId: 'ada',
    inboundId: newId(),
    kind: 'reply',
    verified: 'recipient',
    receivedAt: clock.now(),
    fromAddress: 'ada@home.test',
    fromName: 'Ada',
    subject: 'Re: Welcome',
    text: 'Thanks!\n\nAda',
    raw: Buffer.from('x'),
    forwardAt: clock.now(),
    ...changed,
  };
  expect(await insertReply(db, kept)).toBe('new');
  return kept;
}

test('without answers it is said what they take', async () => {
  expect((await reply('list')).out).toMatch(/reply_forward_to(.|\n)*MAIL_DOMAIN/);
  expect((await reply('list', '--json')).json).toEqual([]);
});

test('answers are listed, the newest first, under the names of the interface; of one user where asked', async () => {
  const first = await keep();
  const second = await keep({ userId: 'bob', kind: 'auto_reply', forwardAt: null, raw: null });
  const { json } = await reply('list', '--json');
  expect(json).toMatchObject([
    { id: second.id, external_user_id: 'bob', auto_reply: true },
    { id: first.id },
  ]);
  expect((json as unknown[])[1]).toEqual({
    id: first.id,
    draft_id: first.draftId,
    email_id: first.messageId,
    external_user_id: 'ada',
    at: new Date(first.receivedAt).toISOString(),
    from: 'ada@home.test',
    from_name: 'Ada',
    subject: 'Re: Welcome',
    auto_reply: false,
    verified: 'recipient',
    forwarded_at: null,
    forward_at: new Date(first.receivedAt).toISOString(),
    forward_error: null,
    text: 'Thanks!\n\nAda',
  });
  expect((await reply('list', '--user', 'ada', '--json')).json).toHaveLength(1);
  expect((await reply('list', '--user', 'no\0body', '--json')).json).toEqual([]);
  expect((await reply('list', '--limit', '1', '--json')).json).toHaveLength(1);
});

test('one is shown with all that was answered to its letter, and nothing in it moves a terminal', async () => {
  const first = await keep({ text: 'One\u001b[2J' });
  const second = await keep({ messageId: first.messageId, text: 'Two' });
  const { out } = await reply('show', '--reply', second.id.toUpperCase());
  expect(out).toMatch(/One(.|\n)*Ada <ada@home\.test>(.|\n)*Two/);
  expect(out).not.toContain('\u001b');
  const { json } = await reply('show', '--reply', second.id, '--json');
  expect(json).toMatchObject({ id: second.id, thread: [{ id: first.id }, { id: second.id }] });
});

test.each(['nothing', '019b0000-0000-7000-8000-000000000000'])('there is no answer %s', async (id) => {
  const { err, code } = await reply('show', '--reply', id);
  expect([err, code]).toEqual([expect.stringContaining('reply list shows them'), 1]);
});

test('an answer is handed on once more where a person says so, unless it is no answer of theirs', async () => {
  const { id } = await keep({ forwardAt: null });
  clock.advance(5_000);
  const toNobody = await reply('forward', '--reply', id);
  expect([toNobody.code, toNobody.err]).toEqual([
    1,
    expect.stringContaining('settings set reply_forward_to'),
  ]);
  await typed({ db }, ['settings', 'set', '--project', String(projectId), 'reply_forward_to=team@acme.test']);
  expect((await reply('forward', '--reply', id, '--json')).json).toEqual({
    id,
    forward_at: new Date(clock.now()).toISOString(),
  });
  const failed = await keep({ verified: 'failed', forwardAt: null });
  expect((await reply('forward', '--reply', failed.id)).code).toBe(1);
});

test('another project sees none of it', async () => {
  const { id } = await keep();
  projectId = (await createProject(db, { name: 'Other' })).id;
  expect((await reply('list', '--json')).json).toEqual([]);
  expect((await reply('show', '--reply', id)).code).toBe(1);
});
