import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { testSendServices } from '../../../testing/factories/send-services.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import { listPlanned } from './show-schedule.ts';

const stage = await openStage();

const ZONES = ['UTC', 'Asia/Kolkata', 'America/Los_Angeles', 'Pacific/Auckland'];

/** An event for a user, some minutes after the one before; users may share a mailbox. */
const happening = fc.record({
  person: fc.integer({ min: 0, max: 5 }),
  minutesLater: fc.integer({ min: 0, max: 240 }),
});
const world = fc.record({
  quiet_hours: fc.constantFrom('off', '21:00-08:00', '11:00-15:30', '00:00-23:00'),
  frequency_cap: fc.constantFrom('off', '1/24h', '2/6h,3/7d'),
  throttle: fc.constantFrom('off', '10/s', '2/h', '1/m'),
  time_zone: fc.constantFrom(...ZONES),
  zones: fc.array(fc.constantFrom(null, ...ZONES), { minLength: 6, maxLength: 6 }),
  shared: fc.boolean(),
  happened: fc.array(happening, { minLength: 2, maxLength: 12 }),
});

type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

test('the schedule of every waiting email matches what the sender does, for any policy', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(world, async (input) => {
      const scenario = await live(input);
      const planned = await plan(scenario);
      await scenario.later(14 * DAY);
      const left = (await scenario.emails()).filter(({ at }) => at >= planned.from);
      const moments = left.map(({ to, at, subject }) => [to, subject, new Date(at).toISOString()].join(' '));
      expect(new Set(moments)).toEqual(new Set(planned.sends));
      expect(moments).toHaveLength(planned.sends.length);
      compared += moments.length;
    }),
    { numRuns: 12, seed: 20_260_115, endOnFailure: true },
  );
  expect(compared).toBeGreaterThan(12);
}, 120_000);

async function live({ zones, shared, happened, ...settings }: World): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set(settings);
  for (const [name, deadline] of [
    ['fast', '1h'],
    ['slow', '5h'],
  ])
    await scenario.rule({
      name,
      when: { event: name },
      enrollment: { once_per: ['n'] },
      priority: name === 'slow' ? 90 : 10,
      deadline,
      steps: [{ draft: { subject: `${name} {{ event.n }}`, body: 'Hello' } }],
    });
  for (const [n, zone] of zones.entries()) {
    const address = shared ? Math.floor(n / 2) : n;
    await scenario.user(`u${n}`, { email: `u${address}@x.org`, traits: zone ? { timezone: zone } : {} });
  }
  for (const [n, { person, minutesLater }] of happened.entries()) {
    await scenario.later(minutesLater * MINUTE);
    await scenario.event(`u${person}`, n % 3 === 0 ? 'slow' : 'fast', { n });
  }
  await scenario.later(MINUTE);
  return scenario;
}

async function plan(scenario: Scenario) {
  const query = { projectId: scenario.projectId, from: null, to: null, offset: 0, limit: 1_000 };
  const deps = { db: scenario.server.db, sendServices: testSendServices() };
  const { rows } = await listPlanned(deps, { ...query, result: 'sends' });
  const sends = rows.map(({ external_user_id: to, subject, forecast }) =>
    [to, subject, forecast.at].join(' '),
  );
  return { from: scenario.now(), sends };
}

test('schedules an email that expires before its send checks pass as expiring, and does not send it', async () => {
  const scenario = await newScenario(stage);
  await scenario.set({ quiet_hours: '13:00-12:59' });
  await scenario.rule({
    name: 'short',
    when: { event: 'hello' },
    deadline: '4h',
    expires_after: '5h',
    steps: [{ draft: { subject: 'Hello', body: 'Hello' } }],
  });
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'hello');
  await scenario.later(0);
  const query = { projectId: scenario.projectId, from: null, to: null, offset: 0, limit: 10 };
  const deps = { db: scenario.server.db, sendServices: testSendServices() };
  const { rows } = await listPlanned(deps, { ...query, result: 'expires' });
  expect(rows).toMatchObject([{ external_user_id: 'ada', forecast: { reason: 'quiet_hours' } }]);
  await scenario.later(2 * DAY + HOUR);
  expect([(await scenario.emails()).length, (await scenario.drafts('ada'))[0]?.reason]).toEqual([
    0,
    'expired',
  ]);
});
