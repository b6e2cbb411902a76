import { expect, test } from 'vitest';
import type { Fault } from './fault.ts';
import { chooseFaults, FAULTS, faultSequence } from './plan.ts';
import { randomOf } from './random.ts';

const fault = (code: string, weight: number): Fault => ({ code, name: code, weight, run: async () => {} });
const SOME = [fault('a', 8), fault('b', 1), fault('c', 1)];

function first(count: number, faults: Fault[], seed: string): { code: string; number: number }[] {
  const order = faultSequence(faults, seed);
  return Array.from({ length: count }, () => {
    const next = order.next().value;
    if (!next) throw new Error('it has an end');
    return { code: next.fault.code, number: next.random() };
  });
}

test('inOrder returns the same faults for the same seed, each with its own random numbers', () => {
  expect(first(200, SOME, '7')).toEqual(first(200, SOME, '7'));
  expect(first(200, SOME, '7')).not.toEqual(first(200, SOME, '8'));
});

test('inOrder chooses heavier faults more often, and every fault sometimes', () => {
  const codes = first(1_000, SOME, '7').map(({ code }) => code);
  const count = (code: string): number => codes.filter((candidate) => candidate === code).length;
  expect(count('a')).toBeGreaterThan(700);
  expect(count('b')).toBeGreaterThan(50);
  expect(count('c')).toBeGreaterThan(50);
});

test('chosen rejects an unknown code, and returns all faults of a known one', () => {
  expect(() => chooseFaults(['F2', 'F99'])).toThrow('F99');
  expect(new Set(chooseFaults(['F2', 'F3']).map(({ code }) => code))).toEqual(new Set(['F2', 'F3']));
  expect(chooseFaults(null)).toHaveLength(FAULTS.length);
});

test('randomOf is evenly distributed', () => {
  const random = randomOf('evenly');
  const numbers = Array.from({ length: 10_000 }, random);
  for (let tenth = 0; tenth < 10; tenth += 1) {
    const share = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
    expect(share).toBeGreaterThan(850);
    expect(share).toBeLessThan(1_150);
  }
});
