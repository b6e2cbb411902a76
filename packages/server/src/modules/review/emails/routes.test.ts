import { afterAll, beforeEach, expect, test } from 'vitest';
import type { EmailListed, EmailWhole } from '@beckon/contract/dashboard';
import {
  type OutcomeScenario,
  bounced,
  CLICKED,
  COMPLAINED,
  emailsRule,
  BOT_OPENED,
  newOutcomeScenario,
  OPENED,
  REPLIED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { type DashboardRequestOptions, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { goodEmail } from '../../../../testing/factories/outgoing-email.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { addHits } from '../../inbound/tracking/tracker.ts';
import type { OutcomeData } from '../../outcomes/outcome.ts';
import { packMime } from '../../delivery/pack-mime.ts';
import { createProject } from '../../administration/create-project.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let scenario: OutcomeScenario;
beforeEach(async () => {
  stage.engine.transport.setResult({ result: 'sent' });
  scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
});

const request = <T>(path: string, options: DashboardRequestOptions = {}) =>
  dashboard.request<T>(`GET /projects/${scenario.projectId}/emails${path}`, options);
const filtered = async (filter: string): Promise<string[]> => {
  const { json, status, text } = await request<EmailListed[]>(`?filter=${encodeURIComponent(filter)}`);
  expect(status, text).toBe(200);
  return json.data.map((row) => row.external_user_id);
};

/** Replaces the stored bytes of the email to this user. */
async function freeze(userId: string, more: object = {}): Promise<string> {
  const [message] = await scenario.messages(userId);
  if (!message) throw new Error(`no email to ${userId}`);
  const mime = await goodEmail({ date: new Date(scenario.now()), ...more });
  await db.query(
    `UPDATE beckon.email_mime SET mail_from = 'b@acme.test', mime = $3 WHERE project_id = $1 AND draft_id = $2`,
    [scenario.projectId, message.draft_id, packMime(mime)],
  );
  return message.id;
}

test('lists emails with their outcomes, newest first, in pages without a gap', async () => {
  await sendTo(scenario, ['a', 'b', 'c']);
  await scenario.recordOutcome('a', OPENED, BOT_OPENED);
  await scenario.recordOutcome('b', bounced('hard'));
  const all = await request<EmailListed[]>('', { as: 'viewer' });
  expect(all.json.meta).toEqual({ pagination: { total: 3, offset: 0, limit: 50 }, cursor: null });
  const rows = new Map(all.json.data.map((row) => [row.external_user_id, row]));
  expect(rows.get('a')).toMatchObject({
    rule: 'Emails',
    subject: 'Email 1',
    address: 'a@x.org',
    state: 'sent',
    reason: null,
    outcomes: ['opened', 'bot_opened'],
  });
  expect(rows.get('b')?.outcomes).toEqual(['bounced']);
  expect(rows.get('c')?.outcomes).toEqual([]);
  const first = await request<EmailListed[]>('?limit=2');
  const second = await request<EmailListed[]>(`?limit=2&cursor=${first.json.meta.cursor}`);
  expect([...first.json.data, ...second.json.data]).toEqual(all.json.data);
  expect(second.json.meta.cursor).toBeNull();
  expect((await request<EmailListed[]>('?limit=2&offset=2')).json.data).toEqual(second.json.data);
});

test('filters emails by every key of the shared grammar, and reports errors with their field', async () => {
  await scenario.rule({
    ...emailsRule({ steps: [{ draft: 'welcome' }] }),
    name: 'Others',
    when: { event: 'other' },
  });
  await sendTo(scenario, ['a', 'b']);
  stage.engine.transport.setResult({ result: 'failed', reason: 'rejected', reply: '550 no' });
  await scenario.event('b', 'other');
  await scenario.later(3_600_000);
  await scenario.recordOutcome('a', OPENED, CLICKED, REPLIED);
  expect(await filtered('rule:Emails')).toEqual(expect.arrayContaining(['a', 'b']));
  expect(await filtered('rule:Oth*')).toEqual(['b']);
  expect(await filtered('-rule:Emails')).toEqual(['b']);
  expect(await filtered('rule:Nothing')).toEqual([]);
  expect(await filtered('state:failed')).toEqual(['b']);
  expect(await filtered('reason:rejected')).toEqual(['b']);
  expect(await filtered('template:welcome')).toEqual(['b']);
  expect(await filtered('user:a')).toEqual(['a']);
  expect(await filtered('address:a@* domain:test-inbox.invalid')).toEqual(['a']);
  expect(await filtered('outcome:opened,bounced')).toEqual(['a']);
  expect(await filtered('outcome:opened outcome:clicked outcome:replied')).toEqual(['a']);
  expect(await filtered('-outcome:opened user:a')).toEqual([]);
  expect(await filtered('-outcome:opened')).toEqual(['b', 'b']);
  const wrong = await request('?filter=colour:red');
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'filter']);
  for (const cursor of ['x', Buffer.from('["1","2"]').toString('base64url'), 'W10'])
    expect((await request(`?cursor=${cursor}`)).json.errors[0]?.field).toBe('cursor');
});

test('shows how an email was sent, its hits with their classification and reason, and its webhooks', async () => {
  await scenario.user('ada', { traits: { timezone: 'Europe/Paris' } });
  await sendTo(scenario, ['ada']);
  const id = await freeze('ada');
  await db.query(
    `INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls) VALUES ($1, $2, 'ada', true, $3)
     ON CONFLICT (project_id, email_id) DO UPDATE SET urls = excluded.urls`,
    [scenario.projectId, id, ['https://acme.example/start']],
  );
  const hit = {
    projectId: scenario.projectId,
    emailId: id,
    at: scenario.now(),
    agent: 'curl',
    remote: '::1',
  };
  await addHits(db, [
    { ...hit, kind: 'click', link: 0, signs: ['bot'] },
    { ...hit, kind: 'open', link: null, signs: [] },
  ]);
  await db.query(
    `UPDATE beckon.hit SET bot = 'yes', bot_reason = 'bot' WHERE email_id = $1 AND kind = 'click'`,
    [id],
  );
  await scenario.recordOutcome(
    'ada',
    { ...CLICKED, bot: 'yes', botReason: 'bot' } as OutcomeData,
    COMPLAINED,
  );
  const { json } = await request<EmailWhole>(`/${id}`, { as: 'viewer' });
  expect(json.data).toMatchObject({
    id,
    user_time_zone: 'Europe/Paris',
    raw: { mail_from: 'b@acme.test', has_html: true },
    links: [{ url: 'https://acme.example/start', clicks: 0, bot_clicks: 1 }],
    hit_count: 2,
    send_again: 'unavailable',
  });
  expect(json.data.raw?.headers).toContainEqual(expect.objectContaining({ name: 'subject' }));
  expect(json.data.raw?.text).toContain('Hello Ada');
  expect(json.data.hits.map(({ kind, bot, reason_text }) => [kind, bot, reason_text])).toEqual([
    ['click', 'yes', 'known bot'],
    ['open', null, null],
  ]);
  expect(json.data.outcome_history.map(({ text: words }) => words).toSorted()).toEqual([
    'Clicked by a bot',
    'Reported as spam',
  ]);
  expect(json.data.webhooks).toEqual([]);
});

test('serves the email at an address of its own, sandboxed, and as the original file', async () => {
  await sendTo(scenario, ['ada']);
  const id = await freeze('ada', { html: '<script>alert(1)</script><p>Hello</p>' });
  const frame = await request(`/${id}/email.html`, { as: 'viewer' });
  expect([frame.status, frame.text.includes('<script>alert(1)</script><p>Hello</p>')]).toEqual([200, true]);
  expect(frame.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
  expect(frame.headers['x-content-type-options']).toBe('nosniff');
  const file = await request(`/${id}/eml`);
  expect(file.headers['content-type']).toBe('message/rfc822');
  expect(file.headers['content-disposition']).toBe(`attachment; filename="${id}.eml"`);
  expect(file.text).toMatch(/^(?:.|\r\n)*Subject: Three steps are left/);
});

test('says whether an email can be resent, and requires confirmation if its delivery is unknown', async () => {
  stage.engine.transport.setResult({ result: 'failed', reason: 'rejected', reply: '550 5.7.1 no' });
  await sendTo(scenario, ['a']);
  stage.engine.transport.setResult({ result: 'unknown', reason: 'lost' });
  await sendTo(scenario, ['b']);
  const whole = async (user: string): Promise<EmailWhole> => {
    const [message] = await scenario.messages(user);
    return (await request<EmailWhole>(`/${message?.id}`)).json.data;
  };
  expect(await whole('a')).toMatchObject({
    send_again: 'available',
    reason: 'rejected',
    reason_text: expect.any(String),
    reply: '550 5.7.1 no',
  });
  expect(await whole('b')).toMatchObject({ send_again: 'requires_confirmation', state: 'unknown' });
  await scenario.act('a', { kind: 'send_again' });
  expect(await whole('a')).toMatchObject({ send_again: 'unavailable' });
});

test('returns 404 for emails of another project, unknown ids and bytes that are no longer stored', async () => {
  await sendTo(scenario, ['ada']);
  const [message] = await scenario.messages('ada');
  const { id: other } = await createProject(db, { name: `Other ${scenario.projectId}` });
  for (const path of [`/${message?.id}`, `/${message?.id}/email.html`, `/${message?.id}/eml`])
    expect((await dashboard.request(`GET /projects/${other}/emails${path}`)).status).toBe(404);
  expect((await dashboard.request(`GET /projects/${other}/emails`)).json.data).toEqual([]);
  expect((await request('/nothing')).status).toBe(404);
  await db.query('DELETE FROM beckon.email_mime WHERE project_id = $1', [scenario.projectId]);
  expect((await request(`/${message?.id}/email.html`)).status).toBe(404);
  expect((await request<EmailWhole>(`/${message?.id}`)).json.data.raw).toBeNull();
});

test('exports emails as CSV without formulas, for admins alone', async () => {
  await scenario.user('=cmd()', { email: 'a@x.org' });
  await scenario.event('=cmd()', 'began');
  await scenario.later(3_600_000);
  expect((await request('/export', { as: 'editor' })).status).toBe(403);
  const { text, headers } = await request('/export', { as: 'admin' });
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head, line, ...rest] = text.split('\n');
  expect(head).toMatch(/^id,claimed_at,/);
  expect(line).toContain(",Emails,,'=cmd(),");
  expect(rest).toEqual(['']);
  expect((await request('/export?filter=state:failed', { as: 'admin' })).text.split('\n')).toHaveLength(2);
});
