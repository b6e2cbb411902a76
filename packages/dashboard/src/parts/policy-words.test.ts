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
    is_cut: false,
    today: TOTALS,
    changed: TOTALS,
    earlier: 0,
    later: 0,
    same: 300,
    median_shift_ms: null,
    newly_expire: 0,
    stop_sending: 0,
    differences: [],
    hours: [],
    ...changed,
  };
}

test('what moves, by how much, and what is lost', () => {
  const changed = { ...TOTALS, sends: 298 };
  expect(effectWords(effect({ later: 214, median_shift_ms: 11_400_000, newly_expire: 2, changed }))).toEqual([
    '214 letters move, median 3 h 10 min later',
    '2 letters pass their time and are not sent',
  ]);
});

test('both directions are told apart, and one letter is one letter', () => {
  expect(effectWords(effect({ earlier: 1, later: 2, median_shift_ms: -60_000 }))).toEqual([
    '3 letters move, median 1 min earlier',
    '1 earlier, 2 later',
  ]);
  expect(effectWords(effect({ stop_sending: 1 }))).toEqual(['1 letter no longer leaves without a person']);
});

test('letters that are held now and leave then, and the other way round', () => {
  expect(effectWords(effect({ changed: { ...TOTALS, sends: 310 } }))).toEqual([
    '10 letters that are held now leave',
  ]);
  expect(effectWords(effect({ changed: { ...TOTALS, sends: 299 } }))).toEqual([
    '1 letter is held and has no time to leave',
  ]);
});

test('nothing is said to be nothing', () => {
  expect(effectWords(effect({}))).toEqual(['No waiting letter fares otherwise']);
  expect(effectWords(effect({ drafts: 0 }))).toEqual(['No letter waits now, so nothing changes']);
});

test('reasons are words, the most frequent first, and an unknown one is still readable', () => {
  expect(heldWords({ cap: 3, quiet_hours: 1_200 })).toBe('1,200 by quiet hours, 3 by the cap per person');
  expect(reasonWords('some_new_gate')).toBe('some new gate');
});
