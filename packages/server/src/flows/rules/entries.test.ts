import { expect, test } from 'vitest';
import { HOUR } from '../../../testkit/drafts.ts';
import { DAY, newStory, openStage, type Story } from '../../../testkit/story.ts';
import { editRule } from '../edit-rule.ts';

const stage = await openStage();

const steps = [{ draft: { subject: 'You did it', body: 'Well done.' } }];

/** A rule on `did`, in a project where nothing but the entry decides how many letters somebody gets. */
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

test('once: the first event lets a person in, and none after it ever', async () => {
  const story = await withRule('once');
  await did(story, {}, 400 * DAY);
  await did(story, {}, DAY);
  await story.event('u2', 'did');
  await story.later(DAY);
  expect((await story.letters()).map(({ to }) => to)).toEqual(['u1', 'u2']);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, already_entered: 1 });
});

test('once: a new version of the rule lets nobody in again', async () => {
  const story = await withRule('once');
  await did(story, {}, DAY);
  const document = {
    when: { event: 'did' },
    steps: [{ draft: { subject: 'Anew', body: 'Well done again.' } }],
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

test('once per key: once for each set of values, of which a missing one is one', async () => {
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

test('one at a time: nobody is in twice, and whoever came to the end may come again', async () => {
  const story = await withRule('one_at_a_time', { steps: [...steps, { wait: '3d' }, ...steps] });
  await did(story, {}, DAY);
  await did(story, {}, 2 * DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, claimed: 1, in_progress: 1 });
  // The second letter left three days after the first, and with it the run came to its end.
  await story.later(5 * HOUR);
  expect(await story.runs('u1', 'Did')).toMatchObject([{ state: 'ended', end_reason: 'done' }]);
  await did(story, {}, 10 * DAY);
  expect(await story.letters()).toHaveLength(4);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 2, claimed: 4, in_progress: 1 });
});

test('one at a time: who leaves and comes again within one batch is in once more', async () => {
  const story = await withRule('one_at_a_time', { exits: { events: ['left'] } });
  await did(story, {}, HOUR);
  const events = ['left', 'did', 'did', 'left', 'did'].map((name) => ({ external_user_id: 'u1', name }));
  await story.post('events/batch', { events });
  await story.later(DAY);
  const ends = (await story.runs('u1', 'Did')).map((run) => String(run.end_reason)).toSorted();
  expect(ends).toEqual(['done', 'exit_event', 'exit_event']);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 3, in_progress: 1, claimed: 1 });
  expect(await story.letters()).toHaveLength(1);
});

test('one at a time: an event that ends a run begins the next', async () => {
  const story = await withRule('one_at_a_time', { exits: { events: ['did'] } });
  await did(story, {}, HOUR);
  await did(story, {}, HOUR);
  await story.later(DAY);
  expect((await story.runs('u1', 'Did')).map((run) => run.end_reason)).toEqual(['exit_event', 'done']);
  expect(await story.letters()).toHaveLength(1);
});

test('cooldown: not within that time of the last entry, and again from the very moment on at which it is over', async () => {
  const story = await withRule({ cooldown: '7d' });
  await did(story, {}, 7 * DAY - 1);
  await did(story, {}, 1);
  await did(story, {}, 7 * DAY - 1);
  await did(story, { plan: 'another' }, DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 2, claimed: 2, in_cooldown: 2 });
  expect(await keys(story)).toEqual(['', '']);
});

test('cooldown: one that was refused does not begin it anew', async () => {
  const story = await withRule({ cooldown: '2d' });
  for (let day = 0; day < 6; day += 1) await did(story, {}, DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 3, claimed: 3, in_cooldown: 3 });
});

test('cooldown per key, with again: once more within it for whoever first passes the test', async () => {
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

test('an event is old by when it happened, and a rule says how old is too old', async () => {
  const story = await withRule({ cooldown: '1m' }, { max_event_age: '2h' });
  const ago = (ms: number): { occurred_at: string } => ({
    occurred_at: new Date(story.now() - ms).toISOString(),
  });
  await story.event('u1', 'did', {}, ago(2 * HOUR + 1));
  await story.event('u1', 'did', {}, ago(2 * HOUR));
  await story.later(DAY);
  expect(await story.why('u1', 'Did')).toEqual({ fired: 1, too_old: 1, claimed: 1 });
});

test('a condition that does not hold keeps out and spends nothing, and looks at all that is known by then', async () => {
  const story = await withRule('once', { only_if: { trait: 'plan', equals: 'pro' } });
  await did(story, {}, HOUR);
  await story.event('u1', 'did');
  await story.user('u1', { traits: { plan: 'pro' } });
  await story.later(DAY);
  expect(await story.why('u1', 'Did')).toEqual({ only_if: 1, fired: 1, claimed: 1 });
});

test('what was accepted before a rule was made starts nothing of it, digested after it or not', async () => {
  const story = await newStory(stage);
  await story.user('u1', { email: 'a@x.org' });
  await story.event('u1', 'did');
  story.server.clock.advance(1);
  await story.rule({ name: 'Did', when: { event: 'did' }, steps });
  await story.later(DAY);
  expect(await story.why('u1', 'Did')).toEqual({ before_enable: 1 });
  await story.event('u1', 'did');
  await story.later(DAY);
  expect(await story.letters()).toHaveLength(1);
});

const LATER = { relative_to: { event: 'did' }, after: '30d' };
const PRO = { trait: 'plan', equals: 'pro' };

test('once: each event has a moment of its own until one lets the person in, and sets none any more then', async () => {
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

test('once: however often it happens, a person waits for no more than one moment of each day', async () => {
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
