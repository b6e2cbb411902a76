import { expect, test } from 'vitest';
import { actorWords } from './actor-words.ts';

test('actorWords › names parts of Beckon, and leaves members unchanged', () => {
  expect(
    ['engine', 'reply:ca9c5225825e108b', 'engine: no', 'Ada Lovelace', 'constructor'].map(actorWords),
  ).toEqual(['Beckon', 'Reply of a mail server', 'Beckon', 'Ada Lovelace', 'constructor']);
});
