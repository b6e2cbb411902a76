import { expect, test } from 'vitest';
import type { NextEmail } from '@beckon/contract/dashboard';
import { causeWords, waitWords } from './next-words.ts';

const draft = (at: string | null, reason: string | null): NextEmail => ({
  kind: 'draft',
  draft_id: 'd',
  subject: 'Hello',
  rule: { id: 'r', name: 'Welcome' },
  cause: null,
  at,
  reason,
});
const AT = '2026-01-01T00:00:00.000Z';

test('waitWords › names what delays an email, and what holds one without a time', () => {
  expect([
    waitWords(draft(AT, null)),
    waitWords(draft(AT, 'quiet_hours')),
    waitWords(draft(null, null)),
    waitWords(draft(null, 'no_address')),
    waitWords({ kind: 'step', rule: { id: 'r', name: 'R' }, cause: null, at: AT }),
  ]).toEqual([null, 'after quiet hours', 'Waits for approval', 'Held: no address', null]);
});

test('causeWords › describes an event, a date and an audience', () => {
  expect(
    (['event', 'date', 'audience'] as const).map((kind) => causeWords({ kind, name: 'trial', at: AT })),
  ).toEqual(['“trial” happened', 'of the date in “trial”,', 'the user joined or left “trial”']);
});
