import { describe, expect, test } from 'vitest';
import type { EmailStep, TimelineItem } from '@beckon/contract/dashboard';
import { shownSteps, stepWords, timelineDays } from './steps.ts';

const step = (title: string, more: Partial<EmailStep> = {}): EmailStep => ({
  at: '2026-01-02T12:00:00.000Z',
  id: title,
  kind: title.startsWith('email.') ? 'outcome' : 'draft_changed',
  title,
  actor: title.startsWith('email.') ? null : 'engine',
  detail: title === 'email.opened' || title === 'email.clicked' ? { class: 'no' } : {},
  ...more,
});
const wordsOf = (...steps: EmailStep[]): string[] => shownSteps(steps).map(({ words }) => words);
const ada = { actor: 'Ada' };

describe('shownSteps', () => {
  test('shows an email from its draft to its clicks', () => {
    const held = step('hold', { detail: { reason: 'quiet_hours' } });
    expect(
      wordsOf(
        step('schedule'),
        held,
        step('release'),
        step('claim'),
        step('sent'),
        step('email.opened'),
        step('email.clicked'),
      ),
    ).toEqual(['Drafted', 'Held: quiet hours', 'Released', 'Sent', 'Opened', 'Clicked']);
  });

  test('joins what a member did in a row, without opened editors', () => {
    expect(
      wordsOf(
        step('schedule'),
        ...['open_editor', 'edit', 'close_editor', 'approve'].map((title) => step(title, ada)),
        step('undo', { actor: 'Bo' }),
        step('postpone', { actor: 'Bo' }),
        step('sent'),
      ),
    ).toEqual(['Drafted', 'Ada edited and approved it', 'Bo undid and postponed it', 'Sent']);
    expect(wordsOf(step('schedule'), step('open_editor', ada), step('close_editor', ada))).toEqual([
      'Drafted',
    ]);
  });

  test('counts a repeated outcome once, keeps bots apart, and shows a reply once', () => {
    const bot = step('email.opened', { detail: { class: 'yes' } });
    expect(
      wordsOf(
        bot,
        step('email.opened'),
        step('email.clicked', { id: 'a' }),
        step('email.clicked', { id: 'b' }),
        step('email.replied'),
        step('Re: Hello', { kind: 'reply', actor: null }),
      ),
    ).toEqual(['Opened by a bot', 'Opened', 'Clicked (2 times)', 'Replied']);
  });
});

test('stepWords › names the member, and the reason of a hold or a complaint', () => {
  expect(stepWords(step('approve', ada))).toBe('Approved by Ada');
  expect(stepWords(step('email.unsubscribed', { detail: { class: 'complaint' } }))).toBe('Complained');
  expect(stepWords(step('cancel', { detail: { reason: 'rule_no_longer_holds' } }))).toBe(
    'Canceled: conditions no longer met',
  );
});

test('timelineDays › groups items by day in the zone', () => {
  const item = (at: string): TimelineItem => ({
    at,
    id: at,
    kind: 'event',
    title: 'login',
    rule: null,
    audience: null,
    draft_id: null,
    detail: {},
    steps: [],
  });
  const items = ['2026-01-02T23:30:00.000Z', '2026-01-02T12:00:00.000Z', '2026-01-02T11:00:00.000Z'].map(
    item,
  );
  expect(timelineDays(items, 'Europe/Berlin').map(({ day, items: of }) => [day, of.length])).toEqual([
    ['3 Jan 2026', 1],
    ['2 Jan 2026', 2],
  ]);
});
