import { afterAll, expect, test } from 'vitest';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { recipientReply, dsn, openInbound, sendTo } from '../../../../testing/factories/inbound-email.ts';
import { newVerifiedScenario, openMailStage } from '../../../../testing/factories/mail-stage.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { relayTransport } from '../../delivery/relay-transport.ts';
import { refusal, type SendResult, unreachable } from '../../../platform/mail/send-result.ts';
import { classifyReply } from '../../outcomes/bounces/classify-reply.ts';

const stage = await openMailStage();
const { db } = stage.server;
const { talk } = await openInbound(stage);
const scenario = await newVerifiedScenario(stage);
await scenario.set({ reply_forward_to: 'team@acme.test' });
let { projectId } = scenario;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const SEAL = /[a-z2-7]{34}\.[a-z2-7]{16}/i;

test('redacts the links of an email that a reply quotes, even without other text', async () => {
  const ada = await sendTo(scenario, 'ada', 'ada@home.test');
  const body = `> Read this\r\n> or stop: https://beckon.acme.test/u/${SEAL.exec(ada.unsubscribeTo)?.[0]}`;
  const raw = recipientReply({ from: ada.email, to: ada.replyTo, body });
  expect((await talk.submit({ from: ada.email, to: [ada.replyTo], raw })).data).toMatch(/^250 /);
  const [reply] = await db.query<{ id: string; email_id: string; draft_id: string }>(
    `SELECT id, email_id, draft_id FROM beckon.reply WHERE project_id = $1`,
    [projectId],
  );
  const paths = [
    '/replies',
    `/replies/${reply?.id}`,
    `/emails/${reply?.email_id}`,
    `/drafts/${reply?.draft_id}/context`,
    '/users/ada/timeline',
  ];
  for (const path of paths) {
    const { status, text } = await dashboard.request(`GET /projects/${projectId}${path}`, { as: 'viewer' });
    expect([path, status, text.includes('/u/redacted'), SEAL.test(text)]).toEqual([path, 200, true, false]);
  }
  const payload = await db.query<{ payload: string }>(
    `SELECT detail::text AS payload FROM beckon.outcome WHERE project_id = $1 AND type = 'email.replied'
     UNION ALL SELECT body FROM beckon.webhook WHERE project_id = $1 AND type = 'email.replied'`,
    [projectId],
  );
  expect(payload.map((row) => SEAL.test(row.payload))).toEqual(payload.map(() => false));
  expect(payload.length).toBeGreaterThan(0);
});

/** Expects redaction wherever the email is read, and in its outcomes and webhooks. */
async function expectRedacted(userId: string): Promise<void> {
  const [message] = await db.query<{ id: string; draft_id: string }>(
    `SELECT id, draft_id FROM beckon.email WHERE project_id = $1 AND external_user_id = $2`,
    [projectId, userId],
  );
  const paths = [
    '/emails',
    `/emails/${message?.id}`,
    `/drafts/${message?.draft_id}`,
    `/drafts/${message?.draft_id}/context`,
    `/users/${userId}/timeline`,
  ];
  const texts: string[] = [];
  for (const path of paths) {
    const { status, text } = await dashboard.request(`GET /projects/${projectId}${path}`, { as: 'viewer' });
    expect([path, status]).toEqual([path, 200]);
    texts.push(text);
  }
  const kept = await db.query<{ kept: string }>(
    `SELECT detail::text AS kept FROM beckon.outcome WHERE project_id = $1 AND external_user_id = $2
     UNION ALL SELECT body FROM beckon.webhook WHERE project_id = $1 AND external_user_id = $2
     UNION ALL SELECT detail::text FROM beckon.draft_move WHERE project_id = $1 AND draft_id = $3
     UNION ALL SELECT reply FROM beckon.email WHERE project_id = $1 AND draft_id = $3 AND reply IS NOT NULL`,
    [projectId, userId, message?.draft_id],
  );
  expect([...texts, ...kept.map((entry) => entry.kept)].filter((entry) => SEAL.test(entry))).toEqual([]);
  expect(kept.some((row) => row.kept.includes('redacted@'))).toBe(true);
}

test('redacts the signed sender that a bounce names, so that no reader can send another bounce', async () => {
  const cid = await sendTo(scenario, 'cid', 'cid@home.test');
  const raw = dsn({ recipient: cid.email, diagnostic: `smtp; 550 5.1.1 <${cid.bounceTo}>: no such user` });
  expect((await talk.submit({ to: [cid.bounceTo], raw })).data).toMatch(/^250 /);
  await expectRedacted('cid');
});

test.each<[string, (from: string) => SendResult]>([
  [
    'refuses an email',
    (from) => refusal({ stage: 'rcpt', code: 550, reply: `550 5.1.1 no ${from}` }, classifyReply),
  ],
  [
    'defers it',
    (from) => refusal({ stage: 'rcpt', code: 450, reply: `450 4.2.1 no ${from}` }, classifyReply),
  ],
  ['accepts it', (from) => ({ result: 'sent', reply: `250 2.1.0 ok ${from}`, relayId: null })],
  ['is lost', (from) => unreachable('data', `closed for ${from}`)],
])(
  'redacts the signed sender in the reply of a server that %s, so that no reader can send a bounce',
  async (_, says) => {
    const verifiedScenario = await newVerifiedScenario(stage);
    ({ projectId } = verifiedScenario);
    const relay = {
      slots: 1,
      close: () => Promise.resolve(),
      submit: ({ from }: { from: string }) => Promise.resolve(says(from)),
    };
    const transport = relayTransport({ relay, now: () => stage.server.clock.now() });
    stage.engine.transport.setResult((email) => transport.submit(email));
    await verifiedScenario.user('bea', { email: 'bea@home.test' });
    await verifiedScenario.event('bea', 'user_signed_up');
    await verifiedScenario.later(HOUR);
    await expectRedacted('bea');
  },
);
