import type { PolicyEffect } from '@beckon/contract/dashboard';
import { expect, test } from 'vitest';
import { effectWords, heldWords, reasonWords } from './policy-words.ts';

const TOTALS = {
  sends: 300,
  sends_immediately: 0,
  held: {},
  expires: 0,
  median_send_at: null,
  last_send_at: null,
};

function effect(changed: Partial<PolicyEffect>): PolicyEffect {
  return {
    drafts: 300,
    truncated: false,
    current: TOTALS,
    proposed: TOTALS,
    earlier: 0,
    later: 0,
    unchanged: 300,
    median_shift_ms: null,
    newly_expire: 0,
    stop_sending: 0,
    differences: [],
    hours: [],
    ...changed,
  };
}

test('describes how many emails move, by how much, and how many expire', () => {
  const proposed = { ...TOTALS, sends: 298 };
  expect(effectWords(effect({ later: 214, median_shift_ms: 11_400_000, newly_expire: 2, proposed }))).toEqual(
    ['214 emails move, median 3 h 10 min later', '2 emails expire and are not sent'],
  );
});

test('counts both directions, and uses the singular for one email', () => {
  expect(effectWords(effect({ earlier: 1, later: 2, median_shift_ms: -60_000 }))).toEqual([
    '3 emails move, median 1 min earlier',
    '1 earlier, 2 later',
  ]);
  expect(effectWords(effect({ stop_sending: 1 }))).toEqual(['1 email is no longer sent automatically']);
});

test('describes emails that become held or are no longer held', () => {
  expect(effectWords(effect({ proposed: { ...TOTALS, sends: 310 } }))).toEqual([
    '10 emails that are held now are sent',
  ]);
  expect(effectWords(effect({ proposed: { ...TOTALS, sends: 299 } }))).toEqual([
    '1 email is held without a send time',
  ]);
});

test('says that nothing changes', () => {
  expect(effectWords(effect({}))).toEqual(['No waiting email is affected']);
  expect(effectWords(effect({ drafts: 0 }))).toEqual(['No emails are waiting, so nothing changes']);
});

test('lists reasons by count, and shows an unknown one as words', () => {
  expect(heldWords({ frequency_cap: 3, quiet_hours: 1_200 })).toBe('1,200 quiet hours, 3 frequency cap');
  expect(reasonWords('some_new_gate')).toBe('some new gate');
});
