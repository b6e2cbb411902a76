import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Insights } from '@beckon/contract/dashboard';
import {
  type OutcomeScenario,
  bounced,
  emailsRule,
  newOutcomeScenario,
  OPENED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { type DashboardRequestOptions, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, openStage } from '../../../../testing/scenario.ts';
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

const request = <T = Insights>(path = '', options: DashboardRequestOptions = {}) =>
  dashboard.request<T>(`GET /projects/${scenario.projectId}/insights${path}`, options);

test('compares the emails of a range with the range before it, by group and in total', async () => {
  await sendTo(scenario, ['old']);
  await scenario.recordOutcome('old', bounced('hard'));
  await scenario.later(8 * DAY);
  await sendTo(scenario, ['a', 'b']);
  await scenario.recordOutcome('a', OPENED);
  const since = encodeURIComponent(new Date(scenario.now() - 7 * DAY).toISOString());
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
    await scenario.user(id, { email: `${id}@x.org` });
    await scenario.event(id, 'began');
  }
  await scenario.later(0);
  const text = { subject: 'Mine', preheader: '', body: 'Hello you.', format: 'markdown' as const };
  await scenario.act('a', { kind: 'edit', content: text });
  await scenario.later(HOUR);
  const sent = (await scenario.messages('b'))[0];
  expect(sent?.state).toBe('sent');
  await scenario.later(HOUR / 2);
  await scenario.recordOutcome('b', OPENED);
  await scenario.later(5 * HOUR);
  await scenario.recordOutcome('c', OPENED);
  await scenario.later(5 * DAY);
  await scenario.recordOutcome('d', OPENED);
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
  await sendTo(scenario, ['a']);
  expect((await request('/export', { as: 'editor' })).status).toBe(403);
  const { text, headers } = await request('/export?by=domain', { as: 'admin' });
  expect(headers['content-disposition']).toContain('insights-by-domain.csv');
  expect(text.split('\n')[1]).toMatch(/^domain,test-inbox\.invalid,1,1,0,/);
  const { id } = await createProject(db, { name: `Other ${scenario.projectId}` });
  const other = await dashboard.request<Insights>(`GET /projects/${id}/insights`);
  expect(other.json.data.range).toMatchObject({ total: { sent: 0, rates: { opened: null } }, groups: [] });
});
