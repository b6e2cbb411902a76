import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { RuleListed, RulesSwitched } from '@beckon/contract/dashboard';
import { type DashboardRequestOptions, testDashboard } from '../../../testing/servers/dashboard.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { listEntries } from '../workspace/audit/store.ts';

const stage = await openStage();
const dashboard = testDashboard(stage.server.db);
afterAll(() => dashboard.close());

let scenario: Scenario;
beforeEach(async () => {
  scenario = await newScenario(stage);
  await scenario.set({ quiet_hours: 'off' });
});

async function request<T>(
  what: string,
  options: DashboardRequestOptions = {},
): Promise<{ status: number; data: T }> {
  const [method, path = ''] = what.split(' ');
  const { status, json } = await dashboard.request(
    `${method} /projects/${scenario.projectId}${path}`,
    options,
  );
  return { status, data: json?.data as T };
}
const settled = (): Promise<void> => stage.engine.settle();
const EMAIL = { subject: 'Hello {{ user.name | default: "there" }}', body: 'About {{ event.name }}' };
const greeter = (more: object = {}): Record<string, unknown> => ({
  name: 'greeter',
  when: { event: 'hello' },
  steps: [{ draft: EMAIL }],
  ...more,
});

describe('filter of the list of rules', () => {
  const namesOf = async (filter: string): Promise<string[]> => {
    const { data } = await request<RuleListed[]>(`GET /rules?${new URLSearchParams({ filter }).toString()}`);
    return data.map(({ name }) => name);
  };

  test('compares the state, the mode, what starts a rule, and what its emails use', async () => {
    const definition = { trait: 'plan', equals: 'pro' };
    const { data: made } = await request<{ id: string }>('POST /audiences', {
      body: { name: 'Payers', definition },
    });
    await scenario.set({ topics: 'news:Product news' });
    const branch = { branch: { if: definition }, then: [{ draft: 'welcome' }] };
    await scenario.rule(greeter({ mode: 'draft', topic: 'news', steps: [branch] }));
    await scenario.rule(greeter({ name: 'payer', when: { audience: made.id, move: 'joined' } }));
    await request('POST /rules/payer/switch', { body: { on: false } });
    expect(await namesOf('state:disabled')).toEqual(['payer']);
    expect(await namesOf('mode:draft')).toEqual(['greeter']);
    expect(await namesOf('event:hello')).toEqual(['greeter']);
    expect(await namesOf('audience:Payers')).toEqual(['payer']);
    expect(await namesOf('topic:news')).toEqual(['greeter']);
    expect((await namesOf('template:welcome')).toSorted()).toEqual(['greeter', 'welcome']);
    expect(await namesOf('-state:enabled,disabled')).toEqual([]);
  });

  test('finds rules without users and emails in the last seven days', async () => {
    await scenario.rule(greeter());
    expect(await namesOf('active:yes')).toEqual([]);
    await scenario.event('ada', 'hello');
    await settled();
    expect(await namesOf('active:yes')).toEqual(['greeter']);
    expect(await namesOf('active:no state:enabled')).not.toContain('greeter');
  });
});

describe('switching many rules', () => {
  const BUSY = 'Drafts of the rule were held for more than a day. Enable it on its page to release them';
  type Seen = { id: string; updated_at: string };
  const listed = async (): Promise<Map<string, RuleListed>> => {
    const { data } = await request<RuleListed[]>('GET /rules');
    return new Map(data.map((rule) => [rule.name, rule]));
  };
  const seen = (rules: Map<string, RuleListed>, ...names: string[]): Seen[] =>
    names.map((name) => {
      const rule = rules.get(name);
      return { id: rule?.id ?? name, updated_at: rule?.updated_at ?? '' };
    });
  const switchTo = (on: boolean, rules: Seen[]) =>
    request<RulesSwitched>('POST /rules/switch-many', { body: { on, rules }, as: 'editor' });

  test('disables rules with their drafts and runs, and enables them again', async () => {
    for (const name of ['greeter', 'other']) await scenario.rule(greeter({ name, mode: 'draft' }));
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.event('ada', 'hello');
    await settled();
    const off = await switchTo(false, seen(await listed(), 'greeter', 'other'));
    expect([off.status, off.data]).toEqual([200, { done: 2, refused: [] }]);
    expect((await scenario.drafts('ada')).map(({ state }) => state)).toEqual(['held', 'held']);
    // The audit log sorts entries by their time.
    stage.server.clock.advance(1_000);
    const on = await switchTo(true, seen(await listed(), 'greeter', 'other'));
    expect(on.data).toEqual({ done: 2, refused: [] });
    expect((await scenario.drafts('ada')).map(({ state }) => state)).toEqual(['scheduled', 'scheduled']);
    const [entry] = await listEntries(stage.server.db, {
      projectIds: [scenario.projectId],
      actor: null,
      action: 'rule.set_enabled_many',
      after: null,
      limit: 1,
    });
    expect(entry).toMatchObject({
      subject: '2 rules',
      after: { on: true, rules: ['greeter', 'other'], refused: 0 },
    });
  });

  test('refuses each rule with its reason, and switches the others', async () => {
    const names = ['greeter', 'changed'];
    for (const name of names) await scenario.rule(greeter({ name, mode: 'autopilot', deadline: '40h' }));
    await request('POST /rules', { body: { document: greeter({ name: 'new' }) } });
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.event('ada', 'hello');
    await settled();
    expect((await switchTo(false, seen(await listed(), ...names))).data.done).toBe(2);
    const before = await listed();
    stage.server.clock.advance(1_000);
    await request('POST /rules/changed/mode', { body: { mode: 'draft' } });
    const { data } = await switchTo(true, [
      ...seen(before, 'greeter', 'changed', 'new', 'welcome'),
      { id: 'ffffffff-0000-4000-8000-000000000000', updated_at: '' },
    ]);
    expect(data.done).toBe(1);
    expect(Object.fromEntries(data.refused.map(({ message, rules }) => [message, rules]))).toEqual({
      'The rule was changed since the list was loaded': ['changed'],
      'The rule has not enrolled a user yet. Enable it on its page, which shows a backtest first': ['new'],
      'The rule is already enabled': ['welcome'],
      'The rule no longer exists': ['ffffffff-0000-4000-8000-000000000000'],
    });
    expect((await listed()).get('new')?.on).toBe(false);
  });

  test('leaves drafts that were held for long to the page of their rule', async () => {
    await scenario.rule(greeter({ mode: 'autopilot', deadline: '30d', expires_after: '60d' }));
    const users = Array.from({ length: 101 }, (_, n) => `u${n}`);
    for (const user of users) await scenario.user(user, { email: `${user}@x.org` });
    for (const user of users) await scenario.event(user, 'hello');
    await settled();
    await switchTo(false, seen(await listed(), 'greeter'));
    stage.server.clock.advance(2 * DAY);
    const { data } = await switchTo(true, seen(await listed(), 'greeter'));
    expect(data).toEqual({ done: 0, refused: [{ message: BUSY, rows: 1, rules: ['greeter'] }] });
    expect((await listed()).get('greeter')?.on).toBe(false);
  });

  test('takes at most 500 rules', async () => {
    const many = Array.from({ length: 501 }, (_, n) => ({ id: `r${n}`, updated_at: '' }));
    expect((await switchTo(false, many)).status).toBe(422);
  });
});
