import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { KeptData } from '@beckon/contract/dashboard';
import {
  emailsRule,
  newOutcomeScenario,
  type OutcomeScenario,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { deleteFrozen } from '../../sending/emails/store.ts';

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

async function oldestOf(setting: string, { projectId } = scenario): Promise<string | null | undefined> {
  const { json } = await dashboard.request<KeptData>(`GET /projects/${projectId}/data`, { as: 'viewer' });
  return json.data.retention.find((kept) => kept.setting === setting)?.oldest_at;
}

describe('GET /projects/:project/data', () => {
  test('returns the time of the oldest stored email, and null once none is stored', async () => {
    expect(await oldestOf('keep_emails')).toBeNull();
    await sendTo(scenario, ['ada']);
    const [first] = await scenario.emails();
    await scenario.later(3_600_000);
    await sendTo(scenario, ['bea']);
    expect(await oldestOf('keep_emails')).toBe(new Date(first?.at ?? 0).toISOString());
    expect(await oldestOf('keep_emails', await newOutcomeScenario(stage))).toBeNull();
    const all = { projectId: scenario.projectId, before: new Date(scenario.now() + 1), limit: 10 };
    expect(await db.transaction((tx) => deleteFrozen(tx, all))).toBe(2);
    expect(await oldestOf('keep_emails')).toBeNull();
  });

  test('returns the time of the oldest event and of the oldest entry of the activity stream', async () => {
    const at = new Date(scenario.now()).toISOString();
    await scenario.event('ada', 'began');
    await scenario.later(3_600_000);
    await scenario.event('ada', 'ended');
    await scenario.later(1_000);
    expect([await oldestOf('keep_events'), await oldestOf('keep_stream')]).toEqual([at, at]);
  });

  test('returns the time of the oldest dead-lettered record', async () => {
    const at = new Date(scenario.now());
    await db.query(`INSERT INTO beckon.dead_letter VALUES ($1, 1, 'live', 'users', '{}', 'bad', $2, $2)`, [
      scenario.projectId,
      at,
    ]);
    expect(await oldestOf('keep_dead')).toBe(at.toISOString());
  });
});
