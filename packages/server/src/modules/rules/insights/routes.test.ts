import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Insights } from '@beckon/contract/dashboard';
import {
  type Aftermath,
  bounced,
  emailsRule,
  newAftermath,
  OPENED,
  sendTo,
} from '../../../../testkit/became.ts';
import { type DashboardRequestOptions, testDashboard } from '../../../../testkit/dashboard.ts';
import { HOUR } from '../../../../testkit/drafts.ts';
import { DAY, openStage } from '../../../../testkit/story.ts';
import { createProject } from '../../administration/create-project.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let story: Aftermath;
beforeEach(async () => {
  stage.engine.transport.setResult({ result: 'sent' });
  story = await newAftermath(stage);
  await story.rule(emailsRule());
});

const request = <T = Insights>(path = '', options: DashboardRequestOptions = {}) =>
  dashboard.request<T>(`GET /projects/${story.projectId}/insights${path}`, options);

test('compares the emails of a range with the range before it, by group and in total', async () => {
  await sendTo(story, ['old']);
  await story.became('old', bounced('hard'));
  await story.later(8 * DAY);
  await sendTo(story, ['a', 'b']);
  await story.became('a', OPENED);
  const since = encodeURIComponent(new Date(story.now() - 7 * DAY).toISOString());
  const { data } = (await request(`?compare=true&by=rule&since=${since}`, { as: 'viewer' })).json;
  expect(data.range).toMatchObject({
    total: { name: 'all', sent: 2, delivered: 2, opened: 1 },
    groups: [{ name: 'Emails', sent: 2, rates: { opened: 0.5 }, rule_id: expect.any(String) }],
    truncated: false,
  });
  expect(data.before).toMatchObject({
    until: data.range.since,
    total: { sent: 1, delivered: 0 },
    groups: [{ name: 'Emails', sent: 1, bounced: { hard: 1 } }],
  });
  expect((await request(`?since=${since}`)).json.data.before).toBeNull();
  const ofDays = async (days: number) => (await request(`?days=${days}`)).json.data.range.total.sent;
  expect([await ofDays(7), await ofDays(30)]).toEqual([2, 3]);
});

test('reports how soon emails were opened, and how many were changed before sending', async () => {
  for (const id of ['a', 'b', 'c', 'd']) {
    await story.user(id, { email: `${id}@x.org` });
    await story.event(id, 'began');
  }
  await story.later(0);
  const text = { subject: 'Mine', preheader: '', body: 'Hello you.', format: 'markdown' as const };
  await story.act('a', { kind: 'edit', content: text });
  await story.later(HOUR);
  const sent = (await story.messages('b'))[0];
  expect(sent?.state).toBe('sent');
  await story.later(HOUR / 2);
  await story.became('b', OPENED);
  await story.later(5 * HOUR);
  await story.became('c', OPENED);
  await story.later(5 * DAY);
  await story.became('d', OPENED);
  const { total } = (await request()).json.data.range;
  expect(total).toMatchObject({ sent: 4, edited: { edited: 1, total: 4 }, rates: { edited: 0.25 } });
  expect(total.opened_within.map(({ emails }) => emails)).toEqual([0, 1, 0, 1, 0, 0, 1]);
  expect(total.opened_within.map(({ until_ms }) => until_ms && until_ms / HOUR)).toEqual([
    0.25,
    1,
    4,
    12,
    24,
    72,
    null,
  ]);
  expect(total.median_open_ms).toBe(5.5 * HOUR);
});

test('rejects an invalid range with its field', async () => {
  const field = async (query: string): Promise<unknown> => {
    const { status, json } = await request(`?${query}`);
    return [status, json.errors[0]?.field];
  };
  expect(await field('since=yesterday')).toEqual([422, 'since']);
  expect(await field('until=x')).toEqual([422, 'until']);
  expect(await field('since=2026-03-01T00:00:00Z&until=2026-02-01T00:00:00Z')).toEqual([422, 'since']);
  expect(await field('since=2020-03-01T00:00:00Z&until=2026-02-01T00:00:00Z')).toEqual([422, 'since']);
  expect(await field('days=0')).toEqual([422, 'days']);
  expect(await field('by=colour')).toEqual([422, 'by']);
});

test('exports the groups as CSV for an admin, and shows none to another project', async () => {
  await sendTo(story, ['a']);
  expect((await request('/export', { as: 'editor' })).status).toBe(403);
  const { text, headers } = await request('/export?by=domain', { as: 'admin' });
  expect(headers['content-disposition']).toContain('insights-by-domain.csv');
  expect(text.split('\n')[1]).toMatch(/^domain,test-inbox\.invalid,1,1,0,/);
  const { id } = await createProject(db, { name: `Other ${story.projectId}` });
  const other = await dashboard.request<Insights>(`GET /projects/${id}/insights`);
  expect(other.json.data.range).toMatchObject({ total: { sent: 0, rates: { opened: null } }, groups: [] });
});
