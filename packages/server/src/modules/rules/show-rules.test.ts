import { expect, test } from 'vitest';
import { SHIPPED_RULES } from './definitions/shipped.ts';
import { type SilenceFacts, silenceOf } from './show-rules.ts';

const DAY = 86_400_000;
const NOW = 100 * DAY;

function definitionOf(name: string): SilenceFacts['definition'] {
  const rule = SHIPPED_RULES.find((shipped) => shipped.name === name);
  if (!rule) throw new Error(`no rule ${name}`);
  return rule.definition;
}

function silence(change: Partial<SilenceFacts>) {
  return silenceOf({
    definition: definitionOf('welcome'),
    now: NOW,
    enabledAt: NOW - 7 * DAY,
    arrived: 0,
    fired: 0,
    firedBefore: 0,
    refusals: [],
    ...change,
  });
}

test('reports events that arrive without starting a run, with the most common reason', () => {
  const refusals: SilenceFacts['refusals'] = [
    { reason: 'too_old', count: 3 },
    { reason: 'already_entered', count: 36 },
    { reason: 'starts_later', count: 90 },
  ];
  expect(silence({ arrived: 40, refusals })).toMatchInlineSnapshot(`
    {
      "code": "no_enrollments",
      "message": "user_signed_up arrived 40 times in the last 7 days, and the rule enrolled no user. Most common reason (36 times): the user was already enrolled with the same key.",
    }
  `);
  expect(silence({ arrived: 1 })).toMatchInlineSnapshot(`
    {
      "code": "no_enrollments",
      "message": "user_signed_up arrived once in the last 7 days, and the rule enrolled no user. The decision log has no reason.",
    }
  `);
});

test('reports events that stopped if the rule fired before', () => {
  expect(silence({ firedBefore: 12 })).toMatchInlineSnapshot(`
    {
      "code": "events_stopped",
      "message": "user_signed_up did not arrive in the last 7 days. The rule fired 12 times in the 28 days before.",
    }
  `);
  expect(silence({ firedBefore: 0 })).toBeNull();
});

test('does not report a rule that is disabled, enabled for less than 7 days, or firing', () => {
  expect(silence({ arrived: 40, enabledAt: null })).toBeNull();
  expect(silence({ arrived: 40, enabledAt: NOW - 7 * DAY + 1 })).toBeNull();
  expect(silence({ firedBefore: 12, enabledAt: NOW - 7 * DAY + 1 })).toBeNull();
  expect(silence({ arrived: 40, fired: 1 })).toBeNull();
  expect(silence({ arrived: 40, refusals: [{ reason: 'holdout', count: 1 }] })).toBeNull();
});

test('does not report a rule with a wait before its first decision', () => {
  const waiting = { definition: definitionOf('onboarding_stall'), arrived: 40 };
  expect(silence({ ...waiting, refusals: [{ reason: 'starts_later', count: 40 }] })).toBeNull();
  expect(silence({ ...waiting, refusals: [{ reason: 'not_absent', count: 40 }] })?.code).toBe(
    'no_enrollments',
  );
});
