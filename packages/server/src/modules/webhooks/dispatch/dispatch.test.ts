import { afterAll, expect, test } from 'vitest';
import { webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { listProjectsWithNews } from '../../review/digest-reads.ts';
import type { TeamEmail } from '../../delivery/team-email.ts';
import { updateDisabled } from '../endpoints/store.ts';
import { SETTLED_MS, sendTeamDigest } from '../../review/send-team-digest.ts';

const stage = await webhookStage();
const { db, clock, hooks } = stage;
afterAll(() => stage.close());

const HOUR = 3_600_000;

/** Returns the current notification of the team, if any; `isDue`: true if the project is due for a notification. */
async function teamNotification(projectId: number): Promise<{ text: string | null; isDue: boolean }> {
  const emails: TeamEmail[] = [];
  const submit = async (_: number, email: TeamEmail): Promise<void> => void emails.push(email);
  const projects = await listProjectsWithNews(db, { now: db.clock.now(), after: 0, limit: 100 });
  await sendTeamDigest(db, { projectId, publicUrl: 'http://localhost', submit });
  return { text: emails[0]?.text ?? null, isDue: projects.includes(projectId) };
}

test('notifies the team once of an endpoint that is gone, even if no draft waits', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/gone');
  expect(await teamNotification(projectId)).toEqual({ text: null, isDue: false });
  hooks.setReply(() => ({ status: 410 }));
  await stage.queue(projectId);
  await stage.settle();
  clock.advance(SETTLED_MS);
  const { text, isDue } = await teamNotification(projectId);
  expect(isDue).toBe(true);
  expect(text).toContain(`${hooks.url('/gone')} responded with 410 Gone`);
  clock.advance(HOUR);
  expect((await teamNotification(projectId)).text).toBeNull();
});

test('reports an answer from before a notification that is recorded after it in the next one', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/early', { types: ['email.clicked'] });
  await stage.endpoint(projectId, '/late', { types: ['email.opened'] });
  hooks.setReply(() => ({ status: 410 }));
  await stage.queue(projectId, 1, { type: 'email.clicked' });
  await stage.settle();
  await stage.queue(projectId);
  await stage.delivery.round();
  await stage.delivery.whenIdle();
  clock.advance(SETTLED_MS);
  expect((await teamNotification(projectId)).text).toContain(hooks.url('/early'));
  clock.advance(1);
  await stage.settle();
  clock.advance(HOUR);
  expect((await teamNotification(projectId)).text).toContain(hooks.url('/late'));
});

test('reports a change that is dated before a notification and committed after it once', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/first', { types: ['email.clicked'] });
  const { id: endpointId } = await stage.endpoint(projectId, '/second', { types: ['email.opened'] });
  hooks.setReply(() => ({ status: 410 }));
  await stage.queue(projectId, 1, { type: 'email.clicked' });
  await stage.settle();
  clock.advance(SETTLED_MS);
  await db.transaction(async (tx) => {
    await updateDisabled(tx, { projectId, endpointId, at: db.clock.now(), reason: 'gone' });
    clock.advance(1);
    expect((await teamNotification(projectId)).text).not.toContain(hooks.url('/second'));
  });
  clock.advance(HOUR);
  const { text } = await teamNotification(projectId);
  expect(text).toContain(hooks.url('/second'));
  expect(text).not.toContain(hooks.url('/first'));
  clock.advance(HOUR);
  expect((await teamNotification(projectId)).text).toBeNull();
});

test('notifies after one day that an endpoint fails, and after five that it is disabled', async () => {
  const projectId = await stage.project();
  await stage.endpoint(projectId, '/fails');
  hooks.setReply(() => ({ status: 500 }));
  for (let hour = 0; hour < 23; hour += 4) {
    await stage.queue(projectId);
    await stage.advance(4 * HOUR);
  }
  const news: string[] = [];
  for (let hour = 23; hour < 130; hour += 4) {
    const { text } = await teamNotification(projectId);
    if (text !== null) news.push(text);
    await stage.queue(projectId);
    await stage.advance(4 * HOUR);
  }
  expect(news).toEqual([
    expect.stringMatching(/has accepted no webhook since .* It is disabled after 5 days/),
    expect.stringContaining('accepted no webhook for 5 days and was disabled'),
  ]);
});
