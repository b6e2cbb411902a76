import type { Need } from '@beckon/contract/dashboard';
import { expect, test } from 'vitest';
import { needWords } from './need-words.ts';

const one = { count: 1, at_least: false };
const many = { count: 10_000, at_least: true };

/** One of each kind that there is; a new kind is a type error here. */
const NEEDS: { [K in Need['kind']]: Extract<Need, { kind: K }> } = {
  paused: { kind: 'paused' },
  sender: { kind: 'sender', reason: 'domain', detail: 'x.org was not added as a sending domain' },
  due_soon: {
    kind: 'due_soon',
    drafts: one,
    first: {
      draft_id: 'd',
      deadline_at: '2026-01-15T12:00:00.000Z',
      subject: 'Hello',
      rule: 'welcome',
      external_user_id: 'ada',
    },
  },
  held: { kind: 'held', drafts: many, reasons: [{ reason: 'no_address', drafts: 10_000 }] },
  failed: { kind: 'failed', failed: 2, unknown: 1, at_least: false },
  domain: { kind: 'domain', name: 'x.org', state: 'verified', paused: 'complaints' },
  endpoint: { kind: 'endpoint', id: 'e', url: 'https://x.org', problem: 'gone', since: null },
  rule_demoted: { kind: 'rule_demoted', id: 'r', name: 'welcome', why: 'bounces' },
  dead_letters: { kind: 'dead_letters', records: one },
  queue: { kind: 'queue', waiting: 41_000, waiting_max: 50_000 },
};

test('each thing that needs somebody says what it is and where they go', () => {
  const shown = Object.values(NEEDS).map(needWords);
  for (const { title, action, detail } of shown) {
    expect(title).toMatch(/^[A-Z0-9][^_]+[^.]$/);
    expect(action).not.toBe('');
    expect(detail).toMatch(/^[A-Z0-9“].*\.$/);
  }
  expect(new Set(shown.map(({ key }) => key)).size).toBe(shown.length);
});

test('one is one, and more than were counted are said to be more', () => {
  expect(needWords(NEEDS.due_soon)).toMatchObject({
    title: '1 letter reaches its deadline within an hour',
    detail: 'The first is “Hello” to ada, by welcome.',
    at: '2026-01-15T12:00:00.000Z',
    to: { page: 'review', draft: 'd' },
  });
  expect(needWords(NEEDS.held).title).toBe('More than 10,000 letters are held until somebody does something');
  expect(needWords(NEEDS.held).detail).toBe('10000 by a missing address.');
  expect(needWords(NEEDS.failed).title).toBe('2 letters failed, 1 letter may have left, or not');
  expect(needWords(NEEDS.dead_letters).title).toBe('1 accepted record could not be applied');
});

test('a domain that is paused says why, one that failed says what becomes of its letters', () => {
  expect(needWords(NEEDS.domain)).toMatchObject({ tone: 'bad', title: 'The domain x.org is paused' });
  expect(needWords({ ...NEEDS.domain, paused: null, state: 'failed' }).detail).toContain(
    'held until they are back',
  );
});
