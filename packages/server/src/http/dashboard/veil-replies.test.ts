import { afterAll, expect, test } from 'vitest';
import { testDashboard } from '../../../testkit/dashboard.ts';
import { answer, openInbound, sendTo } from '../../../testkit/inbound.ts';
import { newVerifiedStory, openMailStage } from '../../../testkit/mail-stage.ts';

const stage = await openMailStage();
const { db } = stage.server;
const { talk } = await openInbound(stage);
const story = await newVerifiedStory(stage);
await story.set({ reply_forward_to: 'team@acme.test' });
const { projectId } = story;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const SEAL = /[a-z2-7]{34}\.[a-z2-7]{16}/i;

test('an answer that is a quotation alone shows nobody what the letter lets its recipient do', async () => {
  const ada = await sendTo(story, 'ada', 'ada@home.test');
  const body = `> Read this\r\n> or stop: https://beckon.acme.test/u/${SEAL.exec(ada.unsubscribeTo)?.[0]}`;
  const raw = answer({ from: ada.email, to: ada.replyTo, body });
  expect((await talk.hand({ from: ada.email, to: [ada.replyTo], raw })).data).toMatch(/^250 /);
  const [reply] = await db.query<{ id: string; message_id: string; draft_id: string }>(
    `SELECT id, message_id, draft_id FROM beckon.reply WHERE project_id = $1`,
    [projectId],
  );
  const places = [
    '/replies',
    `/replies/${reply?.id}`,
    `/deliveries/${reply?.message_id}`,
    `/drafts/${reply?.draft_id}/context`,
    '/users/ada/timeline',
  ];
  for (const place of places) {
    const { status, text } = await dashboard.ask(`GET /projects/${projectId}${place}`, { as: 'viewer' });
    expect([place, status, text.includes('/u/veiled'), SEAL.test(text)]).toEqual([place, 200, true, false]);
  }
  const told = await db.query<{ told: string }>(
    `SELECT detail::text AS told FROM beckon.outcome WHERE project_id = $1 AND type = 'email.replied'
     UNION ALL SELECT body FROM beckon.webhook_message WHERE project_id = $1 AND type = 'email.replied'`,
    [projectId],
  );
  expect(told.map((one) => SEAL.test(one.told))).toEqual(told.map(() => false));
  expect(told.length).toBeGreaterThan(0);
});
