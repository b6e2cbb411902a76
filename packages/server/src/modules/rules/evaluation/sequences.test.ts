import { beforeEach, expect, test } from 'vitest';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { editRule } from '../write-rule.ts';

const stage = await openStage();
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

const email = (subject: string): object => ({ draft: { subject, body: 'Hello.' } });

/** A rule on `began`, in a project whose send checks always pass and whose drafts wait one hour. */
async function withSteps(steps: object[], more: object = {}): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off', autopilot: '1h' });
  await scenario.rule({ name: 'Steps', when: { event: 'began' }, steps, ...more });
  await scenario.user('u1', { email: 'a@x.org', traits: { plan: 'free' } });
  return scenario;
}

const begin = (scenario: Scenario): Promise<unknown> => scenario.event('u1', 'began');
/** Returns the sent subjects, each with the time since `at`. */
const left = async (scenario: Scenario, at: number): Promise<[string, number][]> =>
  (await scenario.emails()).map((sent) => [sent.subject, sent.at - at]);
const ends = async (scenario: Scenario): Promise<(string | null)[]> =>
  (await scenario.runs('u1', 'Steps')).map((run) => run.end_reason);

test('counts a wait after an email from when the email was sent', async () => {
  const scenario = await withSteps([email('One'), { wait: '2d' }, email('Two')]);
  const at = scenario.now();
  await begin(scenario);
  await scenario.later(10 * DAY);
  expect(await left(scenario, at)).toEqual([
    ['One', HOUR],
    ['Two', HOUR + 2 * DAY + HOUR],
  ]);
  expect(await ends(scenario)).toEqual(['done']);
});

test.each<[string, Parameters<Scenario['act']>[1], number]>([
  ['skipped, and final after ten seconds', { kind: 'skip', reason: 'not now' }, 10_000],
  ['approved', { kind: 'approve' }, 10_000],
])('continues with the next step after a draft was %s', async (_, act, afterMs) => {
  const scenario = await withSteps([email('One'), { wait: '2d' }, email('Two')]);
  await begin(scenario);
  await scenario.later(60_000);
  const at = scenario.now();
  await scenario.act('u1', act);
  await scenario.later(5 * DAY);
  expect((await left(scenario, at)).at(-1)).toEqual(['Two', afterMs + 2 * DAY + HOUR]);
});

test('ignores a skip that is undone within ten seconds', async () => {
  const scenario = await withSteps([email('One'), { wait: '2d' }, email('Two')]);
  const at = scenario.now();
  await begin(scenario);
  await scenario.later(60_000);
  await scenario.act('u1', { kind: 'skip', reason: null });
  await scenario.later(9_999);
  await scenario.act('u1', { kind: 'undo' });
  await scenario.later(5 * DAY);
  expect(await left(scenario, at)).toEqual([
    ['One', HOUR],
    ['Two', HOUR + 2 * DAY + HOUR],
  ]);
});

test.each(['failed', 'unknown'] as const)(
  'continues with the next step after an email with the result %s',
  async (result) => {
    const scenario = await withSteps([email('One'), email('Two')]);
    stage.engine.transport.setResult({ result, reason: 'the line broke' });
    const at = scenario.now();
    await begin(scenario);
    await scenario.later(HOUR);
    stage.engine.transport.setResult({ result: 'sent' });
    await scenario.later(5 * DAY);
    expect((await scenario.drafts()).map(({ state }) => state)).toEqual([result, 'sent']);
    expect(await left(scenario, at)).toEqual([
      ['One', HOUR],
      ['Two', 2 * HOUR],
    ]);
  },
);

test('continues with the next step after an email that expired', async () => {
  const scenario = await withSteps([email('One'), email('Two')], { expires_after: '5h' });
  await scenario.set({ quiet_hours: '12:30-23:00' });
  const at = scenario.now();
  await begin(scenario);
  await scenario.later(5 * DAY);
  expect(await scenario.drafts()).toMatchObject([
    { state: 'canceled', reason: 'expired', endedAt: at + 6 * HOUR },
    { createdAt: at + 6 * HOUR },
  ]);
});

test('waits until Monday morning in the time zone of the user', async () => {
  const scenario = await withSteps([{ wait_until: { weekdays: ['mon'], at: '09:00' } }, email('Monday')]);
  await scenario.user('u1', { traits: { timezone: 'Asia/Kolkata' } });
  await begin(scenario);
  await scenario.later(8 * DAY);
  const [sent] = await scenario.emails();
  const local = Temporal.Instant.fromEpochMilliseconds((sent?.at ?? 0) - HOUR).toZonedDateTimeISO(
    'Asia/Kolkata',
  );
  expect([local.dayOfWeek, local.toPlainTime().toString()]).toEqual([1, '09:00:00']);
});

const waiting = [
  {
    wait_for: { event: 'accepted', where: [{ property: 'seats', at_least: 2 }], within: '3d' },
    then: [email('Thanks')],
    else: [email('Still there?')],
  },
  email('Last'),
];

test('continues as soon as the awaited event arrives', async () => {
  const scenario = await withSteps(waiting);
  await begin(scenario);
  await scenario.later(DAY);
  await scenario.event('u1', 'accepted', { seats: 1 });
  await scenario.later(DAY);
  const at = scenario.now();
  await scenario.event('u1', 'accepted', { seats: 2 });
  await scenario.later(10 * DAY);
  expect(await left(scenario, at)).toEqual([
    ['Thanks', HOUR],
    ['Last', 2 * HOUR],
  ]);
});

test('continues without the awaited event when the time is over, and ignores the event after that', async () => {
  const scenario = await withSteps(waiting);
  const at = scenario.now();
  await begin(scenario);
  await scenario.later(3 * DAY + 1);
  await scenario.event('u1', 'accepted', { seats: 2 });
  await scenario.later(10 * DAY);
  expect(await left(scenario, at)).toEqual([
    ['Still there?', 3 * DAY + HOUR],
    ['Last', 3 * DAY + 2 * HOUR],
  ]);
});

test('counts an awaited event that was accepted in time, however late it is processed', async () => {
  const scenario = await withSteps(waiting);
  await begin(scenario);
  await scenario.later(3 * DAY - 60_000);
  await scenario.event('u1', 'accepted', { seats: 2 });
  stage.server.clock.advance(5 * 60_000);
  // The timers are processed before the records.
  await stage.engine.processor.timers(scenario.projectId);
  await scenario.later(DAY);
  expect((await scenario.emails()).map(({ subject }) => subject)).toEqual(['Thanks', 'Last']);
});

test('does not count the event that starts a run as the one that the run waits for', async () => {
  const scenario = await withSteps([
    { wait_for: { event: 'began', within: '3d' }, then: [email('Again')], else: [email('Once')] },
  ]);
  const at = scenario.now();
  await begin(scenario);
  await scenario.later(10 * DAY);
  expect(await left(scenario, at)).toEqual([['Once', 3 * DAY + HOUR]]);
});

test('evaluates a branch when the run reaches it', async () => {
  const branch = {
    branch: { if: { trait: 'plan', equals: 'pro' } },
    then: [email('For pros')],
    else: [email('Basics')],
  };
  const scenario = await withSteps([branch, { wait: '1d' }, branch]);
  await begin(scenario);
  await scenario.later(HOUR);
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await scenario.later(3 * DAY);
  expect((await scenario.emails()).map(({ subject }) => subject)).toEqual(['Basics', 'For pros']);
});

test('ends the run at an end within a branch', async () => {
  const scenario = await withSteps([
    { branch: { if: { trait: 'plan', equals: 'free' } }, then: [{ end: true }] },
    email('Not for free'),
  ]);
  await begin(scenario);
  await scenario.later(DAY);
  expect(await scenario.emails()).toEqual([]);
  expect(await ends(scenario)).toEqual(['done']);
});

test.each<[string, object, (scenario: Scenario) => Promise<unknown>]>([
  ['exit_event', { exits: { events: ['left'] } }, (scenario) => scenario.event('u1', 'left')],
  [
    'exit_condition',
    { exits: { when: { trait: 'plan', equals: 'pro' } } },
    (scenario) => scenario.user('u1', { traits: { plan: 'pro' } }),
  ],
  ['goal', { goal: { event: 'bought' } }, (scenario) => scenario.event('u1', 'bought')],
])(
  '%s: ends the run at its current step and cancels all its open drafts, even approved and edited ones',
  async (reason, more, leave) => {
    const content = {
      subject: 'By hand',
      preheader: '',
      body: 'Written by hand.',
      format: 'markdown' as const,
    };
    const acts = [null, { kind: 'approve' }, { kind: 'edit', content }, { kind: 'open_editor' }] as const;
    for (const act of acts) {
      const scenario = await withSteps([email('One'), { wait: '2d' }, email('Two')], more);
      await begin(scenario);
      await scenario.later(60_000);
      if (act) await scenario.act('u1', act);
      await leave(scenario);
      await scenario.later(10 * DAY);
      expect(await scenario.emails()).toEqual([]);
      expect(await scenario.drafts()).toMatchObject([{ state: 'canceled', reason }]);
      expect(await ends(scenario)).toEqual([reason]);
    }
    const between = await withSteps([email('One'), { wait: '2d' }, email('Two')], more);
    await begin(between);
    await between.later(DAY);
    await leave(between);
    await between.later(10 * DAY);
    expect((await between.emails()).map(({ subject }) => subject)).toEqual(['One']);
    expect(await ends(between)).toEqual([reason]);
  },
);

test('counts a goal that is reached after the last step, for 14 days only', async () => {
  const converted = async (afterMs: number): Promise<boolean> => {
    const scenario = await withSteps([email('One')], { goal: { event: 'bought' } });
    await begin(scenario);
    await scenario.later(afterMs);
    await scenario.event('u1', 'bought');
    await scenario.later(HOUR);
    expect(await ends(scenario)).toEqual(['done']);
    const [run] = await scenario.server.db.query<{ converted_at: Date | null }>(
      `SELECT converted_at FROM beckon.run WHERE project_id = $1`,
      [scenario.projectId],
    );
    return run?.converted_at != null;
  };
  expect([await converted(14 * DAY - 60_000), await converted(14 * DAY + 60_000)]).toEqual([true, false]);
});

test('ends the run at a goal after 14 days, without counting it', async () => {
  const steps = [email('One'), { wait: '20d' }, email('Two')];
  const scenario = await withSteps(steps, { goal: { event: 'bought' } });
  await begin(scenario);
  await scenario.later(16 * DAY);
  await scenario.event('u1', 'bought');
  await scenario.later(10 * DAY);
  expect((await scenario.emails()).map(({ subject }) => subject)).toEqual(['One']);
  expect(await ends(scenario)).toEqual(['goal']);
  expect(
    await scenario.server.db.query(`SELECT converted_at FROM beckon.run WHERE project_id = $1`, [
      scenario.projectId,
    ]),
  ).toEqual([{ converted_at: null }]);
});

test('does not enroll a user whose goal is reached or whose exit condition holds', async () => {
  const scenario = await withSteps([email('One')], {
    goal: { event: 'bought' },
    exits: { when: { trait: 'plan', equals: 'pro' } },
    enrollment: { cooldown: '1m' },
  });
  await scenario.user('u1', { traits: { plan: 'pro' } });
  await begin(scenario);
  await scenario.later(HOUR);
  await scenario.user('u1', { traits: { plan: 'free' } });
  await scenario.event('u1', 'bought');
  await begin(scenario);
  await scenario.later(DAY);
  expect(await scenario.why('u1', 'Steps')).toEqual({ exit_condition: 2 });
});

test('continues a run with the rule version that it started with', async () => {
  const scenario = await withSteps([email('One'), { wait: '2d' }, email('Two')]);
  await begin(scenario);
  await scenario.later(DAY);
  const document = { when: { event: 'began' }, steps: [email('New')] };
  const input = {
    projectId: scenario.projectId,
    reference: 'Steps',
    document,
    includeOpen: false,
    actor: 'ann',
  };
  await editRule(scenario.server.db, input);
  await scenario.user('u2', { email: 'b@x.org' });
  await scenario.event('u2', 'began');
  await scenario.later(5 * DAY);
  expect((await scenario.emails()).map(({ to, subject }) => `${subject} to ${to}`)).toEqual([
    'One to u1',
    'New to u2',
    'Two to u1',
  ]);
});
