import { expect, test } from 'vitest';
import { documentOf } from './print.ts';
import { parseDefinition, parseRule } from './parse.ts';

const RIGHT = { name: 'Welcome', when: { event: 'user_signed_up' }, steps: [{ draft: 'welcome' }] };

function parsed(change: object = {}) {
  const parsing = parseRule({ ...RIGHT, ...change });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing.rule;
}

function fieldsOf(change: object): (string | undefined)[] {
  const parsing = parseRule({ ...RIGHT, ...change });
  return parsing.ok ? [] : parsing.faults.map(({ field }) => field);
}

test('fills in defaults for everything that a rule leaves out', () => {
  expect(parsed()).toEqual({
    name: 'Welcome',
    mode: 'autopilot',
    deadlineMs: null,
    definition: {
      when: [{ kind: 'event', event: 'user_signed_up', where: [], endsInDays: null }],
      about: null,
      onlyIf: null,
      entry: { kind: 'once' },
      exits: { events: [], when: null, onReply: true },
      goal: null,
      maxEventAgeMs: 86_400_000,
      priority: 50,
      holdoutPercent: 0,
      counts: true,
      topic: null,
      tracking: true,
      expiresAfterMs: 259_200_000,
      steps: [{ kind: 'draft', email: { name: 'welcome' } }],
    },
  });
});

test('reports every error with its full path, in document order', () => {
  const where = [{ property: 'x', at_least: '1' }];
  expect(
    fieldsOf({
      when: [
        { event: 'login', where },
        { absence_of: [], since: { event: 'x' }, for: '3d' },
      ],
      steps: [
        { draft: 'a' },
        { draft: 'b' },
        {
          branch: { if: { all: [{ trait: '', is_set: true }] } },
          then: [{ wait: '1y' }],
          else: [{ wait_for: { event: 'x', where } }],
        },
      ],
      goal: { audience: 'trial' },
    }),
  ).toEqual([
    'when.0.where.0.at_least',
    'when.1.absence_of',
    'steps.2.branch.if.all.0.trait',
    'steps.2.then.0.wait',
    'steps.2.else.0.wait_for.where.0.at_least',
    'steps.2.else.0.wait_for.within',
    'goal.audience',
  ]);
});

test('reports an error of the whole document without a field', () => {
  expect(parseRule([])).toMatchInlineSnapshot(`
    {
      "faults": [
        {
          "message": "The rule must be an object with name, when and steps",
        },
      ],
      "ok": false,
    }
  `);
  const large = Array(11).fill({ draft: { subject: 'x', body: 'y'.repeat(50_000) } });
  expect(parseRule({ ...RIGHT, steps: large })).toMatchInlineSnapshot(`
    {
      "faults": [
        {
          "message": "The rule must not have more than 512 KiB",
        },
      ],
      "ok": false,
    }
  `);
  expect(fieldsOf({ enabled: true })).toEqual(['enabled']);
});

test('limits the number of conditions across the whole rule', () => {
  const tests = (count: number): object[] =>
    Array.from({ length: count }, () => ({ trait: 'a', is_set: true }));
  expect(fieldsOf({ only_if: { all: tests(100) }, goal: { all: tests(100) } })).toEqual([]);
  expect(fieldsOf({ only_if: { all: tests(100) }, goal: { all: tests(101) } })).toEqual(['goal.all.100']);
  const enrollment = { cooldown: '1d', again: { property: 'a', is_set: true } };
  expect(fieldsOf({ enrollment, only_if: { all: tests(199) } })).toEqual([]);
  expect(fieldsOf({ enrollment, only_if: { all: tests(200) } })).toEqual(['only_if.all.199']);
});

test('limits the length of lists', () => {
  const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
  const named = (count: number): string[] => Array.from({ length: count }, (_, i) => `e${i}`);
  expect(fieldsOf({ when: [] })).toEqual(['when']);
  expect(fieldsOf({ when: times(10, RIGHT.when) })).toEqual([]);
  expect(fieldsOf({ when: times(11, RIGHT.when) })).toEqual(['when']);
  expect(fieldsOf({ exits: { events: named(20) } })).toEqual([]);
  expect(fieldsOf({ exits: { events: named(21) } })).toEqual(['exits.events']);
  expect(fieldsOf({ exits: { events: ['a', 'b', 'a'] } })).toEqual(['exits.events.2']);
  expect(fieldsOf({ enrollment: { once_per: named(11) } })).toEqual(['enrollment.once_per']);
  expect(fieldsOf({ enrollment: { once_per: [] } })).toEqual(['enrollment.once_per']);
  expect(fieldsOf({ steps: [] })).toEqual(['steps']);
  expect(fieldsOf({ steps: times(50, { draft: 'a' }) })).toEqual([]);
  expect(fieldsOf({ steps: times(51, { draft: 'a' }) })).toEqual(['steps']);
});

test('counts nested steps and limits their depth', () => {
  const branch = (inner: unknown[]): object => ({
    branch: { if: { trait: 'a', is_set: true } },
    then: inner,
  });
  const waits = (count: number): object[] => Array.from({ length: count }, () => ({ wait: '1m' }));
  expect(fieldsOf({ steps: [{ draft: 'a' }, branch(waits(48))] })).toEqual([]);
  expect(fieldsOf({ steps: [{ draft: 'a' }, branch(waits(49))] })).toEqual(['steps.1.then.48']);
  const nested = (levels: number): object[] => [levels === 1 ? { draft: 'a' } : branch(nested(levels - 1))];
  expect(fieldsOf({ steps: nested(5) })).toEqual([]);
  expect(fieldsOf({ steps: nested(6) })).toEqual(['steps.0.then.0.then.0.then.0.then.0.then']);
});

test.each([
  [{ subject: 'x'.repeat(200), body: 'y'.repeat(50_000) }, []],
  [{ subject: 'x'.repeat(201), body: 'y' }, ['steps.0.draft.subject']],
  [{ subject: 'two\nlines', body: 'y' }, ['steps.0.draft.subject']],
  [{ subject: ' ', body: ' \n' }, ['steps.0.draft.subject', 'steps.0.draft.body']],
  [{ subject: 'x', preheader: 'a\r\nb', body: 'y' }, ['steps.0.draft.preheader']],
  [{ subject: 'x', body: 'y'.repeat(50_001) }, ['steps.0.draft.body']],
  [{ subject: 'x', body: 'y\0' }, ['steps.0.draft.body']],
])('limits the subject to one line and the body to a maximum length: case %#', (email, fields) => {
  expect(fieldsOf({ steps: [{ draft: email }] })).toEqual(fields);
});

test('trims names and rejects names that look like ids', () => {
  expect(parsed({ name: '  Welcome ' }).name).toBe('Welcome');
  const id = '0198a000-0000-7000-8000-00000000000f';
  expect(fieldsOf({ name: id, steps: [{ draft: id }] })).toEqual(['name', 'steps.0.draft']);
  expect(fieldsOf({ name: 'x'.repeat(101) })).toEqual(['name']);
});

test.each([
  { weekdays: [] },
  { weekdays: ['mon', 'mon'] },
  { weekdays: ['Monday'] },
  { weekdays: [1] },
  { at: '9:00' },
  { at: '24:00' },
])('rejects an invalid time of the week: %j', (change) => {
  const until = { weekdays: ['tue'], at: '09:00', ...change };
  const field = `steps.1.wait_until.${Object.keys(change)[0]}`;
  expect(fieldsOf({ steps: [{ draft: 'a' }, { wait_until: until }] })).toEqual([field]);
});

test('sorts weekdays', () => {
  const steps = [{ wait_until: { weekdays: ['sun', 'mon'], at: '23:59' } }, { draft: 'a' }];
  expect(parsed({ steps }).definition.steps[0]).toEqual({
    kind: 'wait_until',
    weekdays: [1, 7],
    at: '23:59',
  });
});

test('reads a stored version with its defaults, and throws for one that is not readable', () => {
  expect(documentOf(parsed().definition)).toEqual({
    when: [{ event: 'user_signed_up' }],
    enrollment: 'once',
    exits: { events: [], on_reply: true },
    max_event_age: '24h',
    priority: 50,
    holdout: 0,
    counts: true,
    tracking: true,
    expires_after: '3d',
    steps: [{ draft: 'welcome' }],
  });
  expect(() => parseDefinition({ when: [] })).toThrowErrorMatchingInlineSnapshot(
    `[Error: a stored version of a rule cannot be read: when must be a trigger or a list of 1 to 10 of them]`,
  );
  expect(() => parseDefinition(null)).toThrowErrorMatchingInlineSnapshot(
    `[Error: a stored version of a rule cannot be read: it is not an object]`,
  );
});
