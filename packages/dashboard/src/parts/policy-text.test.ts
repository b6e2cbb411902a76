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

test('prints settings exactly as they were read', () => {
  for (const text of ['21:00-08:00', 'off']) expect(printQuiet(readQuiet(text))).toBe(text);
  for (const text of ['1/24h,3/7d', '2/90m', 'off']) expect(printCaps(readCaps(text))).toBe(text);
  for (const text of ['10/s', '300/m', '5000/h', 'off']) expect(printThrottle(readThrottle(text))).toBe(text);
  for (const text of ['news:Product news,tips:Tips: and tricks', 'none'])
    expect(printTopics(readTopics(text))).toBe(text);
});

test('readSpan › accepts only a number and a unit', () => {
  expect(readSpan('2h')).toEqual({ amount: 2, unit: 'h' });
  for (const text of ['draft', 'forever', '2', 'h', '2w']) expect(readSpan(text)).toBeNull();
});

test('printTopics › replaces a comma in a title, so that it does not create a topic', () => {
  expect(readTopics(printTopics([{ id: 'news', title: 'News, and more' }]))).toEqual([
    { id: 'news', title: 'News  and more' },
  ]);
});
