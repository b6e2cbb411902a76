import { describe, expect, test } from 'vitest';
import {
  canEnroll,
  canStart,
  enrollLabel,
  previewWords,
  progressWords,
  startsByEntering,
} from './enrollment-words.ts';

const audiences = [{ id: 'a', name: 'Trials', ready: true }];
const preview = { audiences, members: 30, evaluated: 30, would_enroll: 12 };

describe('startsByEntering', () => {
  test('is true for a rule with a trigger on entering an audience, alone or among others', () => {
    expect(startsByEntering({ when: { audience: 'a', move: 'joined' } })).toBe(true);
    expect(startsByEntering({ when: [{ event: 'did' }, { audience: 'a', move: 'joined' }] })).toBe(true);
    expect(startsByEntering({ when: { audience: 'a', move: 'left' } })).toBe(false);
    expect(startsByEntering({ when: { event: 'did' } })).toBe(false);
    expect(startsByEntering({})).toBe(false);
  });
});

describe('previewWords', () => {
  test('says how many of the members would be enrolled', () => {
    expect(previewWords(preview)).toBe('12 of 30 users in “Trials” would be enrolled.');
    expect(previewWords({ ...preview, members: 1, evaluated: 1, would_enroll: 1 })).toBe(
      '1 of 1 user in “Trials” would be enrolled.',
    );
    expect(enrollLabel({ ...preview, would_enroll: 1 })).toBe('Enroll 1 user');
  });

  test('says how many members were evaluated if there are more', () => {
    const many = { ...preview, members: 25_000, evaluated: 10_000 };
    expect(previewWords(many)).toBe('12 of the first 10,000 of 25,000 users in “Trials” would be enrolled.');
    expect(enrollLabel(many)).toBe('Enroll members');
  });

  test('says why no user can be enrolled', () => {
    const empty = { ...preview, members: 0, evaluated: 0 };
    expect([previewWords(empty), canEnroll(empty)]).toEqual(['No users are in “Trials” now.', false]);
    const building = { ...preview, audiences: [...audiences, { id: 'b', name: 'Paid', ready: false }] };
    expect([previewWords(building), canEnroll(building)]).toEqual([
      'The audience “Paid” is still being built. Try again when it is ready.',
      false,
    ]);
    expect(canEnroll(preview)).toBe(true);
  });
});

describe('canStart', () => {
  test('is false only if all members were evaluated and none would be enrolled', () => {
    const none = { ...preview, would_enroll: 0 };
    expect(canStart(preview)).toBe(true);
    expect(canStart(none)).toBe(false);
    expect(canStart({ ...none, members: 25_000, evaluated: 10_000 })).toBe(true);
    expect(canStart({ ...none, members: 0, evaluated: 0 })).toBe(false);
  });
});

describe('progressWords', () => {
  test('says how far an enrollment came, and how to cancel a running one', () => {
    const counts = { members: 5_000, processed: 1_200, enrolled: 1_150, cancel_reason: null };
    const running = { ...counts, state: 'running' as const };
    expect(progressWords(running)).toBe(
      '1,200 of 5,000 members processed, 1,150 enrolled. Disable the rule to cancel.',
    );
    expect(progressWords({ ...running, state: 'done' })).toBe(
      '1,200 of 5,000 members processed, 1,150 enrolled.',
    );
  });

  test('says why an enrollment was canceled', () => {
    const canceled = { state: 'canceled' as const, members: 2, processed: 1, enrolled: 1 };
    expect(progressWords({ ...canceled, cancel_reason: 'rule_off' })).toBe(
      '1 of 2 members processed, 1 enrolled. The rule was disabled.',
    );
    expect(progressWords({ ...canceled, cancel_reason: 'rule_edited' })).toBe(
      '1 of 2 members processed, 1 enrolled. The rule was edited. Preview and enroll its members again.',
    );
  });
});
