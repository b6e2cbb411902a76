import { expect, test } from 'vitest';
import type { FeedItem } from '@beckon/contract/dashboard';
import { wordsOf } from './words.ts';

const item = (more: Partial<FeedItem>): FeedItem => ({
  id: 'i',
  at: '2026-01-01T00:00:00.000Z',
  place: 'p',
  type: 'event',
  ...more,
});

test.each<[Partial<FeedItem>, string]>([
  [{ type: 'event', name: 'trial_started', suppressed: false }, 'trial_started'],
  [{ type: 'event', name: 'old', suppressed: true }, 'old, triggers suppressed'],
  [{ type: 'event', name: 'trial_started', properties: { plan: 'pro' } }, 'trial_started · plan: pro'],
  [{ type: 'request', endpoint: 'events', status: 202, code: null, requests: 1 }, 'events 202'],
  [
    { type: 'request', endpoint: 'users', status: 422, code: 'validation_failed', requests: 1_200 },
    'users 422 × 1,200, validation failed',
  ],
  [
    {
      type: 'draft_changed',
      actor: 'team:1',
      actor_name: 'Ada',
      action: 'open_editor',
      from: 'scheduled',
      to: 'held',
      reason: 'editing',
      rule: 'Welcome',
    },
    'Ada: editor opened, waiting → held, being edited (Welcome)',
  ],
  [
    { type: 'draft_changed', actor: 'engine', action: 'edit', from: 'held', to: 'held', reason: null },
    'Beckon: edited, stays held',
  ],
  [{ type: 'draft', subject: 'Hello', state: 'scheduled', rule: 'Welcome' }, 'Hello is waiting (Welcome)'],
  [{ type: 'outcome', outcome: 'email.clicked', rule: 'Welcome' }, 'clicked (Welcome)'],
  [{ type: 'audience_joined', audience: null }, 'a deleted audience'],
  [{ type: 'bulk_change', users: 9, events: 2 }, '9 users, 2 events'],
  [{ type: 'user_created' }, ''],
])('wordsOf › %o is "%s"', (more, expected) => {
  expect(wordsOf(item(more))).toBe(expected);
});
