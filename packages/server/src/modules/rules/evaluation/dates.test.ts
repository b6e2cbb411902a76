import { expect, test } from 'vitest';
import { HOUR } from '../../../../testkit/drafts.ts';
import { DAY, newStory, openStage, type Story } from '../../../../testkit/story.ts';
import { editRule } from '../write-rule.ts';

const stage = await openStage();

const steps = [{ draft: { subject: 'Soon', body: 'It is about to renew.' } }];
const before = (trait: string): object => ({ relative_to: { trait }, before: '7d' });

async function withRule(more: object = {}): Promise<Story> {
  const story = await newStory(stage);
  await story.set({ frequency_cap: 'off', quiet_hours: 'off' });
  await story.rule({ name: 'Renewal', when: before('renewalDate'), steps, ...more });
  await story.user('u1', { email: 'a@x.org' });
  return story;
}

/** Sets the renewal date of the user this far ahead, or back if negative. */
async function renews(story: Story, ms: number): Promise<void> {
  await story.user('u1', { traits: { renewalDate: new Date(story.now() + ms).toISOString() } });
}

test('fires at once if less time is left when the date is set, and never after the date', async () => {
  const story = await withRule({ enrollment: { cooldown: '1m' } });
  await renews(story, 3 * DAY);
  await story.later(HOUR);
  expect(await story.drafts()).toMatchObject([{ state: 'scheduled', endsAt: story.now() + 3 * DAY - HOUR }]);
  await renews(story, -HOUR);
  await story.later(20 * DAY);
  expect(await story.why('u1', 'Renewal')).toEqual({ fired: 1, date_passed: 1, claimed: 1 });
  expect(await story.emails()).toHaveLength(1);
});

test('does not fire if the date was long ago when it was set', async () => {
  const story = await withRule({ when: { relative_to: { trait: 'renewalDate' }, after: '7d' } });
  await renews(story, -9 * DAY);
  await story.later(DAY);
  expect(await story.why('u1', 'Renewal')).toEqual({ too_old: 1 });
});

test('does not fire for a removed date, even if the rule uses another trait by now', async () => {
  const story = await withRule();
  await renews(story, 20 * DAY);
  await story.later(DAY);
  await editRule(story.server.db, {
    projectId: story.projectId,
    reference: 'Renewal',
    document: { when: before('endDate'), steps },
    includeOpen: false,
    actor: 'ann',
  });
  await renews(story, 385 * DAY);
  await story.later(40 * DAY);
  expect(await story.why('u1', 'Renewal')).toEqual({ starts_later: 1, superseded: 1 });
  expect(await story.emails()).toEqual([]);
});

test('counts a cooldown from the entry, and not from when the awaited date was set', async () => {
  const story = await withRule({ enrollment: { cooldown: '300d' } });
  await renews(story, 365 * DAY);
  await story.later(359 * DAY);
  expect(await story.emails()).toHaveLength(1);
  await renews(story, 15 * DAY);
  await story.later(10 * DAY);
  expect(await story.why('u1', 'Renewal')).toEqual({ starts_later: 2, fired: 1, claimed: 1, in_cooldown: 1 });
  expect(await story.emails()).toHaveLength(1);
});
