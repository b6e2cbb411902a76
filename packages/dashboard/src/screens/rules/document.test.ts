import { expect, test } from 'vitest';
import {
  distanceOf,
  entryKind,
  eventOf,
  faultsBelow,
  moved,
  newEntry,
  newStep,
  newTrigger,
  stepKind,
  triggerKind,
  triggersOf,
  withDistance,
  withField,
} from './document.ts';

test('triggerKind, entryKind and stepKind › recognize every part that the form creates', () => {
  for (const kind of ['event', 'audience', 'relative', 'date', 'absence'] as const)
    expect(triggerKind(newTrigger(kind))).toBe(kind);
  for (const kind of ['once', 'one_at_a_time', 'once_per', 'about', 'cooldown'] as const)
    expect(entryKind(newEntry(kind))).toBe(kind);
  for (const kind of ['email', 'inline', 'wait', 'wait_until', 'wait_for', 'branch', 'end'] as const)
    expect(stepKind(newStep(kind))).toBe(kind);
});

test('triggerKind, entryKind and stepKind › return null for unknown parts', () => {
  expect(triggerKind({ moon: 'full' })).toBe(null);
  expect(entryKind({ thrice: true })).toBe(null);
  expect(stepKind({ dance: true })).toBe(null);
});

test('triggersOf and eventOf › read one trigger or a list, and keep the event when the kind changes', () => {
  expect(triggersOf({ when: { event: 'a' } })).toEqual([{ event: 'a' }]);
  expect(triggersOf({ when: [{ event: 'a' }, { event: 'b' }] })).toHaveLength(2);
  for (const kind of ['event', 'relative', 'absence'] as const)
    expect(eventOf(newTrigger(kind, 'login'))).toBe('login');
});

test('withDistance › sets before or after, never both', () => {
  const trigger = withDistance({ relative_to: { trait: 'x' }, before: '7d' }, 'after', '1d');
  expect(trigger).toEqual({ relative_to: { trait: 'x' }, after: '1d' });
  expect(distanceOf(trigger)).toEqual({ side: 'after', span: '1d' });
});

test('withField, moved and faultsBelow › drop empty fields, reorder steps, and find the errors of a part', () => {
  expect(withField({ a: 1, b: 2 }, 'b', '')).toEqual({ a: 1 });
  expect(withField({ a: 1 }, 'b', [])).toEqual({ a: 1 });
  expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
  expect(moved(['a', 'b'], 0, 2)).toEqual(['a', 'b']);
  const faults = [
    { message: 'One.', field: 'steps.0.wait' },
    { message: 'Two.', field: 'stepsister' },
  ];
  expect(faultsBelow(faults, 'steps')).toBe('One.');
  expect(faultsBelow(faults, 'when')).toBe(undefined);
});
