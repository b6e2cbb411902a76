import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { MINUTE } from '../../../testing/factories/drafts.ts';
import { teamDigest, type WaitingOfRule } from './team-digest.ts';

const T0 = fixedClock().now();
const welcome: WaitingOfRule = {
  rule: 'welcome',
  waiting: 2,
  held: 0,
  fresh: 1,
  earliestDeadlineAt: T0 + 120 * MINUTE,
  firstId: 'd-1',
};
const trial: WaitingOfRule = {
  rule: 'trial_expiring',
  waiting: 1,
  held: 3,
  fresh: 0,
  earliestDeadlineAt: T0 + 30 * MINUTE,
  firstId: 'd-2',
};
const waiting = {
  project: 'Acme',
  rules: [welcome, trial],
  projectUrl: 'https://beckon.example/p/7',
  notices: [],
  timeZone: 'Europe/Paris',
};

test('sends the first waiting draft immediately, then at most every 15 minutes', () => {
  expect(teamDigest(waiting, T0, null)).not.toBeNull();
  expect(teamDigest(waiting, T0 + 15 * MINUTE - 1, T0)).toBeNull();
  expect(teamDigest(waiting, T0 + 15 * MINUTE, T0)).not.toBeNull();
});

test('sends nothing again until there is something new', () => {
  expect(teamDigest({ ...waiting, rules: [{ ...welcome, fresh: 0 }, trial] }, T0, null)).toBeNull();
  const notices = ['The rule welcome is draft-only now: 3 complaints among its last 1000 emails'];
  expect(teamDigest({ ...waiting, rules: [], notices }, T0, null)).toEqual({
    subject: `Acme: ${notices[0]}`,
    text: `${notices[0]}\n`,
  });
});

test('states the counts and the earliest deadline in the time zone of the project, with a link per rule', () => {
  expect(teamDigest(waiting, T0, null)).toEqual({
    subject: 'Acme: 3 drafts wait, 3 held',
    text: [
      'The first is sent at 2026-01-15 13:30 (Europe/Paris), unless a member decides first.',
      '',
      'trial_expiring: 1 draft waits, 3 drafts held, the first is sent at 2026-01-15 13:30 (Europe/Paris)',
      '  https://beckon.example/p/7/drafts/d-2',
      'welcome: 2 drafts wait, the first is sent at 2026-01-15 15:00 (Europe/Paris)',
      '  https://beckon.example/p/7/drafts/d-1',
      '',
    ].join('\n'),
  });
});

test('lists drafts without a deadline without one', () => {
  const rules = [{ ...welcome, earliestDeadlineAt: null }];
  expect(teamDigest({ ...waiting, rules }, T0, null)?.text).toBe(
    'welcome: 2 drafts wait\n  https://beckon.example/p/7/drafts/d-1\n',
  );
});
