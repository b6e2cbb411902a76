import { describe, expect, test } from 'vitest';
import { testSendServices } from '../../../testkit/mailroom.ts';
import { HOUR } from '../../../testkit/drafts.ts';
import { newStory, openStage, type Story } from '../../../testkit/story.ts';
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
async function atNight(settings: Record<string, string>): Promise<Story> {
  const story = await newStory(stage, settings);
  const steps = [{ draft: { subject: 'Hello', body: 'Hello' } }];
  await story.rule({ name: 'greeter', when: { event: 'hello' }, deadline: '2h', steps });
  await story.until('23:00');
  await story.user('ada', { email: 'ada@x.org' });
  await story.event('ada', 'hello');
  await story.later(0);
  return story;
}

const schedule = ({ projectId }: Story, by = sendServices) =>
  showSchedule({ db, sendServices: by }, projectId);
/** Returns what holds the drafts now, and with the wanted settings. */
async function simulate({ projectId }: Story, changes: Record<string, string>) {
  const { current, proposed } = await simulatePolicy({ db, sendServices }, { projectId, settings: changes });
  return { current: current.held, proposed: proposed.held };
}
async function explained(story: Story, by = sendServices): Promise<boolean | undefined> {
  const target = { projectId: story.projectId, kind: 'user' as const, value: 'ada' };
  const { people } = await checkRecipients(db, { target, now: story.now(), sendServices: by });
  return people[0]?.gates.find(({ check }) => check === 'quiet_hours')?.passes;
}

describe('quiet hours that a project did not set', () => {
  test('hold no email in the test inbox, in send checks, explain, schedule and simulation', async () => {
    const story = await atNight(NOT_SET);
    expect(await explained(story)).toBe(true);
    const planned = await schedule(story);
    expect(planned.policy.quiet_hours).toBe('off');
    expect(planned.quiet).toMatchObject([{ zone: 'UTC', spans: [] }]);
    expect(await simulate(story, { throttle: '1/s' })).toEqual({ current: {}, proposed: {} });
    await story.later(2 * HOUR);
    expect((await story.emails()).map(({ at }) => at)).toEqual([story.now()]);
  });

  test('hold an email with a relay', async () => {
    const story = await atNight(NOT_SET);
    expect(await explained(story, relay)).toBe(false);
    const planned = await schedule(story, relay);
    expect(planned.policy.quiet_hours).toBe('21:00-08:00');
    expect(planned.quiet[0]?.spans.length).toBeGreaterThan(0);
  });

  test('hold an email in the simulation that sets them', async () => {
    const story = await atNight(NOT_SET);
    expect(await simulate(story, { quiet_hours: '21:00-08:00' })).toEqual({
      current: {},
      proposed: { quiet_hours: 1 },
    });
  });
});

describe('quiet hours that a project set', () => {
  test('hold an email in the test inbox until they end', async () => {
    const story = await atNight({ quiet_hours: '21:00-08:00' });
    expect(await explained(story)).toBe(false);
    expect((await schedule(story)).policy.quiet_hours).toBe('21:00-08:00');
    expect(await simulate(story, { quiet_hours: 'off' })).toEqual({
      current: { quiet_hours: 1 },
      proposed: {},
    });
    await story.later(2 * HOUR);
    expect(await story.emails()).toEqual([]);
    expect(await story.drafts('ada')).toMatchObject([{ state: 'held', reason: 'quiet_hours' }]);
    await story.later(8 * HOUR);
    expect(await story.emails()).toHaveLength(1);
  });
});
