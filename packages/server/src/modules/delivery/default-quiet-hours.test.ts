import { describe, expect, test } from 'vitest';
import { testSendServices } from '../../../testing/factories/send-services.ts';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { showSchedule } from '../review/show-schedule.ts';
import { simulatePolicy } from '../administration/simulate-policy.ts';
import { checkRecipients } from '../explain/can-receive-email.ts';

const stage = await openStage();
const { db } = stage.server;
const sendServices = testSendServices();
const relay = testSendServices({
  outlet: { kind: 'relay', publicUrl: 'https://mail.x.org', mailDomain: null },
});

/** Any setting but quiet hours. */
const NOT_SET = { frequency_cap: 'off' };

/** A project with a scheduled draft at 23:00, two hours before its deadline. */
async function atNight(settings: Record<string, string>): Promise<Scenario> {
  const scenario = await newScenario(stage, settings);
  const steps = [{ draft: { subject: 'Hello', body: 'Hello' } }];
  await scenario.rule({ name: 'greeter', when: { event: 'hello' }, deadline: '2h', steps });
  await scenario.until('23:00');
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'hello');
  await scenario.later(0);
  return scenario;
}

const schedule = ({ projectId }: Scenario, by = sendServices) =>
  showSchedule({ db, sendServices: by }, projectId);
/** Returns what holds the drafts now, and with the wanted settings. */
async function simulate({ projectId }: Scenario, changes: Record<string, string>) {
  const { current, proposed } = await simulatePolicy({ db, sendServices }, { projectId, settings: changes });
  return { current: current.held, proposed: proposed.held };
}
async function explained(scenario: Scenario, by = sendServices): Promise<boolean | undefined> {
  const target = { projectId: scenario.projectId, kind: 'user' as const, value: 'ada' };
  const { people } = await checkRecipients(db, { target, now: scenario.now(), sendServices: by });
  return people[0]?.gates.find(({ check }) => check === 'quiet_hours')?.passes;
}

describe('quiet hours that a project did not set', () => {
  test('hold no email in the test inbox, in send checks, explain, schedule and simulation', async () => {
    const scenario = await atNight(NOT_SET);
    expect(await explained(scenario)).toBe(true);
    const planned = await schedule(scenario);
    expect(planned.policy.quiet_hours).toBe('off');
    expect(planned.quiet).toMatchObject([{ zone: 'UTC', spans: [] }]);
    expect(await simulate(scenario, { throttle: '1/s' })).toEqual({ current: {}, proposed: {} });
    await scenario.later(2 * HOUR);
    expect((await scenario.emails()).map(({ at }) => at)).toEqual([scenario.now()]);
  });

  test('hold an email with a relay', async () => {
    const scenario = await atNight(NOT_SET);
    expect(await explained(scenario, relay)).toBe(false);
    const planned = await schedule(scenario, relay);
    expect(planned.policy.quiet_hours).toBe('21:00-08:00');
    expect(planned.quiet[0]?.spans.length).toBeGreaterThan(0);
  });

  test('hold an email in the simulation that sets them', async () => {
    const scenario = await atNight(NOT_SET);
    expect(await simulate(scenario, { quiet_hours: '21:00-08:00' })).toEqual({
      current: {},
      proposed: { quiet_hours: 1 },
    });
  });
});

describe('quiet hours that a project set', () => {
  test('hold an email in the test inbox until they end', async () => {
    const scenario = await atNight({ quiet_hours: '21:00-08:00' });
    expect(await explained(scenario)).toBe(false);
    expect((await schedule(scenario)).policy.quiet_hours).toBe('21:00-08:00');
    expect(await simulate(scenario, { quiet_hours: 'off' })).toEqual({
      current: { quiet_hours: 1 },
      proposed: {},
    });
    await scenario.later(2 * HOUR);
    expect(await scenario.emails()).toEqual([]);
    expect(await scenario.drafts('ada')).toMatchObject([{ state: 'held', reason: 'quiet_hours' }]);
    await scenario.later(8 * HOUR);
    expect(await scenario.emails()).toHaveLength(1);
  });
});
