import { expect, test } from 'vitest';
import type { DraftListed } from '@beckon/contract/dashboard';
import { groupOf } from './groups.ts';

const now = Date.parse('2026-01-15T21:30:00.000Z');
const moment = { now, zone: 'Europe/Paris' };
const due = (at: string | null, more: Partial<DraftListed> = {}) =>
  ({ state: 'scheduled', reason: null, deadline_at: at, ...more }) as DraftListed;

test("groupOf › groups drafts by deadline, in the project's time zone", () => {
  const stands: [DraftListed, string][] = [
    [due('2026-01-15T21:29:00.000Z'), 'overdue'],
    [due('2026-01-15T22:29:59.000Z'), 'soon'],
    [due('2026-01-15T22:30:00.000Z'), 'today'],
    // In Paris it is already the next day.
    [due('2026-01-15T23:00:00.000Z'), 'later'],
    [due(null), 'no_deadline'],
    [due('2026-01-15T22:00:00.000Z', { state: 'held', reason: 'quiet_hours' }), 'held'],
    [due('2026-01-15T22:00:00.000Z', { state: 'held', reason: 'editing' }), 'soon'],
    [due(null, { state: 'held', reason: 'postponed' }), 'postponed'],
  ];
  for (const [draft, group] of stands) expect([draft, groupOf(draft, moment)]).toEqual([draft, group]);
});
