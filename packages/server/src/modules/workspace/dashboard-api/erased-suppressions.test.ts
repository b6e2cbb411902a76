import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  CanReceiveResult,
  SuppressionListed,
  TopicUnsubscribeListed,
  UserDetails,
} from '@beckon/contract/dashboard';
import { type DashboardRequestOptions, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { listEntries } from '../audit/store.ts';
import { setTopicUnsubscribes } from '../../outcomes/suppressions/store.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let scenario: Scenario;
let EMAIL = '';
beforeEach(async () => {
  scenario = await newScenario(stage);
  EMAIL = `Needle${scenario.projectId}@Bücher.example`;
  await scenario.user('ada', { email: EMAIL });
  await stage.engine.settle();
  const keys = [{ projectId: scenario.projectId, kind: 'email' as const, value: EMAIL }];
  await setTopicUnsubscribes(db, { targets: keys, refused: ['news'], accepted: [], at: scenario.now() });
  await request('POST /suppressions', { body: { email: EMAIL, reason: 'unsubscribed' } });
  await request('POST /suppressions', { body: { email: 'bob@x.org' } });
  expect((await request('POST /users/ada/erase', { body: { confirm: 'ada' } })).status).toBe(200);
});

const request = <T>(what: string, options: DashboardRequestOptions = {}) => {
  const [method, path = ''] = what.split(' ');
  return dashboard.request<T>(`${method} /projects/${scenario.projectId}${path}`, {
    as: 'admin',
    ...options,
  });
};
const list = async (filter = '') =>
  (await request<SuppressionListed[]>(`GET /suppressions?filter=${filter}`)).json;
const check = async () =>
  (await request<CanReceiveResult>(`GET /suppressions/check?email=${encodeURIComponent(EMAIL)}`)).json.data;
const ERASED = { kind: 'email', value: null, from_erased: true, reason: 'unsubscribed' };

describe('GET suppressions', () => {
  test('lists a row without an address, counts it, and filters by it', async () => {
    expect((await list()).data).toMatchObject([{ value: 'bob@x.org', hash: null }, ERASED]);
    const erased = await list('erased:yes');
    expect(erased.data).toMatchObject([ERASED]);
    expect(erased.meta.pagination.total).toBe(1);
    expect((await list('erased:no')).data).toMatchObject([{ value: 'bob@x.org' }]);
    expect((await list('kind:email')).data).toHaveLength(2);
    const first = (await request<SuppressionListed[]>('GET /suppressions?limit=1')).json;
    const second = await request<SuppressionListed[]>(
      `GET /suppressions?limit=1&cursor=${first.meta.cursor}`,
    );
    expect(second.json.data).toMatchObject([ERASED]);
    const topics = (await request<TopicUnsubscribeListed[]>('GET /suppressions/topics')).json.data;
    expect(topics).toMatchObject([{ kind: 'email', value: null, topic: 'news' }]);
  });
});

describe('GET suppressions/check', () => {
  test('finds the suppression and the refused topics of an erased user by the address', async () => {
    expect(await check()).toMatchObject({
      can_receive: null,
      suppression: ERASED,
      unsubscribed_topics: ['news'],
    });
  });

  test('reports it for a user who has the address since then', async () => {
    await scenario.user('eve', { email: EMAIL });
    await stage.engine.settle();
    const { can_receive: mailed, suppression, users: people } = await check();
    expect({ can_receive: mailed, suppression }).toMatchObject({
      can_receive: false,
      suppression: { ...ERASED, value: expect.any(String) },
    });
    expect(people[0]?.checks.find(({ passes }) => !passes)).toMatchObject({
      check: 'suppression',
      text: 'suppressed: address or id of an erased user',
    });
    const user = (await request<UserDetails>('GET /users/eve')).json.data;
    expect(user.suppression).toMatchObject({ reason: 'unsubscribed', kind: 'email', from_erased: true });
  });
});

describe('POST suppressions/remove', () => {
  const remove = (body: object) =>
    request('POST /suppressions/remove', { body: { reason: 'user_request', ...body } });

  test('lifts the row of an erased user for a member who types the address, and logs it', async () => {
    const [row] = (await list('erased:yes')).data;
    const right = { email: EMAIL, hash: row?.hash, confirm: EMAIL };
    expect((await remove(right)).status).toBe(200);
    expect((await list('erased:yes')).data).toEqual([]);
    const query = { projectIds: [scenario.projectId], actor: null, action: null, after: null, limit: 50 };
    expect(
      (await listEntries(db, query)).find(({ action }) => action === 'suppression.remove'),
    ).toMatchObject({
      subject: 'an erased user',
      after: { reason: 'user_request' },
    });
    expect(await findText(db, [EMAIL, EMAIL.replace('ü', 'xn--')])).toEqual([]);
    expect(await check()).toMatchObject({ suppression: null, lifted: { reason: 'unsubscribed' } });
  });

  test('refuses an address that is not the one of the row', async () => {
    const [row] = (await list('erased:yes')).data;
    const wrong = await remove({ email: 'bob@x.org', hash: row?.hash, confirm: 'bob@x.org' });
    expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'confirm']);
    expect((await list()).data).toHaveLength(2);
  });
});
