import { describe, expect, test } from 'vitest';
import { testHasher } from '../../../../testkit/hasher.ts';
import { DAY, newStory, openStage, type Story } from '../../../../testkit/story.ts';
import { idMaker } from '../../../platform/ids.ts';
import { knownProperties } from '../../users/events/events.ts';
import type { Enrollment } from './enrollment.ts';
import { findLatestEnrollment } from './store.ts';
import { findRule } from '../definitions/load-rules.ts';
import { setRefusals } from '../../sending/suppressions/store.ts';
import { newModel, takeTurn } from '../../../platform/locks/project-lock.ts';
import type { Database } from '../../../platform/db/database.ts';
import { createAudience, editAudience } from '../../audiences/change-audience.ts';
import { createRule, editRule } from '../write-rule.ts';
import { digestDue } from '../../processing/process-timers.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { createModels } from '../project-model.ts';
import { suppress } from '../../outcomes/suppressions/suppress.ts';
import { sweepDues } from '../../processing/sweep-timers.ts';
import { disableRule, enableRule } from '../switch-rule.ts';
import { previewEnrollment } from './preview-enrollment.ts';
import { startEnrollment } from './enroll.ts';
import { listRuleNeeds } from '../runs/rules-in-force.ts';

const stage = await openStage();
const { db, clock } = stage.server;
const audienceDeps = { db, listRuleNeeds };
const newId = idMaker(clock);
const steps = [{ draft: { subject: 'Welcome to Pro', body: 'Hello.' } }];
type Scene = { story: Story; audienceId: string; document: Record<string, unknown> };

/** A project with an audience of users with the plan `pro`, these users in it, and a rule for it that is off. */
async function scene(users: string[], more: object = {}): Promise<Scene> {
  const story = await newStory(stage);
  await story.set({ frequency_cap: 'off', quiet_hours: 'off', autopilot: 'draft' });
  for (const user of users) await story.user(user, { email: `${user}@x.org`, traits: { plan: 'pro' } });
  await story.later(0);
  const { projectId } = story;
  const definition = { trait: 'plan', equals: 'pro' };
  const { id: audienceId } = await createAudience(audienceDeps, { projectId, name: 'Pros', definition });
  await story.later(1_000);
  const document = { name: 'Pro', when: { audience: audienceId, move: 'joined' }, steps, ...more };
  await createRule(db, { projectId, document, isOff: true });
  return { story, audienceId, document };
}

/** An import of an event, which suppresses the triggers of this user until their next event. */
const muted = (story: Story, user: string) =>
  story.post('events/batch', {
    events: [{ external_user_id: user, name: 'login', properties: {} }],
    suppressTriggers: true,
  });

const of = ({ story: { projectId } }: Scene) => ({ projectId, reference: 'Pro' });
const enable = (one: Scene) =>
  enableRule(db, { ...of(one), actor: 'ann', confirmed: false, enroll: { newId } });
const start = (one: Scene) => startEnrollment(db, { ...of(one), newId });
const edit = (one: Scene, change: object) =>
  editRule(db, { ...of(one), document: { ...one.document, ...change }, includeOpen: false, actor: 'ann' });
const preview = (one: Scene) => previewEnrollment(db, of(one));

async function latest({ story: { projectId } }: Scene): Promise<Enrollment> {
  const { id: ruleId } = await findRule(db, { projectId, reference: 'Pro' });
  const found = await findLatestEnrollment(db, { projectId, ruleId });
  if (!found) throw new Error('there is no enrollment');
  return found;
}

/** A worker of its own, which processes `limit` users at a time. */
function worker(limit: number, own: Database = db) {
  const deps = { db: own, newId, models: createModels(clock), known: knownProperties(), hasher: testHasher };
  return ({ story: { projectId } }: Scene) => digestDue(deps, projectId, limit);
}

const enrolledUsers = async ({ story }: Scene): Promise<string[]> =>
  (await story.drafts()).map(({ userId }) => userId).toSorted();

async function runUntilDone(one: Scene, step: (one: Scene) => Promise<unknown>): Promise<void> {
  while ((await latest(one)).state === 'running') await step(one);
}

describe('startEnrollment', () => {
  test('enrolls the members of the audience when the rule is turned on, and logs each decision', async () => {
    const one = await scene(['u1', 'u2', 'u3']);
    const { enrollment } = await enable(one);
    expect(enrollment).toMatchObject({ state: 'running', members: 3, processed: 0 });
    await one.story.later(0);
    const done = { state: 'done', processed: 3, enrolled: 3, excluded: {}, afterUser: null };
    expect(await latest(one)).toMatchObject(done);
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2', 'u3']);
    expect(await one.story.why('u1', 'Pro')).toEqual({ fired: 1 });
    const [row] = await db.query<{ detail: object }>(
      `SELECT detail FROM beckon.decision WHERE project_id = $1 AND external_user_id = 'u1' AND reason = 'fired'`,
      [one.story.projectId],
    );
    expect(row?.detail).toEqual({ audience_id: one.audienceId, by: 'enrollment' });
  });

  test('enrolls no users when a rule is turned on without it', async () => {
    const one = await scene(['u1']);
    await enableRule(db, { ...of(one), actor: 'ann', confirmed: false });
    await one.story.later(DAY);
    expect(await enrolledUsers(one)).toEqual([]);
  });

  test('returns the running enrollment when it is repeated', async () => {
    const one = await scene(['u1', 'u2']);
    const first = (await enable(one)).enrollment;
    expect((await start(one)).enrollment).toEqual(first);
    await one.story.later(0);
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2']);
  });

  test('refuses a rule that is off, one without an audience to enter, and an audience that is still being built', async () => {
    const one = await scene(['u1']);
    const refused = (words: string) => ({
      code: 'conflict',
      details: [{ message: expect.stringContaining(words) as string, field: 'rule' }],
    });
    await expect(start(one)).rejects.toMatchObject(refused('is off'));
    const { projectId } = one.story;
    await one.story.rule({ name: 'Leave', when: { audience: one.audienceId, move: 'left' }, steps });
    await expect(startEnrollment(db, { projectId, reference: 'Leave', newId })).rejects.toMatchObject(
      refused('does not start when users enter an audience'),
    );
    const fresh = await createAudience(audienceDeps, {
      projectId,
      name: 'Fresh',
      definition: { trait: 'plan', equals: 'new' },
    });
    await one.story.rule({ name: 'Fresh', when: { audience: fresh.id, move: 'joined' }, steps });
    await expect(startEnrollment(db, { projectId, reference: 'Fresh', newId })).rejects.toMatchObject(
      refused('"Fresh" is still being built'),
    );
  });

  test('enrolls no user a second time, even where the rule lets users enter again', async () => {
    for (const enrollment of ['once', 'one_at_a_time', { cooldown: '1d' }]) {
      const one = await scene(['u1', 'u2'], { enrollment });
      await enable(one);
      await one.story.later(0);
      for (const user of ['u1', 'u2']) await one.story.act(user, { kind: 'skip', reason: null });
      await one.story.later(10 * DAY);
      await start(one);
      await one.story.later(0);
      expect(await latest(one), JSON.stringify(enrollment)).toMatchObject({
        state: 'done',
        enrolled: 0,
        excluded: { already_entered: 2 },
      });
      expect(await enrolledUsers(one)).toHaveLength(2);
    }
  });
});

describe('previewEnrollment', () => {
  test('counts and names who would be enrolled and why others are excluded, and the enrollment does the same', async () => {
    const users = ['u1', 'u2', 'muted', 'listed', 'topic', 'never', 'in'];
    const more = {
      only_if: { not: { trait: 'skip', equals: true } },
      topic: 'news',
      enrollment: 'one_at_a_time',
    };
    const one = await scene(users, { ...more, holdout: 0 });
    const { story } = one;
    const { projectId } = story;
    await story.set({ topics: 'news:News' });
    await story.user('u1', { traits: { name: 'Ada' } });
    await story.user('nomail', { traits: { plan: 'pro' } });
    await story.user('never', { traits: { skip: true } });
    await story.later(1_000);
    // Enters by joining, before the enrollment.
    await enableRule(db, { ...of(one), actor: 'ann', confirmed: false });
    await story.user('in', { traits: { plan: 'free' } });
    await story.later(1_000);
    await story.user('in', { traits: { plan: 'pro' } });
    await story.later(1_000);
    await muted(story, 'muted');
    await story.later(1_000);
    await suppress(db, {
      projectId,
      kind: 'email',
      value: 'listed@x.org',
      reason: 'manual',
      until: null,
      actor: 'ann',
    });
    const place = { projectId, kind: 'user' as const, value: 'topic' };
    await setRefusals(db, { places: [place], refused: ['news'], wanted: [], at: story.now() });
    const found = await preview(one);
    expect(found).toMatchObject({
      audiences: [{ id: one.audienceId, name: 'Pros', isReady: true }],
      members: 8,
      evaluated: 8,
    });
    const excluded = Object.fromEntries(found.excluded);
    expect(excluded).toMatchObject({
      no_address: 1,
      address_suppressed: 1,
      topic_unsubscribed: 1,
      suppressed: 1,
      only_if: 1,
      in_progress: 1,
    });
    expect(found.first).toEqual([
      { userId: 'u1', name: 'Ada' },
      { userId: 'u2', name: null },
    ]);
    expect(await story.why('u1', 'Pro')).toEqual({});
    await start(one);
    await story.later(0);
    expect(await latest(one)).toMatchObject({ processed: 8, enrolled: found.enrolled, excluded });
  });

  test('counts for a rule that is off what would happen if it were turned on', async () => {
    const one = await scene(['u1']);
    expect(await preview(one)).toMatchObject({ members: 1, enrolled: 1 });
    expect(await one.story.why('u1', 'Pro')).toEqual({});
  });

  test('shows no more than 20 users, and no audience for a rule that starts with an event', async () => {
    const one = await scene(Array.from({ length: 25 }, (_, at) => `u${at}`));
    const found = await preview(one);
    expect([found.enrolled, found.first.length]).toEqual([25, 20]);
    await one.story.rule({ name: 'Event', when: { event: 'did' }, steps });
    const { projectId } = one.story;
    expect(await previewEnrollment(db, { projectId, reference: 'Event' })).toMatchObject({
      audiences: [],
      members: 0,
      enrolled: 0,
    });
  });

  test('excludes the holdout and users with too many runs, as the enrollment does', async () => {
    const users = Array.from({ length: 30 }, (_, at) => `u${at}`);
    const one = await scene(users, { holdout: 50, goal: { event: 'paid' } });
    await db.query(
      `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, arm, single, step, waits_for, anchor, enrolled_at)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 1, 'u0', n::text, 'active', 'treatment', false, 0, 'event', '{}', now()
       FROM generate_series(1, 100) AS n`,
      [one.story.projectId],
    );
    const found = await preview(one);
    expect(found.excluded.get('run_limit')).toBe(1);
    expect(found.excluded.get('holdout')).toBeGreaterThan(3);
    await enable(one);
    await one.story.later(0);
    const { enrolled, excluded } = await latest(one);
    expect({ enrolled, excluded }).toEqual({
      enrolled: found.enrolled,
      excluded: Object.fromEntries(found.excluded),
    });
    expect(await enrolledUsers(one)).toHaveLength(found.enrolled);
  });
});

describe('enrollment batches', () => {
  test('do not enroll a user who leaves the audience after the preview', async () => {
    const one = await scene(['u1', 'u2']);
    expect((await preview(one)).enrolled).toBe(2);
    await enable(one);
    await one.story.user('u1', { traits: { plan: 'free' } });
    await one.story.later(0);
    expect(await enrolledUsers(one)).toEqual(['u2']);
    expect(await one.story.why('u1', 'Pro')).toEqual({ left_audience: 1 });
    expect(await latest(one)).toMatchObject({ members: 2, processed: 2, enrolled: 1, state: 'done' });
  });

  test('leave users who join after the start to the rule itself, which enrolls them once', async () => {
    const one = await scene(['u1']);
    await enable(one);
    clock.advance(1_000);
    await one.story.user('u0', { email: 'u0@x.org', traits: { plan: 'pro' } });
    await one.story.later(DAY);
    expect(await enrolledUsers(one)).toEqual(['u0', 'u1']);
    expect(await one.story.why('u0', 'Pro')).toEqual({ fired: 1 });
    expect(await latest(one)).toMatchObject({ processed: 1, enrolled: 1 });
  });

  test('continue after the last committed batch when a worker is killed at any point', async () => {
    const one = await scene(['u1', 'u2', 'u3', 'u4', 'u5']);
    await enable(one);
    for (const point of ['timers_claimed', 'due_committing', 'due_committed'] as const) {
      const reach: Database['reach'] = (at) => {
        if (at === point) throw new Error(`killed at ${point}`);
      };
      await expect(worker(2, { ...db, reach })(one)).rejects.toThrow(point);
    }
    // Only the batch that was committed before its worker was killed counts.
    expect(await latest(one)).toMatchObject({ processed: 2, enrolled: 2, afterUser: 'u2', state: 'running' });
    await runUntilDone(one, worker(2));
    expect(await latest(one)).toMatchObject({ processed: 5, enrolled: 5, state: 'done' });
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2', 'u3', 'u4', 'u5']);
  });

  test('enroll each user once when two workers process them at the same time', async () => {
    const users = Array.from({ length: 23 }, (_, at) => `u${at}`);
    const one = await scene(users, { enrollment: 'one_at_a_time' });
    await enable(one);
    const [first, second] = [worker(3), worker(4)];
    await runUntilDone(one, (at) => Promise.all([first(at), second(at)]));
    expect(await enrolledUsers(one)).toEqual(users.toSorted());
    expect(await latest(one)).toMatchObject({ processed: 23, enrolled: 23 });
  });

  test('stay within their project', async () => {
    const [one, other] = [await scene(['u1', 'u2']), await scene(['u1', 'u2', 'u3'])];
    await enable(one);
    await one.story.later(DAY);
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2']);
    expect(await enrolledUsers(other)).toEqual([]);
    await enable(other);
    await other.story.later(0);
    expect(await enrolledUsers(other)).toEqual(['u1', 'u2', 'u3']);
    const wrong = { projectId: other.story.projectId, reference: (await latest(one)).ruleId, newId };
    await expect(startEnrollment(db, wrong)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('take turns between two rules of a project', async () => {
    const one = await scene(['u1', 'u2', 'u3', 'u4']);
    const { projectId } = one.story;
    await enable(one);
    await one.story.rule({ ...one.document, name: 'Second' });
    await startEnrollment(db, { projectId, reference: 'Second', newId });
    clock.advance(1);
    await worker(2)(one);
    clock.advance(1);
    await worker(2)(one);
    const processed = await db.query<{ processed: number }>(
      `SELECT processed FROM beckon.rule_enrollment WHERE project_id = $1`,
      [projectId],
    );
    expect(processed).toEqual([{ processed: 2 }, { processed: 2 }]);
  });

  test('end when the rule is turned off, and do not continue when it is turned on again', async () => {
    const one = await scene(['u1', 'u2', 'u3', 'u4']);
    await enable(one);
    await worker(2)(one);
    await disableRule(db, { ...of(one), actor: 'ann' });
    expect(await latest(one)).toMatchObject({
      state: 'canceled',
      processed: 2,
      enrolled: 2,
      afterUser: null,
      cancelReason: 'rule_off',
    });
    await enableRule(db, { ...of(one), actor: 'ann', confirmed: true });
    await one.story.later(DAY);
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2']);
  });

  test('end when an edit changes the rule, so that only users of the preview are enrolled', async () => {
    const one = await scene(['u1', 'u2', 'u3']);
    const { story, audienceId } = one;
    await story.user('z1', { email: 'z1@x.org', traits: { plan: 'free' } });
    const { id: other } = await createAudience(audienceDeps, {
      projectId: story.projectId,
      name: 'Free',
      definition: { trait: 'plan', equals: 'free' },
    });
    await story.later(1_000);
    const changes = [
      { when: { event: 'did' } },
      { when: { audience: other, move: 'joined' } },
      { when: [audienceId, other].map((audience) => ({ audience, move: 'joined' })) },
      { only_if: { trait: 'plan', equals: 'pro' } },
    ];
    await enable(one);
    for (const [at, change] of changes.entries()) {
      if (at > 0) await edit(one, {});
      await start(one);
      await edit(one, change);
      expect(await latest(one), JSON.stringify(change)).toMatchObject({
        state: 'canceled',
        cancelReason: 'rule_edited',
        processed: 0,
      });
      await story.later(1_000);
    }
    expect(await enrolledUsers(one)).toEqual([]);
  });

  test('continue after an edit of the name, mode or deadline of the rule', async () => {
    const one = await scene(['u1', 'u2', 'u3']);
    await enable(one);
    await worker(2)(one);
    await edit(one, { mode: 'draft', deadline: '2h' });
    await one.story.later(0);
    expect(await latest(one)).toMatchObject({ state: 'done', enrolled: 3, cancelReason: null });
  });

  test('enroll no users whom only a new definition of the audience covers', async () => {
    const one = await scene(['u1', 'u2', 'u3']);
    const { story, audienceId } = one;
    await story.user('z1', { email: 'z1@x.org', traits: { plan: 'free' } });
    await story.later(1_000);
    await enable(one);
    await worker(1)(one);
    clock.advance(1);
    const definition = { any: ['pro', 'free'].map((plan) => ({ trait: 'plan', equals: plan })) };
    await editAudience(audienceDeps, { projectId: story.projectId, reference: audienceId, definition });
    await story.later(1_000);
    expect(await latest(one)).toMatchObject({ state: 'done', processed: 3 });
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2', 'u3']);
  });

  test('wait while an audience has no ready members', async () => {
    const one = await scene(['u1', 'u2']);
    const { projectId } = one.story;
    await enable(one);
    const setState = (state: string) =>
      db.transaction(async (tx) => {
        await takeTurn(tx, projectId);
        await newModel(tx, projectId);
        await tx.query(`UPDATE beckon.audience_edition SET state = $2 WHERE project_id = $1`, [
          projectId,
          state,
        ]);
      });
    await setState('building');
    await worker(1)(one);
    await worker(1)(one);
    expect(await latest(one)).toMatchObject({
      state: 'running',
      processed: 0,
      nextAt: one.story.now() + 10_000,
    });
    await setState('served');
    await one.story.later(10_000);
    expect(await latest(one)).toMatchObject({ state: 'done', enrolled: 2 });
  });

  test('leave an imported user free to enter the rule later', async () => {
    const one = await scene(['u1']);
    const { story } = one;
    await muted(story, 'u1');
    await story.later(1_000);
    await enable(one);
    await story.later(1_000);
    expect(await latest(one)).toMatchObject({ enrolled: 0, excluded: { suppressed: 1 } });
    await story.event('u1', 'login');
    await story.later(1_000);
    await start(one);
    await story.later(0);
    expect(await latest(one)).toMatchObject({ enrolled: 1 });
    expect(await enrolledUsers(one)).toEqual(['u1']);
  });

  test('enroll a user who leaves one of two audiences in the same batch, and log a user who leaves all', async () => {
    const one = await scene(['u1', 'u2']);
    const { story, audienceId } = one;
    for (const user of ['u1', 'u3']) await story.event(user, 'login');
    await story.user('u3', { email: 'u3@x.org' });
    await story.later(1_000);
    const { id: active } = await createAudience(audienceDeps, {
      projectId: story.projectId,
      name: 'Active',
      definition: { event: 'login', within: '1d' },
    });
    await story.later(1_000);
    await edit(one, { when: [active, audienceId].map((audience) => ({ audience, move: 'joined' })) });
    await story.later(DAY - 10_000);
    expect((await enable(one)).enrollment).toMatchObject({ members: 3 });
    clock.advance(10_000);
    await worker(500)(one);
    expect(await latest(one)).toMatchObject({ processed: 3, enrolled: 2, excluded: { left_audience: 1 } });
    expect(await enrolledUsers(one)).toEqual(['u1', 'u2']);
    expect(await story.why('u1', 'Pro')).toEqual({ fired: 1 });
    expect(await story.why('u3', 'Pro')).toEqual({ left_audience: 1 });
  });

  test('start again after the alarm of their project was lost', async () => {
    const one = await scene(['u1', 'u2']);
    await enable(one);
    await db.query(`UPDATE beckon.tenant_due SET next_at = NULL WHERE project_id = $1`, [
      one.story.projectId,
    ]);
    await one.story.later(0);
    expect(await latest(one)).toMatchObject({ state: 'running', processed: 0 });
    expect(await sweepDues(db)).toBe(1);
    await one.story.later(0);
    expect(await latest(one)).toMatchObject({ state: 'done', enrolled: 2 });
  });

  test('keep no id of a user who is erased while they run', async () => {
    const one = await scene(['u1', 'u2', 'u3', 'u4']);
    await enable(one);
    await worker(2)(one);
    const { projectId } = one.story;
    await erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'u2' });
    expect(await latest(one)).toMatchObject({ afterUser: 'u1' });
    await erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'u1' });
    expect(await latest(one)).toMatchObject({ afterUser: null });
    await runUntilDone(one, worker(2));
    expect(await enrolledUsers(one)).toEqual(['u3', 'u4']);
    expect(await latest(one)).toMatchObject({ processed: 4, enrolled: 4 });
  });
});
