import { expect, test } from 'vitest';
import type { TimelineItem } from '@beckon/contract/dashboard';
import { storyDays, subjectOf } from './stories.ts';

const item = (at: string, more: Partial<TimelineItem>): TimelineItem => ({
  at,
  id: at,
  kind: 'event',
  title: 'login',
  rule: null,
  audience: null,
  draft_id: null,
  actor: null,
  detail: {},
  ...more,
});

test('storyDays › combines the items of an email, and groups lines by day in the zone', () => {
  const days = storyDays(
    [
      item('2026-01-02T23:30:00.000Z', { kind: 'outcome', title: 'email.opened', draft_id: 'd' }),
      item('2026-01-02T12:00:00.000Z', {}),
      item('2026-01-02T11:00:00.000Z', { kind: 'draft', title: 'Hello', draft_id: 'd' }),
    ],
    'Europe/Berlin',
  );
  expect(
    days.map(({ day, stories }) => [day, stories.map(({ items }) => items.map(({ kind }) => kind))]),
  ).toEqual([
    ['3 Jan 2026', [['draft', 'outcome']]],
    ['2 Jan 2026', [['event']]],
  ]);
  const [story] = days[0]?.stories ?? [];
  expect(story && subjectOf(story)).toBe('Hello');
});
