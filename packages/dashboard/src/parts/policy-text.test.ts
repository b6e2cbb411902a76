import { expect, test } from 'vitest';
import {
  printCaps,
  printQuiet,
  printThrottle,
  printTopics,
  readCaps,
  readQuiet,
  readSpan,
  readThrottle,
  readTopics,
} from './policy-text.ts';

test('what is read of a setting is printed as it was', () => {
  for (const text of ['21:00-08:00', 'off']) expect(printQuiet(readQuiet(text))).toBe(text);
  for (const text of ['1/24h,3/7d', '2/90m', 'off']) expect(printCaps(readCaps(text))).toBe(text);
  for (const text of ['10/s', '300/m', '5000/h', 'off']) expect(printThrottle(readThrottle(text))).toBe(text);
  for (const text of ['news:Product news,tips:Tips: and tricks', 'none'])
    expect(printTopics(readTopics(text))).toBe(text);
});

test('a duration is a number and a unit, and nothing else is one', () => {
  expect(readSpan('2h')).toEqual({ amount: 2, unit: 'h' });
  for (const text of ['draft', 'forever', '2', 'h', '2w']) expect(readSpan(text)).toBeNull();
});

test('a comma in the title of a topic makes no second topic', () => {
  expect(readTopics(printTopics([{ id: 'news', title: 'News, and more' }]))).toEqual([
    { id: 'news', title: 'News  and more' },
  ]);
});
