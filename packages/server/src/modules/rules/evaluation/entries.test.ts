import { expect, test } from 'vitest';
import { HOUR } from '../../../../testkit/drafts.ts';
import { DAY, newStory, openStage, type Story } from '../../../../testkit/story.ts';
import { editRule } from '../write-rule.ts';

const stage = await openStage();

const steps = [{ draft: { subject: 'You did it', body: 'Well done.' } }];

/** A rule on `did`, in a project where only the enrollment setting limits how many emails a user gets. */
async function withRule(enrollment: object | string, more: object = {}): Promise<Story> {
  const story = await newStory(stage);
  await story.set({ frequency_cap: 'off', quiet_hours: 'off' });
  await story.rule({ name: 'Did', when: { event: 'did' }, enrollment, steps, ...more });
  await story.user('u1', { email: 'a@x.org' });
  await story.user('u2', { email: 'b@x.org' });
  return story;
}

async function did(story: Story, properties: Record<string, unknown> = {}, afterwards = 0): Promise<void> {
  await story.event('u1', 'did', properties);
  await story.later(afterwards);
}

const keys = async (story: Story): Promise<string[]> => (await story.runs('u1', 'Did')).map(({ key }) => key);

test('once: enrolls a user on the first event, and never again', async () => {
  const story = await withRule('once');
  await did(story, {}, 400 * DAY);
  await did(story, {}, DAY);
  await story.event('u2', 'did');
  await story.later(DAY);
  expect((await story.emails()).map(({ to }) => to)).toEqual(['u1', 'u2']);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('once: does not enroll a user again after an edit of the rule', async () => {
  const story = await withRule('once');
  await did(story, {}, DAY);
  const document = {
    when: { event: 'did' },
    steps: [{ draft: { subject: 'Again', body: 'Well done again.' } }],
  };
  const { projectId } = story;
  await editRule(story.server.db, {
    projectId,
    reference: 'Did',
    document,
    includeOpen: false,
    actor: 'ann',
  });
  await did(story, {}, DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('once_per: enrolls once per set of values, and treats a missing value as one', async () => {
  const story = await withRule({ once_per: ['plan', 'seats'] });
  for (const properties of [
    { plan: 'pro', seats: 1 },
    { seats: 1, plan: 'pro', other: true },
    { plan: 'pro', seats: '1' },
    { plan: 'team', seats: 1 },
    { plan: 'team' },
    { plan: 'team', seats: null },
    {},
    {},
  ])
    await did(story, properties, HOUR);
  await story.later(40 * DAY);
  await did(story, { plan: 'pro', seats: 1 }, DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 5, already_entered: 4, claimed: 5 });
  expect(new Set(await keys(story)).size).toBe(5);
});

test('one_at_a_time: enrolls a user again only after the run ended', async () => {
  const story = await withRule('one_at_a_time', { steps: [...steps, { wait: '3d' }, ...steps] });
  await did(story, {}, DAY);
  await did(story, {}, 2 * DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, in_progress: 1 });
  // The second email is sent three days after the first and ends the run.
  await story.later(5 * HOUR);
  expect(await story.runs('u1', 'Did')).toMatchObject([{ state: 'ended', end_reason: 'done' }]);
  await did(story, {}, 10 * DAY);
  expect(await story.emails()).toHaveLength(4);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 2, claimed: 4, in_progress: 1 });
});

test('one_at_a_time: enrolls a user again who leaves and returns within one batch', async () => {
  const story = await withRule('one_at_a_time', { exits: { events: ['left'] } });
  await did(story, {}, HOUR);
  const events = ['left', 'did', 'did', 'left', 'did'].map((name) => ({ external_user_id: 'u1', name }));
  await story.post('events/batch', { events });
  await story.later(DAY);
  const ends = (await story.runs('u1', 'Did')).map((run) => String(run.end_reason)).toSorted();
  expect(ends).toEqual(['done', 'exit_event', 'exit_event']);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 3, in_progress: 1, claimed: 1 });
  expect(await story.emails()).toHaveLength(1);
});

test('one_at_a_time: starts the next run on the event that ends the current one', async () => {
  const story = await withRule('one_at_a_time', { exits: { events: ['did'] } });
  await did(story, {}, HOUR);
  await did(story, {}, HOUR);
  await story.later(DAY);
  expect((await story.runs('u1', 'Did')).map((run) => run.end_reason)).toEqual(['exit_event', 'done']);
  expect(await story.emails()).toHaveLength(1);
});

test('cooldown: enrolls again exactly when the time since the last entry is over', async () => {
  const story = await withRule({ cooldown: '7d' });
  await did(story, {}, 7 * DAY - 1);
  await did(story, {}, 1);
  await did(story, {}, 7 * DAY - 1);
  await did(story, { plan: 'another' }, DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 2, claimed: 2, in_cooldown: 2 });
  expect(await keys(story)).toEqual(['', '']);
});

test('cooldown: is not restarted by a refused event', async () => {
  const story = await withRule({ cooldown: '2d' });
  for (let day = 0; day < 6; day += 1) await did(story, {}, DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 3, claimed: 3, in_cooldown: 3 });
});

test('cooldown per key with again: enrolls once more within it on the first event that passes the filter', async () => {
  const story = await withRule({
    cooldown: '30d',
    per: ['meter'],
    again: { property: 'percent', at_least: 100 },
  });
  const used = (meter: string, percent: number): Promise<void> => did(story, { meter, percent }, DAY);
  await used('seats', 80);
  await used('seats', 99);
  await used('storage', 100);
  await used('storage', 80);
  await used('storage', 120);
  await used('seats', 100);
  await used('seats', 130);
  expect((await keys(story)).toSorted()).toEqual(['seats', 'seats', 'storage']);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 3, claimed: 3, in_cooldown: 4 });
  await story.later(30 * DAY);
  await used('seats', 10);
  await used('seats', 100);
  expect((await keys(story)).toSorted()).toEqual(['seats', 'seats', 'seats', 'seats', 'storage']);
});

test('measures the age of an event from when it occurred, and applies max_event_age', async () => {
  const story = await withRule({ cooldown: '1m' }, { max_event_age: '2h' });
  const ago = (ms: number): { occurred_at: string } => ({
    occurred_at: new Date(story.now() - ms).toISOString(),
  });
  await story.event('u1', 'did', {}, ago(2 * HOUR + 1));
  await story.event('u1', 'did', {}, ago(2 * HOUR));
  await story.later(DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, too_old: 1, claimed: 1 });
});

test('uses up no entry while only_if does not hold, and evaluates it with all facts known by then', async () => {
  const story = await withRule('once', { only_if: { trait: 'plan', equals: 'pro' } });
  await did(story, {}, HOUR);
  await story.event('u1', 'did');
  await story.user('u1', { traits: { plan: 'pro' } });
  await story.later(DAY);
  expect(await story.why('u1', 'Did')).toEqual({ only_if: 1, fired: 1, claimed: 1 });
});

test('starts nothing for events accepted before the rule was created, whenever they are processed', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  await story.event('u1', 'did');
  story.server.clock.advance(1);
  await story.rule({ name: 'Did', when: { event: 'did' }, steps });
  await story.later(DAY);
  expect(await story.why('u1', 'Did')).toEqual({ before_enable: 1 });
  await story.event('u1', 'did');
  await story.later(DAY);
  expect(await story.emails()).toHaveLength(1);
});

const LATER = { relative_to: { event: 'did' }, after: '30d' };
const PRO = { trait: 'plan', equals: 'pro' };

test('once: sets a timer for each event until one enrolls the user', async () => {
  const story = await withRule('once', { when: LATER, only_if: PRO });
  const at = story.now();
  await did(story, {}, 10 * DAY);
  await did(story, {}, 10 * DAY);
  await did(story, {}, 15 * DAY);
  await story.user('u1', { traits: { plan: 'pro' } });
  await story.later(5 * DAY + HOUR);
  expect((await story.drafts()).map(({ createdAt }) => createdAt)).toEqual([at + 40 * DAY]);
  await did(story, {}, 40 * DAY);
  const why = { starts_later: 3, only_if: 1, fired: 1, claimed: 1, already_entered: 2 };
  expect(await story.why('u1', 'Did')).toEqual(why);
});

test('once_per: sets at most one timer per key and day', async () => {
  const story = await withRule({ once_per: ['plan'] }, { when: LATER });
  for (const plan of ['pro', 'pro', 'team']) await did(story, { plan }, HOUR);
  await story.later(DAY);
  await did(story, { plan: 'pro' }, HOUR);
  const timers = await story.server.db.query(`SELECT 1 FROM beckon.rule_timer WHERE project_id = $1`, [
    story.projectId,
  ]);
  expect(timers).toHaveLength(3);
  await story.later(40 * DAY);
  expect((await keys(story)).toSorted()).toEqual(['pro', 'team']);
});
