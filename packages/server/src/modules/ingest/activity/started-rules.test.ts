import { afterAll, expect, test } from 'vitest';
import type { FeedItem } from '@beckon/contract/dashboard';
import { emailsRule, newOutcomeScenario } from '../../../../testing/factories/email-outcomes.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';

const stage = await openStage();
const dashboard = testDashboard(stage.server.db);
afterAll(() => dashboard.close());

test('names the rules that an event started, in a page of the stream and in one item', async () => {
  const scenario = await newOutcomeScenario(stage);
  const first = await scenario.rule({ ...emailsRule(), name: 'B' });
  const second = await scenario.rule({ ...emailsRule(), name: 'A' });
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.user('bo', { email: 'bo@x.org' });
  await scenario.event('ada', 'began');
  await scenario.event('bo', 'ended');
  await scenario.later(0);
  const path = `GET /projects/${scenario.projectId}/stream`;
  const { data } = (await dashboard.request<FeedItem[]>(`${path}?filter=type:event`, { as: 'viewer' })).json;
  const started = [
    { id: second, name: 'A' },
    { id: first, name: 'B' },
  ];
  expect(new Map(data.map(({ external_user_id: user, started: of }) => [user, of]))).toEqual(
    new Map([
      ['ada', started],
      ['bo', undefined],
    ]),
  );
  const ofAda = data.find(({ external_user_id: user }) => user === 'ada');
  const item = await dashboard.request<FeedItem>(`${path}/${ofAda?.place}`, { as: 'viewer' });
  expect(item.json.data.started).toEqual(started);
});
