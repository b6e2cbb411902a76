import { expect, test } from 'vitest';
import { createLine } from './in-line.ts';

test('of one key one goes after the other, whatever becomes of those before, and another key waits for none', async () => {
  const inLine = createLine({ waitingMax: 10 });
  const said: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = inLine(1, () => first.promise);
  const two = inLine(1, async () => said.push('two'));
  const three = inLine(1, async () => said.push('three'));
  await inLine(2, async () => said.push('other'));
  expect(said).toEqual(['other']);
  first.reject(new Error('no'));
  await expect(one).rejects.toThrow('no');
  await Promise.all([two, three]);
  expect(said).toEqual(['other', 'two', 'three']);
});

test('who comes on top of so many is sent away, and whoever comes afterwards is not', async () => {
  const inLine = createLine({ waitingMax: 2 });
  const first = Promise.withResolvers<string>();
  const waiting = [inLine('a', () => first.promise), inLine('a', async () => 'second')];
  await expect(inLine('a', async () => 'third')).rejects.toThrow('2 wait in line');
  await expect(inLine('b', async () => 'third')).rejects.toThrow('2 wait in line');
  first.resolve('first');
  expect(await Promise.all(waiting)).toEqual(['first', 'second']);
  expect(await inLine('a', async () => 'third')).toBe('third');
});

test('of one key only so many wait, whoever comes on top of them is sent away, and another key is not', async () => {
  const inLine = createLine({ waitingMax: 3, waitingMaxOfOne: 2 });
  const first = Promise.withResolvers<string>();
  const waiting = [inLine('a', () => first.promise), inLine('a', async () => 'second')];
  await expect(inLine('a', async () => 'third')).rejects.toThrow('2 of a wait in line');
  expect(await inLine('b', async () => 'third')).toBe('third');
  first.resolve('first');
  expect(await Promise.all(waiting)).toEqual(['first', 'second']);
  expect(await inLine('a', async () => 'third')).toBe('third');
});
