import { expect, test } from 'vitest';
import { type Lint, lintRule, type LintMore } from './lint.ts';
import { parseRule } from './parse.ts';
import { SHIPPED_RULES } from './shipped.ts';

/** `{ login: ['device'] }` → the entries of the catalog. */
function catalogue(events: Record<string, string[]>) {
  return Object.entries(events).flatMap(([name, properties]) =>
    properties.map((property) => ({ name, property, type: 'string' })),
  );
}

function lint(change: object, events: Record<string, string[]>, more?: LintMore): Lint[] {
  const document = { name: 'x', when: { event: 'login' }, steps: [{ draft: 'a' }], ...change };
  const parsed = parseRule(document);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return lintRule(parsed.rule.definition, catalogue(events), more);
}

function lintShipped(name: string, events: Record<string, string[]>, more?: LintMore): Lint[] {
  const rule = SHIPPED_RULES.find((shipped) => shipped.name === name);
  if (!rule) throw new Error(`no rule ${name}`);
  return lintRule(rule.definition, catalogue(events), more);
}

const codes = (lints: Lint[]): string[] => lints.map(({ code }) => code);

test('says what to change', () => {
  const topics = [{ id: 'tips' }, { id: 'none' }];
  const daysLeft = { event: 'trial_expiring', where: [{ property: 'daysLeft', at_most: 3 }] };
  const usage = { usage_threshold_reached: ['usagePercent'], user_signed_up: ['plan'] };
  const lints = [
    ...lint({}, {}),
    ...lintShipped('welcome', {}),
    ...lint({ topic: 'news' }, { login: ['device'] }, { topics }),
    ...lint({ enrollment: { once_per: ['app'] } }, { login: ['device'] }),
    ...lint({ when: daysLeft }, { trial_expiring: ['trialDays'] }),
    ...lintShipped('trial_expiring', { trial_expiring: ['daysLeft'] }),
    ...lintShipped('plan_limit_upsell', usage, { isUsageFraction: true }),
  ];
  expect(lints.map(({ message }) => message)).toMatchInlineSnapshot(`
    [
      "login was never received. Check its name",
      "user_signed_up was never received, and this rule has no other trigger",
      "The project has no topic news, so users cannot unsubscribe from it. The setting topics has tips, none",
      "login never had app, which this rule uses",
      "trial_expiring has trialDays, but this rule uses its old name daysLeft",
      "trial_expiring has daysLeft, which is ignored. Send it as trialDays",
      "Every usagePercent so far was 1 or less. Send eighty percent as 80, not as 0.8",
    ]
  `);
});

test('reports an event that was never received, but not one received without properties', () => {
  expect(codes(lint({}, {}))).toEqual(['event_never_seen']);
  expect(lint({}, {}, { events: ['login'] })).toEqual([]);
  expect(lint({}, { login: ['device'] })).toEqual([]);
});

test.each([
  { exits: { events: ['logout'] } },
  { goal: { event: 'logout', within: '7d' } },
  { only_if: { not: { any: [{ event: 'logout' }] } } },
  { about: { event: 'login', until: ['logout'] } },
  { when: { absence_of: ['logout'], since: { event: 'login' }, for: '3d' } },
  { steps: [{ draft: 'a' }, { wait_for: { event: 'logout', within: '3d' } }] },
  { steps: [{ draft: 'a' }, { branch: { if: { event: 'logout' } }, then: [{ wait: '1d' }] }] },
])('reports an event that was never received in every part of a rule: %j', (change) => {
  const lints = lint(change, { login: ['device'] });
  expect(lints).toEqual([{ code: 'event_never_seen', message: expect.stringContaining('logout') as string }]);
});

test('reports a topic that the project does not have, because users cannot unsubscribe from it', () => {
  const topics = [{ id: 'tips' }, { id: 'none' }];
  const events = { login: ['device'] };
  expect(codes(lint({ topic: 'news' }, events, { topics }))).toEqual(['topic_unknown']);
  expect(codes(lint({ topic: 'news' }, events, { topics: [] }))).toEqual(['topic_unknown']);
  expect(lint({ topic: 'tips' }, events, { topics })).toEqual([]);
  expect(lint({}, events, { topics: [] })).toEqual([]);
});

test('reports a canonical event that was never received only if the rule has no other trigger', () => {
  expect(codes(lintShipped('welcome', {}))).toEqual(['event_never_seen']);
  expect(lintShipped('trial_expiring', { trial_started: ['trialDays'] })).toEqual([]);
  expect(lintShipped('trial_expiring', { trial_expiring: ['trialDays'] })).toEqual([]);
  expect(codes(lintShipped('trial_expiring', { login: ['device'] }))).toEqual(['event_never_seen']);
  const birthday = { relative_to: { trait: 'birthday' }, after: '1h' };
  expect(lint({ when: [birthday, { event: 'user_signed_up' }] }, {})).toEqual([]);
});

test.each([
  { when: { event: 'login', where: [{ property: 'app', is_set: true }] } },
  { when: { event: 'login', ends_in_days: 'app' } },
  { when: { relative_to: { event: 'login', plus_days: 'app' }, before: '3d' } },
  {
    when: {
      absence_of: ['login'],
      since: { event: 'login', where: [{ property: 'app', is_set: true }] },
      for: '3d',
    },
  },
  { enrollment: { once_per: ['device', 'app'] } },
  { enrollment: { cooldown: '3d', per: ['app'] } },
  { enrollment: { cooldown: '3d', again: { property: 'app', at_least: 1 } } },
  { goal: { event: 'login', sum: 'app', at_least: 1, within: '7d' } },
  { goal: { event: 'login', within: '7d', where: [{ property: 'app', is_set: true }] } },
  {
    steps: [
      { draft: 'a' },
      { wait_for: { event: 'login', where: [{ property: 'app', is_set: true }], within: '3d' } },
    ],
  },
])('reports a property that its event never had in every part of a rule: %j', (change) => {
  expect(lint(change, { login: ['device'], logout: ['app'] })).toEqual([
    { code: 'property_never_seen', message: expect.stringContaining('login never had app') as string },
  ]);
});

test('does not report a canonical property that an enrollment key may lack', () => {
  expect(lintShipped('plan_limit_upsell', { usage_threshold_reached: ['usagePercent'] })).toEqual([]);
});

test('reports daysLeft if trialDays is received, or if daysLeft is received instead of it', () => {
  const when = { event: 'trial_expiring', where: [{ property: 'daysLeft', at_most: 3 }] };
  expect(codes(lint({ when }, { trial_expiring: ['trialDays', 'daysLeft'] }))).toEqual(['days_left']);
  expect(codes(lint({ when }, { trial_expiring: ['trialDays'] }))).toEqual(['days_left']);
  expect(codes(lint({ when }, { trial_expiring: ['daysLeft'] }))).toEqual([]);
  expect(lintShipped('trial_expiring', { trial_expiring: ['daysLeft', 'trialDays'] })).toEqual([]);
  expect(codes(lintShipped('trial_expiring', { trial_expiring: ['daysLeft'] }))).toEqual(['days_left']);
});

test('reports a percentage that never exceeds 1 only for rules that use it', () => {
  const seen = { usage_threshold_reached: ['usagePercent'], user_signed_up: ['plan'] };
  expect(codes(lintShipped('plan_limit_upsell', seen, { isUsageFraction: true }))).toEqual([
    'usage_is_fraction',
  ]);
  expect(lintShipped('plan_limit_upsell', seen, { isUsageFraction: false })).toEqual([]);
  expect(lintShipped('welcome', seen, { isUsageFraction: true })).toEqual([]);
});

test('reports a goal that is also a condition', () => {
  const [plan, age] = [{ trait: 'plan', equals: 'trial' }, { event: 'paid' }];
  const seen = { login: [], paid: [] };
  const goals = (change: object): string[] =>
    codes(lint(change, seen)).filter((code) => code === 'goal_already_reached');
  expect(goals({ only_if: plan, goal: plan })).toEqual(['goal_already_reached']);
  expect(goals({ only_if: { all: [age, plan] }, goal: plan })).toEqual(['goal_already_reached']);
  expect(goals({ only_if: plan, goal: age })).toEqual([]);
  expect(goals({ goal: plan })).toEqual([]);
});

test('reports no missing event before the project receives its first one', () => {
  expect(codes(lintShipped('welcome', {}))).toEqual(['event_never_seen']);
  expect(lintShipped('welcome', {}, { isNewProject: true })).toEqual([]);
});
