import type { DraftListed } from '@beckon/contract/dashboard';
import { describe, expect, it } from 'vitest';
import { type KnownDraft, withKnown, withoutEditor } from './known-drafts.ts';

const draft = (id: string, minute: number | null, more: Partial<DraftListed> = {}): DraftListed =>
  ({
    id,
    state: 'scheduled',
    reason: null,
    deadline_at: minute === null ? null : new Date(minute * 60_000).toISOString(),
    ...more,
  }) as DraftListed;
const here = (row: DraftListed): [string, KnownDraft] => [row.id, { kind: 'here', row }];
const idsOf = (rows: DraftListed[]): string[] => rows.map(({ id }) => id);

describe('withoutEditor', () => {
  const lease = { by: 'Ada', until: '', mine: true };

  it('returns a draft that only its editor held to its former state', () => {
    const row = draft('a', 10, { state: 'held', resume_state: 'scheduled', reason: 'editing', lease });
    expect(withoutEditor(row)).toMatchObject({
      state: 'scheduled',
      resume_state: null,
      reason: null,
      lease: null,
    });
  });

  it('leaves another hold', () => {
    const row = draft('a', 10, { state: 'held', resume_state: 'scheduled', reason: 'postponed', lease });
    expect(withoutEditor(row)).toEqual({ ...row, lease: null });
  });
});

describe('withKnown', () => {
  const rows = [
    draft('a', 10),
    draft('b', 20),
    draft('c', null),
    draft('d', 5, { state: 'held', reason: 'quiet_hours' }),
  ];

  it('returns the same rows while nothing else is known', () => {
    expect(withKnown(rows, new Map())).toBe(rows);
  });

  it('removes decided drafts', () => {
    const known = new Map<string, KnownDraft>([
      ['a', { kind: 'pending' }],
      ['b', { kind: 'ours' }],
      ['c', { kind: 'gone' }],
    ]);
    expect(idsOf(withKnown(rows, known))).toEqual(['d']);
  });

  it('replaces a row with the one that the server returned since', () => {
    const edited = draft('b', 35, { subject: 'Edited' });
    expect(withKnown(rows, new Map([here(edited)]))[1]).toBe(edited);
  });

  it('adds a row that the list no longer has, in the order of the server', () => {
    const added = [
      draft('e', 15),
      draft('f', 5, { state: 'held', reason: 'postponed' }),
      draft('g', 30, { state: 'held', reason: 'editing' }),
    ];
    expect(idsOf(withKnown(rows, new Map(added.map(here))))).toEqual(['a', 'e', 'b', 'g', 'c', 'd', 'f']);
  });
});
