import { describe, expect, it } from 'vitest';
import type { DraftListed } from '@beckon/contract/dashboard';
import { filterOfFold, type Folding, foldsOf, foldWords } from './folds.ts';
import { itemsOf, rowsOf } from './items.ts';

const now = Date.parse('2026-01-15T21:30:00.000Z');
const moment = { now, zone: 'Europe/Paris' };
const due = (at: string | null, more: Partial<DraftListed> = {}) =>
  ({ state: 'scheduled', reason: null, deadline_at: at, ...more }) as DraftListed;
const held = (id: string, reason: string, until: string | null = null) =>
  due(null, { id, state: 'held', reason, held_until: until });
const CLOSED: Folding = { heldBy: [], toggled: new Map(), named: undefined };

describe('itemsOf', () => {
  it('returns one title per group, and moves drafts as time passes', () => {
    const rows = [due('2026-01-15T22:00:00.000Z'), due('2026-01-15T22:45:00.000Z'), due(null)];
    const heads = (at: number) =>
      itemsOf(rows, { ...moment, now: at }).map((item) => (item.kind === 'head' ? item.group : 'row'));
    expect(heads(now)).toEqual(['soon', 'row', 'today', 'row', 'no_deadline', 'row']);
    expect(heads(now + 20 * 60_000)).toEqual(['soon', 'row', 'row', 'no_deadline', 'row']);
    expect(itemsOf([], moment)).toEqual([]);
  });

  it('folds held drafts of one reason, and shows them behind their fold when it is open', () => {
    const rows = [
      due('2026-01-15T22:00:00.000Z', { id: 'due' }),
      held('a', 'no_address'),
      held('q', 'quiet_hours', '2026-01-16T08:00:00.000Z'),
      held('b', 'no_address'),
      held('c', 'no_address'),
    ];
    const shown = (folding: Folding) => {
      const items = itemsOf(rows, moment, foldsOf(rows, folding));
      return items.map((item) =>
        item.kind === 'head' ? item.group : item.kind === 'fold' ? foldWords(item.fold) : item.row.id,
      );
    };
    expect(shown(CLOSED)).toEqual(['soon', 'due', 'held', '3 without an address', 'q']);
    const open = { ...CLOSED, toggled: new Map([['no_address', true]]) };
    expect(shown(open)).toEqual(['soon', 'due', 'held', '3 without an address', 'a', 'b', 'c', 'q']);
    expect(shown({ ...CLOSED, named: 'b' })).toEqual(shown(open));
    expect(rowsOf(itemsOf(rows, moment, foldsOf(rows, CLOSED))).map(({ id }) => id)).toEqual(['due', 'q']);
  });
});

describe('foldsOf', () => {
  const rows = ['a', 'b', 'c'].map((id) => held(id, 'no_address'));

  it('folds no fewer than three drafts, and no postponed ones', () => {
    expect(foldsOf(rows.slice(1), CLOSED).size).toBe(0);
    const postponed = ['a', 'b', 'c'].map((id) => held(id, 'postponed'));
    expect(foldsOf(postponed, CLOSED).size).toBe(0);
  });

  it('counts drafts that are not loaded, and knows whether the reason needs an action', () => {
    const heldBy = [{ reason: 'no_address', drafts: 1_600 }];
    const fold = foldsOf(rows, { ...CLOSED, heldBy }).get('no_address');
    expect(fold).toMatchObject({ count: 1_600, needsAction: true });
    const quiet = ['a', 'b', 'c'].map((id) => held(id, 'quiet_hours', '2026-01-16T08:00:00.000Z'));
    expect(foldsOf(quiet, CLOSED).get('quiet_hours')?.needsAction).toBe(false);
  });

  it('starts open if the list has nothing else, and can be closed', () => {
    expect(foldsOf(rows, CLOSED).get('no_address')?.isOpen).toBe(true);
    const closed = { ...CLOSED, toggled: new Map([['no_address', false]]) };
    expect(foldsOf(rows, closed).get('no_address')?.isOpen).toBe(false);
  });
});

describe('filterOfFold', () => {
  it('keeps the filter of the list', () => {
    const fold = { reason: 'no_address' };
    expect(filterOfFold(fold, undefined)).toBe('state:held reason:no_address');
    expect(filterOfFold(fold, 'rule:vip omar')).toBe('state:held reason:no_address rule:vip omar');
  });
});
