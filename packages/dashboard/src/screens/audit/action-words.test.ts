import { expect, test } from 'vitest';
import { auditWords } from './action-words.ts';

test('auditWords › names the object and the action', () => {
  expect(['key.create', 'rule.set_mode', 'pause.look', 'odd'].map(auditWords)).toEqual([
    'API key: create',
    'Rule: set mode',
    'Pause of sending: previewed',
    'Odd',
  ]);
});
