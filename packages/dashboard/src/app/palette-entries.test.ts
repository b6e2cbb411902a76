import { Keyboard } from 'lucide-react';
import { expect, it } from 'vitest';
import { matching } from './palette-entries.tsx';

it('finds by every word that is typed, in the name or in what else it may be called', () => {
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
