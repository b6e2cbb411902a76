import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testSendServices } from '../../../testing/factories/send-services.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { getSettings } from '../workspace/projects/project-settings.ts';
import { createProject } from './create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { setSettings } from './set-settings.ts';
import { simulatePolicy } from './simulate-policy.ts';

// The time is noon in Paris.
const clock = fixedClock(Date.UTC(2026, 0, 15, 11));
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);

const HOUR = 3_600_000;
const EMAIL = { draft: { subject: 'Hello', body: 'Hello' } };

let projectId = 0;
beforeEach(async () => {
  clock.advance(24 * HOUR);
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await createRule(db, {
    projectId,
    document: {
      name: 'paid',
      when: { event: 'paid' },
      enrollment: { once_per: ['n'] },
      deadline: '2h',
      steps: [EMAIL],
    },
  });
  clock.advance(1);
});

async function pay(user: string, n = 0, traits: object = {}): Promise<void> {
  const records = [{ external_user_id: user, email: `${user}@example.org`, traits }];
  await putRecords(db, { projectId, kind: 'users', records });
  const events = [{ external_user_id: user, name: 'paid', properties: { n } }];
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
}
const simulate = (settings: Record<string, string>) =>
  simulatePolicy({ db, sendServices: testSendServices() }, { projectId, settings });
const after = (hours: number): string => new Date(clock.now() + hours * HOUR).toISOString();

test('the same policy makes no difference', async () => {
  await pay('u1');
  await pay('u1', 1);
  const { frequency_cap } = await setSettings(db, projectId, { throttle: '10/s' });
  const simulated = await simulate({ frequency_cap });
  expect(simulated).toMatchObject({ drafts: 2, truncated: false, earlier: 0, later: 0, differences: [] });
  expect(simulated.proposed).toEqual(simulated.current);
});

test("a higher cap sends a user's second email together with the first", async () => {
  await pay('u1');
  await pay('u1', 1);
  await pay('u2');
  expect(await simulate({ frequency_cap: 'off' })).toMatchObject({
    current: { sends: 3, sends_immediately: 0, held: { frequency_cap: 1 }, median_send_at: after(2) },
    proposed: { sends: 3, held: {}, last_send_at: after(2) },
    earlier: 1,
    differences: [
      {
        rule: 'paid',
        external_user_id: 'u1',
        current: { result: 'sends' },
        proposed: { result: 'sends', at: after(2), reason: null },
      },
    ],
  });
});

test("uses the user's time zone for quiet hours, or else the proposed one", async () => {
  await pay('u1', 0, { timezone: 'UTC' });
  await pay('u2');
  const night = { quiet_hours: '21:00-08:00', time_zone: 'Asia/Tokyo' };
  const simulated = await simulate(night);
  expect(simulated.proposed.held).toEqual({ quiet_hours: 1 });
  expect(simulated.differences).toMatchObject([
    { external_user_id: 'u2', proposed: { reason: 'quiet_hours' } },
  ]);
});

test('evaluates held drafts again, and holds everything under a pause', async () => {
  await setSettings(db, projectId, { quiet_hours: '12:00-20:00' });
  await pay('u1');
  await engine.advance(2 * HOUR);
  const open = await simulate({ quiet_hours: 'off' });
  expect(open).toMatchObject({
    drafts: 1,
    current: { sends_immediately: 0 },
    proposed: { sends_immediately: 1 },
  });
  const paused = await simulate({ paused: 'true' });
  expect(paused.proposed).toMatchObject({ sends: 0, held: { paused: 1 }, median_send_at: null });
});

test('counts existing throttle tokens, and counts sent emails towards the cap', async () => {
  await setSettings(db, projectId, { frequency_cap: 'off' });
  await pay('u1');
  await pay('u2');
  const { proposed } = await simulate({ throttle: '1/h' });
  expect(proposed).toMatchObject({
    held: { throttle: 1 },
    median_send_at: after(2),
    last_send_at: after(3),
  });
  await engine.advance(2 * HOUR);
  await pay('u1', 1);
  expect((await simulate({ frequency_cap: '1/24h' })).proposed).toMatchObject({
    held: { frequency_cap: 1 },
    sends: 1,
  });
});

test('excludes drafts that wait for review', async () => {
  await setSettings(db, projectId, { autopilot: 'draft' });
  await pay('u1');
  expect(await simulate({ quiet_hours: 'off' })).toMatchObject({ drafts: 0, current: { sends: 0 } });
});

test('changes nothing, and accepts only settings that send checks use', async () => {
  await pay('u1');
  const all = async (): Promise<unknown[]> => [
    await db.query(`SELECT * FROM beckon.draft WHERE project_id = $1`, [projectId]),
    await getSettings(db, projectId),
  ];
  const before = await all();
  await simulate({ quiet_hours: 'off' });
  expect(await all()).toEqual(before);
  for (const settings of [{ autopilot: '3h' }, { quiet_hours: 'always' }, { colour: 'red' }, {}] as Record<
    string,
    string
  >[])
    await expect(simulate(settings)).rejects.toMatchObject({ code: 'validation_failed' });
});
