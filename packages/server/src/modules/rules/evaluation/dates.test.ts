import { expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { editRule } from '../write-rule.ts';

const stage = await openStage();

const steps = [{ draft: { subject: 'Soon', body: 'It is about to renew.' } }];
const before = (trait: string): object => ({ relative_to: { trait }, before: '7d' });

async function withRule(more: object = {}): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off' });
  await scenario.rule({ name: 'Renewal', when: before('renewalDate'), steps, ...more });
  await scenario.user('u1', { email: 'a@x.org' });
  return scenario;
}

/** Sets the renewal date of the user this far ahead, or back if negative. */
async function renews(scenario: Scenario, ms: number): Promise<void> {
  await scenario.user('u1', { traits: { renewalDate: new Date(scenario.now() + ms).toISOString() } });
}

test('fires at once if less time is left when the date is set, and never after the date', async () => {
  const scenario = await withRule({ enrollment: { cooldown: '1m' } });
  await renews(scenario, 3 * DAY);
  await scenario.later(HOUR);
  expect(await scenario.drafts()).toMatchObject([
    { state: 'scheduled', endsAt: scenario.now() + 3 * DAY - HOUR },
  ]);
  await renews(scenario, -HOUR);
  await scenario.later(20 * DAY);
  expect(await scenario.why('u1', 'Renewal')).toEqual({ fired: 1, date_passed: 1, claimed: 1 });
  expect(await scenario.emails()).toHaveLength(1);
});

test('does not fire if the date was long ago when it was set', async () => {
  const scenario = await withRule({ when: { relative_to: { trait: 'renewalDate' }, after: '7d' } });
  await renews(scenario, -9 * DAY);
  await scenario.later(DAY);
  expect(await scenario.why('u1', 'Renewal')).toEqual({ too_old: 1 });
});

test('does not fire for a removed date, even if the rule uses another trait by now', async () => {
  const scenario = await withRule();
  await renews(scenario, 20 * DAY);
  await scenario.later(DAY);
  await editRule(scenario.server.db, {
    projectId: scenario.projectId,
    reference: 'Renewal',
    document: { when: before('endDate'), steps },
    includeOpen: false,
    actor: 'ann',
  });
  await renews(scenario, 385 * DAY);
  await scenario.later(40 * DAY);
  expect(await scenario.why('u1', 'Renewal')).toEqual({ starts_later: 1, superseded: 1 });
  expect(await scenario.emails()).toEqual([]);
});

test('counts a cooldown from the entry, and not from when the awaited date was set', async () => {
  const scenario = await withRule({ enrollment: { cooldown: '300d' } });
  await renews(scenario, 365 * DAY);
  await scenario.later(359 * DAY);
  expect(await scenario.emails()).toHaveLength(1);
  await renews(scenario, 15 * DAY);
  await scenario.later(10 * DAY);
  expect(await scenario.why('u1', 'Renewal')).toEqual({
    starts_later: 2,
    fired: 1,
    claimed: 1,
    in_cooldown: 1,
  });
  expect(await scenario.emails()).toHaveLength(1);
});
