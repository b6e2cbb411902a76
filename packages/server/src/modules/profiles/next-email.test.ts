import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { NextEmail } from '@beckon/contract/dashboard';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { nextOf } from './next-email.ts';

describe('nextOf', () => {
  const draft = (id: string, reason: string | null = null) =>
    ({ id, runId: null, ruleId: 'r', reason, content: { subject: id } }) as never;
  const run = (id: string, nextAt: number | null, state = 'active') =>
    ({ id, ruleId: 'r', state, nextAt, anchor: {} }) as never;
  const sends = (leavesAt: number) => ({ kind: 'sends', leavesAt, after: null }) as const;

  test('chooses what comes first by time', () => {
    const drafts = [draft('late'), draft('soon')];
    const forecasts = new Map([
      ['late', sends(20)],
      ['soon', sends(10)],
    ]);
    expect(nextOf({ drafts, forecasts, runs: [run('n', 15)] })).toMatchObject({ kind: 'draft', at: 10 });
    expect(nextOf({ drafts, forecasts, runs: [run('n', 5)] })).toMatchObject({ kind: 'step', at: 5 });
    expect(nextOf({ drafts, forecasts, runs: [run('n', 5, 'paused'), run('m', null)] })).toMatchObject({
      at: 10,
    });
  });

  test('returns a draft without a time if nothing has one, with what holds it', () => {
    const held = { kind: 'held', reason: 'no_address', until: null } as const;
    expect(nextOf({ drafts: [draft('a')], forecasts: new Map([['a', held]]), runs: [] })).toMatchObject({
      at: null,
      reason: 'no_address',
    });
    expect(
      nextOf({ drafts: [draft('a', 'editing')], forecasts: new Map(), runs: [run('n', 5)] }),
    ).toMatchObject({
      kind: 'step',
    });
    expect(nextOf({ drafts: [], forecasts: new Map(), runs: [] })).toBeNull();
  });
});

const stage = await openStage();
const dashboard = testDashboard(stage.server.db);
afterAll(() => dashboard.close());

describe('GET users/:user/next-email', () => {
  const EMAIL = { draft: { subject: 'Hello', body: 'Hello' } };
  let scenario: Scenario;
  beforeEach(async () => {
    stage.engine.transport.setResult({ result: 'sent' });
    scenario = await newScenario(stage);
    await scenario.rule({
      name: 'tour',
      when: { event: 'hello' },
      deadline: '4h',
      steps: [EMAIL, { wait: '3d' }, EMAIL],
    });
  });
  const next = async (user = 'ada') =>
    (
      await dashboard.request<NextEmail | null>(
        `GET /projects/${scenario.projectId}/users/${user}/next-email`,
        {
          as: 'viewer',
        },
      )
    ).json.data;
  const after = (ms: number): string => new Date(scenario.now() + ms).toISOString();

  test('follows a user from the first draft through the wait to the next step', async () => {
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.user('bo', { email: 'bo@x.org' });
    await scenario.event('bo', 'hello');
    await scenario.later(0);
    expect(await next()).toBeNull();
    await scenario.event('ada', 'hello');
    await scenario.later(0);
    const cause = { kind: 'event', name: 'hello', at: after(0) };
    expect(await next()).toMatchObject({
      kind: 'draft',
      subject: 'Hello',
      rule: { name: 'tour' },
      cause,
      at: after(4 * HOUR),
      reason: null,
    });
    await scenario.later(5 * HOUR);
    const step = await next();
    expect(step).toMatchObject({ kind: 'step', rule: { name: 'tour' }, cause });
    expect(Date.parse(step?.at ?? '')).toBeGreaterThan(scenario.now() + 2 * DAY);
  });

  test('names quiet hours that delay it, and what holds it without an end', async () => {
    await scenario.until('19:00');
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.event('ada', 'hello');
    await scenario.user('bo', {});
    await scenario.event('bo', 'hello');
    await scenario.later(0);
    expect(await next()).toMatchObject({
      reason: 'quiet_hours',
      at: expect.stringMatching(/T08:/) as string,
    });
    expect(await next('bo')).toMatchObject({ kind: 'draft', reason: 'no_address', at: null });
  });

  test('has no time and no reason for a draft that waits for approval, and 404 for an unknown user', async () => {
    await scenario.set({ autopilot: 'draft' });
    await scenario.rule({ name: 'ask', when: { event: 'asked' }, steps: [EMAIL] });
    await scenario.user('ada', { email: 'ada@x.org' });
    await scenario.event('ada', 'asked');
    await scenario.later(0);
    expect(await next()).toMatchObject({ kind: 'draft', rule: { name: 'ask' }, at: null, reason: null });
    const unknown = await dashboard.request(`GET /projects/${scenario.projectId}/users/nobody/next-email`);
    expect(unknown.status).toBe(404);
  });
});
