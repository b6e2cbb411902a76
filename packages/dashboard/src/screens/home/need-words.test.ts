import type { Need } from '@beckon/contract/dashboard';
import { expect, test } from 'vitest';
import { needWords } from './need-words.ts';

const single = { count: 1, at_least: false };
const many = { count: 10_000, at_least: true };

/** One need of each kind. A missing kind is a type error here. */
const NEEDS: { [K in Need['kind']]: Extract<Need, { kind: K }> } = {
  paused: { kind: 'paused' },
  sender: { kind: 'sender', reason: 'domain_not_ready', detail: 'x.org was not added as a sending domain' },
  due_today: {
    kind: 'due_today',
    drafts: single,
    soon: single,
    filter: 'state:scheduled',
    first: {
      draft_id: 'd',
      deadline_at: '2026-01-15T12:00:00.000Z',
      subject: 'Hello',
      rule: 'welcome',
      external_user_id: 'ada',
    },
  },
  held: { kind: 'held', drafts: many, reasons: [{ reason: 'no_address', drafts: 10_000 }] },
  failed: { kind: 'failed', failed: 2, unknown: 1, at_least: false, since: '2026-01-01T00:00:00.000Z' },
  domain: { kind: 'domain', name: 'x.org', state: 'verified', paused: 'complaints' },
  endpoint: { kind: 'endpoint', id: 'e', url: 'https://x.org', problem: 'gone', since: null },
  relay_unproven: { kind: 'relay_unproven', id: 'r', name: 'Main' },
  rule_demoted: { kind: 'rule_demoted', id: 'r', name: 'welcome', why: 'bounces' },
  dead_letters: { kind: 'dead_letters', records: single },
  queue: { kind: 'queue', waiting: 41_000, waiting_max: 50_000 },
};

test('needWords › describes each need, and links to its screen', () => {
  const texts = Object.values(NEEDS).map(needWords);
  for (const { title, action, detail } of texts) {
    expect(title).toMatch(/^[A-Z0-9][^_]+[^.]$/);
    expect(action).not.toBe('');
    expect(detail).toMatch(/^[A-Z0-9“].*\.$/);
  }
  expect(new Set(texts.map(({ key }) => key)).size).toBe(texts.length);
});

test('needWords › uses the singular for one, and "More than" above the counted limit', () => {
  expect(needWords(NEEDS.due_today)).toMatchObject({
    title: '1 draft reaches its deadline today',
    detail: 'The first is “Hello” to ada, from the rule welcome.',
    at: '2026-01-15T12:00:00.000Z',
    to: { page: 'review', draft: 'd', filter: 'state:scheduled' },
  });
  const soon = { count: 2, at_least: false };
  expect(needWords({ ...NEEDS.due_today, drafts: { count: 5, at_least: false }, soon })).toMatchObject({
    title: '5 drafts reach their deadline today',
    detail: '2 of them within an hour. The first is “Hello” to ada, from the rule welcome.',
  });
  expect(needWords(NEEDS.held).title).toBe('More than 10,000 drafts are held and need attention');
  expect(needWords(NEEDS.held).detail).toBe('10000 no address.');
  expect(needWords(NEEDS.failed).title).toBe('2 emails failed, 1 email with unknown delivery');
  expect(needWords(NEEDS.dead_letters).title).toBe('1 accepted record could not be processed');
});

test('needWords › names the reason of a paused domain, and the effect of a failed one', () => {
  expect(needWords(NEEDS.domain)).toMatchObject({ tone: 'bad', title: 'Sending from x.org is paused' });
  expect(needWords({ ...NEEDS.domain, paused: null, state: 'failed' }).detail).toContain(
    'held until it is restored',
  );
});
