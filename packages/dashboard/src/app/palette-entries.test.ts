import { Keyboard } from 'lucide-react';
import { expect, it } from 'vitest';
import { matching } from './palette-entries.tsx';

it('matching › finds entries by every typed word, in the label or in other names', () => {
  const entry = (label: string, words: string) => ({
    key: label,
    label,
    words,
    icon: Keyboard,
    run: () => {},
  });
  const sections = [
    {
      title: 'Screens',
      entries: [entry('Sending policy', 'quiet hours cap'), entry('Sender', 'from reply-to')],
    },
  ];
  const found = (query: string) =>
    matching(sections, query).flatMap(({ entries }) => entries.map(({ label }) => label));
  expect(found('')).toEqual(['Sending policy', 'Sender']);
  expect(found('QUIET send')).toEqual(['Sending policy']);
  expect(found('send')).toEqual(['Sending policy', 'Sender']);
  expect(found('nothing')).toEqual([]);
});
