import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type {
  RuleEnrollment,
  RuleEnrollmentPreview,
  RuleDetails,
  RuleSwitched,
} from '@beckon/contract/dashboard';
import { type DashboardRequestOptions, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { listEntries } from '../../workspace/audit/store.ts';
import { createAudience } from '../../audiences/change-audience.ts';
import { REASONS } from '../definitions/rule.ts';
import { createRule } from '../write-rule.ts';
import { listRuleNeeds } from '../runs/rules-in-force.ts';

const stage = await openStage();
const { db } = stage.server;
let woken = 0;
const dashboard = testDashboard(db, { wake: () => void (woken += 1) });
afterAll(() => dashboard.close());

let scenario: Scenario;
let audienceId = '';
beforeEach(async () => {
  scenario = await newScenario(stage);
  await scenario.user('ada', { email: 'ada@x.org', traits: { plan: 'pro', name: 'Ada' } });
  await scenario.user('bob', { traits: { plan: 'pro' } });
  await scenario.later(0);
  const { projectId } = scenario;
  const definition = { trait: 'plan', equals: 'pro' };
  ({ id: audienceId } = await createAudience({ db, listRuleNeeds }, { projectId, name: 'Pros', definition }));
  await scenario.later(1_000);
  const document = {
    name: 'pro',
    when: { audience: audienceId, move: 'joined' },
    steps: [{ draft: { subject: 'Hello', body: 'Hello.' } }],
  };
  await createRule(db, { projectId, document, isOff: true });
});

const request = <T>(what: string, options: DashboardRequestOptions = {}) => {
  const [method, path = ''] = what.split(' ');
  return dashboard.request<T>(`${method} /projects/${scenario.projectId}/rules/pro${path}`, options);
};
const excluded = [{ reason: 'no_address', sentence: REASONS.no_address, count: 1 }];

describe('GET /rules/:rule/enrollment', () => {
  test('shows a viewer how many and who would be enrolled, and why others are excluded', async () => {
    const { status, json } = await request<RuleEnrollmentPreview>('GET /enrollment', { as: 'viewer' });
    expect([status, json.data]).toEqual([
      200,
      {
        audiences: [{ id: audienceId, name: 'Pros', ready: true }],
        members: 2,
        evaluated: 2,
        would_enroll: 1,
        first: [{ external_user_id: 'ada', name: 'Ada' }],
        excluded,
      },
    ]);
  });

  test('returns 404 for a rule of another project', async () => {
    const other = await newScenario(stage);
    for (const what of ['GET', 'POST'])
      expect(
        (await dashboard.request(`${what} /projects/${other.projectId}/rules/pro/enrollment`)).status,
      ).toBe(404);
  });
});

describe('POST /rules/:rule/enrollment', () => {
  test('starts an enrollment for an editor, shows its progress with the rule, and is audited', async () => {
    expect((await request('POST /enrollment', { as: 'viewer' })).status).toBe(403);
    const off = await request('POST /enrollment', { as: 'editor' });
    expect([off.status, off.json.errors]).toMatchObject([409, [{ code: 'conflict', field: 'rule' }]]);
    await request('POST /switch', { body: { on: true } });
    const before = woken;
    const { json } = await request<RuleEnrollment>('POST /enrollment', { as: 'editor' });
    expect(woken).toBe(before + 1);
    expect(json.data).toMatchObject({ state: 'running', members: 2, processed: 0, ended_at: null });
    await scenario.later(0);
    expect((await request<RuleDetails>('GET ')).json.data.enrollment).toMatchObject({
      id: json.data.id,
      state: 'done',
      processed: 2,
      enrolled: 1,
      excluded,
    });
    expect((await scenario.drafts()).map(({ userId }) => userId)).toEqual(['ada']);
    const entries = await listEntries(db, {
      projectIds: [scenario.projectId],
      actor: null,
      action: 'rule.',
      after: null,
      limit: 10,
    });
    expect(entries.find(({ action }) => action === 'rule.enroll')).toMatchObject({
      subject: 'pro',
      after: { enrollment: json.data.id, members: 2 },
    });
  });
});

describe('POST /rules/:rule/switch', () => {
  test('enrolls the current members with `enroll`, and none without it', async () => {
    const off = await request('POST /switch', { body: { on: false, enroll: true } });
    expect([off.status, off.json.errors[0]?.field]).toEqual([422, 'enroll']);
    const plain = await request<RuleSwitched>('POST /switch', { body: { on: true } });
    expect(plain.json.data).toMatchObject({ enrollment: null, rule: { on: true, enrollment: null } });
    await request('POST /switch', { body: { on: false } });
    const { json } = await request<RuleSwitched>('POST /switch', { body: { on: true, enroll: true } });
    expect(json.data).toMatchObject({
      enrollment: { state: 'running', members: 2 },
      rule: { on: true, enrollment: { state: 'running' } },
    });
    await request('POST /switch', { body: { on: false } });
    expect((await request<RuleDetails>('GET ')).json.data.enrollment).toMatchObject({ state: 'canceled' });
  });

  test('leaves the rule off when its members cannot be enrolled', async () => {
    const document = {
      name: 'event',
      when: { event: 'did' },
      steps: [{ draft: { subject: 'Hi', body: 'Hi.' } }],
    };
    await createRule(db, { projectId: scenario.projectId, document, isOff: true });
    const at = `/projects/${scenario.projectId}/rules/event`;
    const { status } = await dashboard.request(`POST ${at}/switch`, { body: { on: true, enroll: true } });
    expect(status).toBe(409);
    expect((await dashboard.request<RuleDetails>(`GET ${at}`)).json.data.on).toBe(false);
  });
});
