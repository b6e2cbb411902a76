import { expect, test } from 'vitest';
import type { InsightGroup } from '@beckon/contract/dashboard';
import { change, daysOf, funnelRows, openedRows, percent, signed, sortGroups } from './numbers.ts';

const GROUP: InsightGroup = {
  name: 'a',
  rule_id: null,
  sent: 10,
  delivered: 8,
  opened: 4,
  clicked: 2,
  bot_opened: 0,
  bot_clicked: 0,
  replied: 0,
  bounced: { hard: 2, soft: 0, policy: 0, infrastructure: 0 },
  complained: 0,
  unsubscribed: 0,
  edited: { edited: 0, total: 0 },
  opened_within: [],
  median_open_ms: null,
  rates: {
    delivered: 0.8,
    bounced: 0.2,
    opened: 0.5,
    clicked: 0.25,
    replied: 0,
    complained: 0,
    unsubscribed: 0,
    edited: null,
  },
  lift: null,
};

test('percent, signed and change › format one decimal, a sign, and null as a dash', () => {
  expect([percent(0.1234), percent(null)]).toEqual(['12.3 %', '–']);
  expect([signed(0.012), signed(-0.012), signed(0), signed(-0.0001)]).toEqual([
    '+1.2',
    '-1.2',
    '+0.0',
    '+0.0',
  ]);
  expect([change(0.5, 0.25), change(0.5, null), change(null, 0.5)]).toEqual(['+25.0', null, null]);
});

test('funnelRows › relates delivered emails to sent ones, and the rest to delivered ones', () => {
  expect(funnelRows(GROUP).map(({ emails, share }) => `${emails} ${share}`)).toEqual([
    '10 100.0 %',
    '8 80.0 %',
    '4 50.0 %',
    '2 25.0 %',
    '0 0.0 %',
  ]);
});

test('openedRows › returns the share of each time slice', () => {
  const within = [
    { until_ms: 900_000, emails: 3 },
    { until_ms: 14_400_000, emails: 1 },
    { until_ms: null, emails: 0 },
  ];
  expect(openedRows(within)).toEqual([
    { when: 'within 15 min', emails: 3, share: '75.0 %' },
    { when: 'within 4 h', emails: 1, share: '25.0 %' },
    { when: 'later than 4 h', emails: 0, share: '0.0 %' },
  ]);
});

test('daysOf › returns 30 for an unknown range', () => {
  expect([daysOf('7d'), daysOf('yesterday'), daysOf(undefined)]).toEqual([7, 30, 30]);
});

test('sortGroups › sorts by the selected column, with empty groups last', () => {
  const small = { ...GROUP, name: 'b', sent: 1, rates: { ...GROUP.rates, opened: 1 } };
  const none = { ...GROUP, name: 'c', sent: 2, rates: { ...GROUP.rates, opened: null } };
  const names = (by: 'sent' | 'opened') => sortGroups([none, GROUP, small], by).map(({ name }) => name);
  expect(names('sent')).toEqual(['a', 'c', 'b']);
  expect(names('opened')).toEqual(['b', 'a', 'c']);
});
