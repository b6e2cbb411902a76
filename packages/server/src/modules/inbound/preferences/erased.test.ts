import { afterAll, expect, test } from 'vitest';
import { choicesServer, linkOf } from '../../../../testkit/choices.ts';
import { HOUR } from '../../../../testkit/drafts.ts';
import { findText } from '../../../../testkit/find-text.ts';
import { testHasher } from '../../../../testkit/hasher.ts';
import { newStory, openStage, type Story } from '../../../../testkit/story.ts';
import { idMaker } from '../../../platform/ids.ts';
import { listSuppressions } from '../../sending/suppressions/reads.ts';
import { setTopicUnsubscribes } from '../../sending/suppressions/store.ts';
import { erasePerson } from '../../profiles/erase-user.ts';

const stage = await openStage();
const { db } = stage.server;
const server = await choicesServer(db);
afterAll(() => server.stop());

const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' };

async function mail(story: Story, userId: string, email: string): Promise<string> {
  await story.user(userId, { email });
  await story.event(userId, 'hello');
  await story.later(3 * HOUR);
  return linkOf(story, userId);
}

const erase = ({ projectId }: Story, userId: string) =>
  erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId });

async function greeting(): Promise<Story> {
  const story = await newStory(stage);
  await story.set({ quiet_hours: 'off', frequency_cap: 'off', topics: 'tips:Tips' });
  const steps = [{ draft: { subject: 'Hello', body: 'Hello.' } }];
  await story.rule({ name: 'greeter', when: { event: 'hello' }, steps });
  return story;
}

test('answers 200 for an unsubscribe link of an erased user, and writes no address', async () => {
  const story = await greeting();
  const email = 'needle.one@x.org';
  const link = await mail(story, 'u1', email);
  expect(await server.press(link, ONE_CLICK)).toBe(200);
  await erase(story, 'u1');
  const kept = await listSuppressions(db, { projectId: story.projectId, limit: 10 });
  expect(kept.map(({ kind }) => kind)).toEqual(['email_hash', 'user_hash']);
  for (const path of [link, `${link}/topics`, `${link}/resubscribe`])
    expect(await server.press(path, { ...ONE_CLICK, topic: 'tips' })).toBe(200);
  expect(await listSuppressions(db, { projectId: story.projectId, limit: 10 })).toEqual(kept);
  expect(await findText(db, [email])).toEqual([]);
});

test('lets a user with the address of an erased user lift its suppression on the preferences page', async () => {
  const story = await greeting();
  const email = 'needle.two@x.org';
  await mail(story, 'u1', email);
  const targets = [{ projectId: story.projectId, kind: 'email' as const, value: email }];
  await setTopicUnsubscribes(db, { targets, refused: ['tips'], accepted: [], at: story.now() });
  await erase(story, 'u1');
  const link = await mail(story, 'u2', email);
  const refused = () =>
    db.query(`SELECT kind, topic FROM beckon.topic_unsubscribe WHERE project_id = $1`, [story.projectId]);
  expect(await refused()).toEqual([{ kind: 'email', topic: 'tips' }]);
  expect(await server.press(`${link}/topics`, { topic: 'tips' })).toBe(200);
  expect(await refused()).toEqual([]);
});
