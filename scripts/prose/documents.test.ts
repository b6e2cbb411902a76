import { describe, expect, test } from 'vitest';
import { jsonSentences, markdownSentences, settingsSentences, yamlSentences } from './documents.ts';

describe('markdownSentences', () => {
  test('reads headings, paragraphs, list items and table cells with their lines', () => {
    const page = [
      '# A title',
      '',
      'A paragraph of',
      'two lines. And more.',
      '',
      '- First item',
      '  that goes on',
      '1. Second item',
      '> A quote',
      '',
      '| Head | `a|b` is code |',
      '|---|---|',
    ].join('\n');
    expect(markdownSentences(page)).toEqual([
      { line: 1, text: 'A title' },
      { line: 3, text: 'A paragraph of two lines.' },
      { line: 4, text: 'And more.' },
      { line: 6, text: 'First item that goes on' },
      { line: 8, text: 'Second item' },
      { line: 9, text: 'A quote' },
      { line: 11, text: 'Head' },
      { line: 11, text: '◆ is code' },
    ]);
  });

  test('skips code blocks, also within lists, and HTML comments', () => {
    const page = [
      '- Run:',
      '  ```sh',
      '  nobody told',
      '  ```',
      '',
      '<!-- a',
      'letter -->',
      'After it.',
    ].join('\n');
    expect(markdownSentences(page)).toEqual([
      { line: 1, text: 'Run:' },
      { line: 8, text: 'After it.' },
    ]);
  });
});

describe('yamlSentences', () => {
  test('reads summaries, descriptions and labels, and no other values', () => {
    const yaml = [
      'expr: letters > 0',
      "summary: '{{ $value }} emails wait'",
      'description: >-',
      '  A first line',
      '  and a second.',
      '- label: Steps to reproduce',
    ].join('\n');
    expect(yamlSentences(yaml)).toEqual([
      { line: 2, text: '◆ emails wait' },
      { line: 4, text: 'A first line and a second.' },
      { line: 6, text: 'Steps to reproduce' },
    ]);
  });
});

describe('jsonSentences', () => {
  test('reads titles and descriptions', () => {
    const json = '{\n"title": "Emails sent",\n"expr": "letters",\n"description": "A \\"rate\\" per hour"\n}';
    expect(jsonSentences(json)).toEqual([
      { line: 2, text: 'Emails sent' },
      { line: 4, text: 'A ◆ per hour' },
    ]);
  });
});

describe('settingsSentences', () => {
  test('reads comments and skips commented settings', () => {
    expect(settingsSentences('# The address of\n# the server.\n# HOST=letters\nPORT=1\n')).toEqual([
      { line: 1, text: 'The address of the server.' },
    ]);
  });
});
