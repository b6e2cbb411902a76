import { describe, expect, test } from 'vitest';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import {
  type EnrollmentScene,
  enrollmentScene,
  enrollmentWorker,
  latestEnrollment,
  WELCOME_STEPS as steps,
} from '../../../../testing/factories/enrollment-scene.ts';
import { DAY, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { setTopicUnsubscribes } from '../../outcomes/suppressions/store.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import { incrementModel } from '../../../platform/locks/store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { createAudience, editAudience } from '../../audiences/change-audience.ts';
import { editRule } from '../write-rule.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { suppress } from '../../outcomes/suppressions/suppress.ts';
import { sweepTimers } from '../../processing/sweep-timers.ts';
import { disableRule, enableRule } from '../switch-rule.ts';
import { previewEnrollment } from './preview-enrollment.ts';
import { startEnrollment } from './enroll.ts';
import { listRuleNeeds } from '../runs/rules-in-force.ts';

const stage = await openStage();
const { db, clock } = stage.server;
const audienceDeps = { db, listRuleNeeds };
const newId = idMaker(clock);
const scene = (users: string[], more?: object) => enrollmentScene(stage, users, more);

/** An import of an event, which suppresses the triggers of this user until their next event. */
const muted = (scenario: Scenario, user: string) =>
  scenario.post('events/batch', {
    events: [{ external_user_id: user, name: 'login', properties: {} }],
    suppressTriggers: true,
  });

const of = ({ scenario: { projectId } }: EnrollmentScene) => ({ projectId, reference: 'Pro' });
const enable = (current: EnrollmentScene) =>
  enableRule(db, { ...of(current), actor: 'ann', confirmed: false, enroll: { newId } });
const start = (current: EnrollmentScene) => startEnrollment(db, { ...of(current), newId });
const edit = (current: EnrollmentScene, change: object) =>
  editRule(db, {
    ...of(current),
    document: { ...current.document, ...change },
    includeOpen: false,
    actor: 'ann',
  });
const preview = (current: EnrollmentScene) => previewEnrollment(db, of(current));

const latest = (current: EnrollmentScene) => latestEnrollment(db, current);
const worker = (limit: number, workerDb: Database = db) =>
  enrollmentWorker({ db: workerDb, newId, clock }, limit);

const enrolledUsers = async ({ scenario }: EnrollmentScene): Promise<string[]> =>
  (await scenario.drafts()).map(({ userId }) => userId).toSorted();

async function runUntilDone(
  current: EnrollmentScene,
  step: (current: EnrollmentScene) => Promise<unknown>,
): Promise<void> {
  while ((await latest(current)).state === 'running') await step(current);
}

describe('startEnrollment', () => {
  test('enrolls the members of the audience when the rule is enabled, and logs each decision', async () => {
    const current = await scene(['u1', 'u2', 'u3']);
    const { enrollment } = await enable(current);
    expect(enrollment).toMatchObject({ state: 'running', members: 3, processed: 0 });
    await current.scenario.later(0);
    const expected = { state: 'done', processed: 3, enrolled: 3, excluded: {}, afterUser: null };
    expect(await latest(current)).toMatchObject(expected);
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2', 'u3']);
    expect(await current.scenario.why('u1', 'Pro')).toEqual({ fired: 1 });
    const [row] = await db.query<{ detail: object }>(
      `SELECT detail FROM beckon.decision WHERE project_id = $1 AND external_user_id = 'u1' AND reason = 'fired'`,
      [current.scenario.projectId],
    );
    expect(row?.detail).toEqual({ audience_id: current.audienceId, by: 'enrollment' });
  });

  test('enrolls no users when a rule is enabled without it', async () => {
    const current = await scene(['u1']);
    await enableRule(db, { ...of(current), actor: 'ann', confirmed: false });
    await current.scenario.later(DAY);
    expect(await enrolledUsers(current)).toEqual([]);
  });

  test('returns the running enrollment when it is repeated', async () => {
    const current = await scene(['u1', 'u2']);
    const first = (await enable(current)).enrollment;
    expect((await start(current)).enrollment).toEqual(first);
    await current.scenario.later(0);
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2']);
  });

  test('refuses a disabled rule, one without an audience to enter, and an audience that is still being built', async () => {
    const current = await scene(['u1']);
    await expect(start(current)).rejects.toMatchObject({ code: 'conflict', details: [{ field: 'rule' }] });
    await expect(start(current)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: The rule "Pro" is disabled. Enable it to enroll users]`,
    );
    const { projectId } = current.scenario;
    const startOf = (reference: string) => startEnrollment(db, { projectId, reference, newId });
    await current.scenario.rule({
      name: 'Leave',
      when: { audience: current.audienceId, move: 'left' },
      steps,
    });
    await expect(startOf('Leave')).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: The rule "Leave" does not start when users enter an audience, so there are no members to enroll]`,
    );
    const fresh = await createAudience(audienceDeps, {
      projectId,
      name: 'Fresh',
      definition: { trait: 'plan', equals: 'new' },
    });
    await current.scenario.rule({ name: 'Fresh', when: { audience: fresh.id, move: 'joined' }, steps });
    await expect(startOf('Fresh')).rejects.toThrowErrorMatchingInlineSnapshot(
      `[Fault: The audience "Fresh" is still being built. Try again when it is ready]`,
    );
  });

  test('enrolls no user a second time, even where the rule lets users enter again', async () => {
    for (const enrollment of ['once', 'one_at_a_time', { cooldown: '1d' }]) {
      const current = await scene(['u1', 'u2'], { enrollment });
      await enable(current);
      await current.scenario.later(0);
      for (const user of ['u1', 'u2']) await current.scenario.act(user, { kind: 'skip', reason: null });
      await current.scenario.later(10 * DAY);
      await start(current);
      await current.scenario.later(0);
      expect(await latest(current), JSON.stringify(enrollment)).toMatchObject({
        state: 'done',
        enrolled: 0,
        excluded: { already_entered: 2 },
      });
      expect(await enrolledUsers(current)).toHaveLength(2);
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
    const current = await scene(users, { ...more, holdout: 0 });
    const { scenario } = current;
    const { projectId } = scenario;
    await scenario.set({ topics: 'news:News' });
    await scenario.user('u1', { traits: { name: 'Ada' } });
    await scenario.user('nomail', { traits: { plan: 'pro' } });
    await scenario.user('never', { traits: { skip: true } });
    await scenario.later(1_000);
    // Enters by joining, before the enrollment.
    await enableRule(db, { ...of(current), actor: 'ann', confirmed: false });
    await scenario.user('in', { traits: { plan: 'free' } });
    await scenario.later(1_000);
    await scenario.user('in', { traits: { plan: 'pro' } });
    await scenario.later(1_000);
    await muted(scenario, 'muted');
    await scenario.later(1_000);
    await suppress(db, {
      projectId,
      kind: 'email',
      value: 'listed@x.org',
      reason: 'manual',
      until: null,
      actor: 'ann',
    });
    const key = { projectId, kind: 'user' as const, value: 'topic' };
    await setTopicUnsubscribes(db, { targets: [key], refused: ['news'], accepted: [], at: scenario.now() });
    const found = await preview(current);
    expect(found).toMatchObject({
      audiences: [{ id: current.audienceId, name: 'Pros', isReady: true }],
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
    expect(await scenario.why('u1', 'Pro')).toEqual({});
    await start(current);
    await scenario.later(0);
    expect(await latest(current)).toMatchObject({ processed: 8, enrolled: found.enrolled, excluded });
  });

  test('counts for a disabled rule what would happen if it were enabled', async () => {
    const current = await scene(['u1']);
    expect(await preview(current)).toMatchObject({ members: 1, enrolled: 1 });
    expect(await current.scenario.why('u1', 'Pro')).toEqual({});
  });

  test('shows no more than 20 users, and no audience for a rule that starts with an event', async () => {
    const current = await scene(Array.from({ length: 25 }, (_, at) => `u${at}`));
    const found = await preview(current);
    expect([found.enrolled, found.first.length]).toEqual([25, 20]);
    await current.scenario.rule({ name: 'Event', when: { event: 'did' }, steps });
    const { projectId } = current.scenario;
    expect(await previewEnrollment(db, { projectId, reference: 'Event' })).toMatchObject({
      audiences: [],
      members: 0,
      enrolled: 0,
    });
  });

  test('excludes the holdout and users with too many runs, as the enrollment does', async () => {
    const users = Array.from({ length: 30 }, (_, at) => `u${at}`);
    const current = await scene(users, { holdout: 50, goal: { event: 'paid' } });
    await db.query(
      `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, waits_for, anchor, enrolled_at)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 1, 'u0', n::text, 'active', 'treatment', false, 0, 'event', '{}', now()
       FROM generate_series(1, 100) AS n`,
      [current.scenario.projectId],
    );
    const found = await preview(current);
    expect(found.excluded.get('run_limit')).toBe(1);
    expect(found.excluded.get('holdout')).toBeGreaterThan(3);
    await enable(current);
    await current.scenario.later(0);
    const { enrolled, excluded } = await latest(current);
    expect({ enrolled, excluded }).toEqual({
      enrolled: found.enrolled,
      excluded: Object.fromEntries(found.excluded),
    });
    expect(await enrolledUsers(current)).toHaveLength(found.enrolled);
  });
});

describe('enrollment batches', () => {
  test('do not enroll a user who leaves the audience after the preview', async () => {
    const current = await scene(['u1', 'u2']);
    expect((await preview(current)).enrolled).toBe(2);
    await enable(current);
    await current.scenario.user('u1', { traits: { plan: 'free' } });
    await current.scenario.later(0);
    expect(await enrolledUsers(current)).toEqual(['u2']);
    expect(await current.scenario.why('u1', 'Pro')).toEqual({ left_audience: 1 });
    expect(await latest(current)).toMatchObject({ members: 2, processed: 2, enrolled: 1, state: 'done' });
  });

  test('leave users who join after the start to the rule itself, which enrolls them once', async () => {
    const current = await scene(['u1']);
    await enable(current);
    clock.advance(1_000);
    await current.scenario.user('u0', { email: 'u0@x.org', traits: { plan: 'pro' } });
    await current.scenario.later(DAY);
    expect(await enrolledUsers(current)).toEqual(['u0', 'u1']);
    expect(await current.scenario.why('u0', 'Pro')).toEqual({ fired: 1 });
    expect(await latest(current)).toMatchObject({ processed: 1, enrolled: 1 });
  });

  test('continue after the last committed batch when a worker is killed at any point', async () => {
    const current = await scene(['u1', 'u2', 'u3', 'u4', 'u5']);
    await enable(current);
    for (const point of ['timers_claimed', 'timers_committing', 'timers_committed'] as const) {
      const failpoint: Database['failpoint'] = (at) => {
        if (at === point) throw new Error(`killed at ${point}`);
      };
      await expect(worker(2, { ...db, failpoint })(current)).rejects.toThrow(point);
    }
    // Only the batch that was committed before its worker was killed counts.
    expect(await latest(current)).toMatchObject({
      processed: 2,
      enrolled: 2,
      afterUser: 'u2',
      state: 'running',
    });
    await runUntilDone(current, worker(2));
    expect(await latest(current)).toMatchObject({ processed: 5, enrolled: 5, state: 'done' });
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2', 'u3', 'u4', 'u5']);
  });

  test('enroll each user once when two workers process them at the same time', async () => {
    const users = Array.from({ length: 23 }, (_, at) => `u${at}`);
    const current = await scene(users, { enrollment: 'one_at_a_time' });
    await enable(current);
    const [first, second] = [worker(3), worker(4)];
    await runUntilDone(current, (at) => Promise.all([first(at), second(at)]));
    expect(await enrolledUsers(current)).toEqual(users.toSorted());
    expect(await latest(current)).toMatchObject({ processed: 23, enrolled: 23 });
  });

  test('stay within their project', async () => {
    const [current, other] = [await scene(['u1', 'u2']), await scene(['u1', 'u2', 'u3'])];
    await enable(current);
    await current.scenario.later(DAY);
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2']);
    expect(await enrolledUsers(other)).toEqual([]);
    await enable(other);
    await other.scenario.later(0);
    expect(await enrolledUsers(other)).toEqual(['u1', 'u2', 'u3']);
    const wrong = { projectId: other.scenario.projectId, reference: (await latest(current)).ruleId, newId };
    await expect(startEnrollment(db, wrong)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('take turns between two rules of a project', async () => {
    const current = await scene(['u1', 'u2', 'u3', 'u4']);
    const { projectId } = current.scenario;
    await enable(current);
    await current.scenario.rule({ ...current.document, name: 'Second' });
    await startEnrollment(db, { projectId, reference: 'Second', newId });
    clock.advance(1);
    await worker(2)(current);
    clock.advance(1);
    await worker(2)(current);
    const processed = await db.query<{ processed: number }>(
      `SELECT processed FROM beckon.rule_enrollment WHERE project_id = $1`,
      [projectId],
    );
    expect(processed).toEqual([{ processed: 2 }, { processed: 2 }]);
  });

  test('end when the rule is disabled, and do not continue when it is enabled again', async () => {
    const current = await scene(['u1', 'u2', 'u3', 'u4']);
    await enable(current);
    await worker(2)(current);
    await disableRule(db, { ...of(current), actor: 'ann' });
    expect(await latest(current)).toMatchObject({
      state: 'canceled',
      processed: 2,
      enrolled: 2,
      afterUser: null,
      cancelReason: 'rule_off',
    });
    await enableRule(db, { ...of(current), actor: 'ann', confirmed: true });
    await current.scenario.later(DAY);
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2']);
  });

  test('end when an edit changes the rule, so that only users of the preview are enrolled', async () => {
    const current = await scene(['u1', 'u2', 'u3']);
    const { scenario, audienceId } = current;
    await scenario.user('z1', { email: 'z1@x.org', traits: { plan: 'free' } });
    const { id: other } = await createAudience(audienceDeps, {
      projectId: scenario.projectId,
      name: 'Free',
      definition: { trait: 'plan', equals: 'free' },
    });
    await scenario.later(1_000);
    const changes = [
      { when: { event: 'did' } },
      { when: { audience: other, move: 'joined' } },
      { when: [audienceId, other].map((audience) => ({ audience, move: 'joined' })) },
      { only_if: { trait: 'plan', equals: 'pro' } },
    ];
    await enable(current);
    for (const [at, change] of changes.entries()) {
      if (at > 0) await edit(current, {});
      await start(current);
      await edit(current, change);
      expect(await latest(current), JSON.stringify(change)).toMatchObject({
        state: 'canceled',
        cancelReason: 'rule_edited',
        processed: 0,
      });
      await scenario.later(1_000);
    }
    expect(await enrolledUsers(current)).toEqual([]);
  });

  test('continue after an edit of the name, mode or deadline of the rule', async () => {
    const current = await scene(['u1', 'u2', 'u3']);
    await enable(current);
    await worker(2)(current);
    await edit(current, { mode: 'draft', deadline: '2h' });
    await current.scenario.later(0);
    expect(await latest(current)).toMatchObject({ state: 'done', enrolled: 3, cancelReason: null });
  });

  test('enroll no users whom only a new definition of the audience covers', async () => {
    const current = await scene(['u1', 'u2', 'u3']);
    const { scenario, audienceId } = current;
    await scenario.user('z1', { email: 'z1@x.org', traits: { plan: 'free' } });
    await scenario.later(1_000);
    await enable(current);
    await worker(1)(current);
    clock.advance(1);
    const definition = { any: ['pro', 'free'].map((plan) => ({ trait: 'plan', equals: plan })) };
    await editAudience(audienceDeps, { projectId: scenario.projectId, reference: audienceId, definition });
    await scenario.later(1_000);
    expect(await latest(current)).toMatchObject({ state: 'done', processed: 3 });
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2', 'u3']);
  });

  test('wait while an audience has no ready members', async () => {
    const current = await scene(['u1', 'u2']);
    const { projectId } = current.scenario;
    await enable(current);
    const setState = (state: string) =>
      db.transaction(async (tx) => {
        await takeProjectLock(tx, projectId);
        await incrementModel(tx, projectId);
        await tx.query(`UPDATE beckon.audience_version SET state = $2 WHERE project_id = $1`, [
          projectId,
          state,
        ]);
      });
    await setState('building');
    await worker(1)(current);
    await worker(1)(current);
    expect(await latest(current)).toMatchObject({
      state: 'running',
      processed: 0,
      nextAt: current.scenario.now() + 10_000,
    });
    await setState('served');
    await current.scenario.later(10_000);
    expect(await latest(current)).toMatchObject({ state: 'done', enrolled: 2 });
  });

  test('leave an imported user free to enter the rule later', async () => {
    const current = await scene(['u1']);
    const { scenario } = current;
    await muted(scenario, 'u1');
    await scenario.later(1_000);
    await enable(current);
    await scenario.later(1_000);
    expect(await latest(current)).toMatchObject({ enrolled: 0, excluded: { suppressed: 1 } });
    await scenario.event('u1', 'login');
    await scenario.later(1_000);
    await start(current);
    await scenario.later(0);
    expect(await latest(current)).toMatchObject({ enrolled: 1 });
    expect(await enrolledUsers(current)).toEqual(['u1']);
  });

  test('enroll a user who leaves one of two audiences in the same batch, and log a user who leaves all', async () => {
    const current = await scene(['u1', 'u2']);
    const { scenario, audienceId } = current;
    for (const user of ['u1', 'u3']) await scenario.event(user, 'login');
    await scenario.user('u3', { email: 'u3@x.org' });
    await scenario.later(1_000);
    const { id: active } = await createAudience(audienceDeps, {
      projectId: scenario.projectId,
      name: 'Active',
      definition: { event: 'login', within: '1d' },
    });
    await scenario.later(1_000);
    await edit(current, { when: [active, audienceId].map((audience) => ({ audience, move: 'joined' })) });
    await scenario.later(DAY - 10_000);
    expect((await enable(current)).enrollment).toMatchObject({ members: 3 });
    clock.advance(10_000);
    await worker(500)(current);
    expect(await latest(current)).toMatchObject({
      processed: 3,
      enrolled: 2,
      excluded: { left_audience: 1 },
    });
    expect(await enrolledUsers(current)).toEqual(['u1', 'u2']);
    expect(await scenario.why('u1', 'Pro')).toEqual({ fired: 1 });
    expect(await scenario.why('u3', 'Pro')).toEqual({ left_audience: 1 });
  });

  test('start again after the alarm of their project was lost', async () => {
    const current = await scene(['u1', 'u2']);
    await enable(current);
    await db.query(`UPDATE beckon.project_timer SET next_at = NULL WHERE project_id = $1`, [
      current.scenario.projectId,
    ]);
    await current.scenario.later(0);
    expect(await latest(current)).toMatchObject({ state: 'running', processed: 0 });
    expect(await sweepTimers(db)).toBe(1);
    await current.scenario.later(0);
    expect(await latest(current)).toMatchObject({ state: 'done', enrolled: 2 });
  });

  test('keep no id of a user who is erased while they run', async () => {
    const current = await scene(['u1', 'u2', 'u3', 'u4']);
    await enable(current);
    await worker(2)(current);
    const { projectId } = current.scenario;
    await erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'u2' });
    expect(await latest(current)).toMatchObject({ afterUser: 'u1' });
    await erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'u1' });
    expect(await latest(current)).toMatchObject({ afterUser: null });
    await runUntilDone(current, worker(2));
    expect(await enrolledUsers(current)).toEqual(['u3', 'u4']);
    expect(await latest(current)).toMatchObject({ processed: 4, enrolled: 4 });
  });
});
