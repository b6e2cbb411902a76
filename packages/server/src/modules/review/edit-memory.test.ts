import { expect, test } from 'vitest';
import { applyChanges, recurringChanges } from './edit-memory.ts';

const SOURCE = `Hi {{ user.name | default: "there" }},

Welcome to Acme. Here is a long story about us.

Reply to this email whenever you want.`;

const bodyFor = (name: string): string => SOURCE.replace(/\{\{.*\}\}/, name);

const edited = (names: string[], edit: (body: string, name: string) => string, subject?: string) =>
  names.map((name, i) => {
    const before = {
      subject: `Welcome ${name}`,
      preheader: '',
      body: bodyFor(name),
      format: 'markdown' as const,
    };
    const after = { ...before, body: edit(before.body, name), subject: subject ?? before.subject };
    return { id: `d${i}`, facts: { 'user.name': name, n: 3 }, before, after };
  });

const withoutStory = (body: string): string =>
  body.replace('Welcome to Acme. Here is a long story about us.\n\n', '');

test('counts the same cut in emails to several users as one change', () => {
  const five = edited(['Ada', 'Benjamin', 'Cleo', 'Dora', 'Ernest'], withoutStory);
  const three = edited(
    ['Fay', 'Gus', 'Hal'],
    (body, name) => `${body}\n\nRegards, for ${name} alone ${name}`,
  ).map((edit, i) => ({
    ...edit,
    id: `e${i}`,
    after: { ...edit.after, body: `${edit.before.body}\n\nNote ${i}` },
  }));
  expect(recurringChanges([...five, ...three])).toEqual([
    {
      part: 'body',
      kind: 'removed',
      before: 'Welcome to Acme. Here is a long story about us.',
      after: '',
      paragraph: 2,
      count: 5,
      total: 8,
      sentence: '5 of 8 removed the second paragraph',
      drafts: ['d0', 'd1', 'd2', 'd3', 'd4'],
    },
  ]);
});

test('reports changes within a paragraph or a subject as words', () => {
  const all = edited(
    ['Ada', 'Benjamin'],
    (body, name) => body.replace(`Hi ${name},`, `Dear ${name},`),
    'Good to have you',
  );
  expect(
    recurringChanges(all)
      .map(({ sentence }) => sentence)
      .toSorted(),
  ).toEqual([
    '2 of 2 wrote “Dear” for “Hi”',
    '2 of 2 wrote “Good to have you” for “Welcome {{ user.name }}” in the subject',
  ]);
});

test('ignores a change made only once, and drafts without edits', () => {
  expect(recurringChanges(edited(['Ada'], withoutStory))).toEqual([]);
  expect(recurringChanges(edited(['Ada', 'Ben'], (body) => body))).toEqual([]);
  expect(recurringChanges([])).toEqual([]);
});

test('proposes the changes in the template source and keeps its variables', () => {
  const changes = recurringChanges(
    edited(['Ada', 'Benjamin'], (body, name) =>
      withoutStory(body).replace(`Hi ${name},`, `Dear ${name},`).replace('whenever you want', 'any time'),
    ),
  );
  expect(applyChanges(SOURCE, 'body', changes)).toEqual({
    applied: 3,
    text: `Dear {{ user.name | default: "there" }},

Reply to this email any time.`,
  });
  expect(applyChanges('Something else altogether', 'body', changes)).toBeNull();
  expect(applyChanges(SOURCE, 'subject', changes)).toBeNull();
});

test('finds a paragraph in the source although it contains facts about the user', () => {
  const email = 'One.\n\nYour plan is {{ user.plan | plan_name }}, {{user.name}}.\n\nTwo.';
  const before = 'One.\n\nYour plan is Pro plus, Ada.\n\nTwo.';
  const texts = { subject: 's', preheader: '', format: 'markdown' as const };
  const edit = {
    facts: { 'user.plan': 'Pro plus', 'user.name': 'Ada' },
    before: { ...texts, body: before },
    after: { ...texts, body: 'One.\n\nTwo.' },
  };
  const changes = recurringChanges([
    { id: 'a', ...edit },
    { id: 'b', ...edit },
  ]);
  expect(applyChanges(email, 'body', changes)?.text).toBe('One.\n\nTwo.');
});
