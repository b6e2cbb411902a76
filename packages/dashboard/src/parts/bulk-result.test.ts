import { describe, expect, test } from 'vitest';
import { bulkText } from './bulk-result.ts';

const words = { one: 'suppression removed', many: 'suppressions removed' };

describe('bulkText', () => {
  test('names what was done', () => {
    expect(bulkText({ ...words, done: 1, refused: [] })).toBe('1 suppression removed.');
    expect(bulkText({ ...words, done: 1_200, refused: [] })).toBe('1,200 suppressions removed.');
  });

  test('names what was refused, and why', () => {
    const refused = [
      { message: 'The entry is no longer in the list', rows: 2 },
      { message: 'It has ended.', rows: 1 },
    ];
    expect(bulkText({ ...words, done: 0, refused })).toBe(
      '0 suppressions removed. 2 refused: The entry is no longer in the list. 1 refused: It has ended.',
    );
  });
});
