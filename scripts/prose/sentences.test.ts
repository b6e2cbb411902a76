import { describe, expect, test } from 'vitest';
import { sentencesOf, withoutExempt } from './sentences.ts';

const textsOf = (text: string): string[] => sentencesOf(text, 1).map((sentence) => sentence.text);

describe('withoutExempt', () => {
  test.each([
    ['code spans', 'See `letters` and ``a ` letter``.', 'See ◆ and ◆.'],
    ['quotations', 'It prints "Nobody is here" and “a letter”.', 'It prints ◆ and ◆.'],
    ['link targets', 'See [the page](docs/letters.md#nobody).', 'See the page.'],
    ['URLs and paths', 'At https://example.com/letters and docs/letters.md now.', 'At ◆ and ◆ now.'],
    ['third-party names', "Let's Encrypt signs it.", '◆ signs it.'],
    ['placeholders', 'Email {address} on {{ date }}.', 'Email ◆ on ◆.'],
    ['emphasis', 'A **bold** and *light* word.', 'A bold and light word.'],
  ])('replaces %s', (_name, text, expected) => {
    expect(withoutExempt(text)).toBe(expected);
  });

  test('keeps the words of a link', () => {
    expect(withoutExempt('[letters](a.md)')).toBe('letters');
  });
});

describe('sentencesOf', () => {
  test('splits at periods, question marks, and colons before a sentence', () => {
    expect(textsOf('One is here. Two is there? Three: Four is gone: five stays.')).toEqual([
      'One is here.',
      'Two is there?',
      'Three:',
      'Four is gone: five stays.',
    ]);
  });

  test('splits before code and after bold text', () => {
    expect(textsOf('It is set. `A` is not. **A rule.** Then more.')).toEqual([
      'It is set.',
      '◆ is not.',
      'A rule.',
      'Then more.',
    ]);
  });

  test('splits at empty lines, headings and list items', () => {
    expect(textsOf('First part\n\nsecond part\n- third part\n## Fourth part')).toEqual([
      'First part',
      'second part',
      'third part',
      'Fourth part',
    ]);
  });

  test('counts lines from the first one', () => {
    expect(sentencesOf('One line\nand more. Two\nlines.\n\nThree.', 10)).toEqual([
      { line: 10, text: 'One line and more.' },
      { line: 11, text: 'Two lines.' },
      { line: 14, text: 'Three.' },
    ]);
  });

  test('counts the lines within a code span', () => {
    expect(sentencesOf('Run `a\nb` first. Then more.', 1)).toEqual([
      { line: 1, text: 'Run ◆ first.' },
      { line: 2, text: 'Then more.' },
    ]);
  });
});
