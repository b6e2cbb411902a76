import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideLiquid, isSameMarkdown, showLiquid, tidyMarkdown } from './liquid-text.ts';
import { isWhole, readMarkdown, writeMarkdown } from './rich-text.ts';

function through(markdown: string): string {
  return writeMarkdown(readMarkdown(markdown));
}

describe('Liquid', () => {
  it('leaves the editor unchanged', () => {
    const emails = [
      'Hello {{ user.first_name | default: "there" }}, you have *two* days.',
      '{% if plan == "pro" and n > 3 %}\nPro\n{% endif %}',
      '{{ a | replace: "*", "_" }} {{ b_c_d }} {{- x -}}',
      'See [your plan]({{ links.plan_url }}?a=1&b=2) and [help](https://x.org/{{ user.id }}).',
      '- {{ one }}\n- {{ two_2 }}',
      '# {{ title }}',
    ];
    for (const email of emails) expect(through(email)).toBe(email);
  });

  it('in a URL is shown unescaped to the member who edits the link', () => {
    const [paragraph] = readMarkdown('[plan]({{ links.plan_url }}?a=1)').content ?? [];
    expect(paragraph?.content?.[0]?.marks?.[0]?.attrs?.['href']).toBe('{{ links.plan_url }}?a=1');
  });

  it('can contain any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (inside) => {
        const text = `a {{${inside.replaceAll(/[{}]/g, '')}}} b`;
        expect(showLiquid(hideLiquid(text))).toBe(text);
      }),
    );
  });
});

describe('Markdown', () => {
  it('with a supported layout leaves the editor unchanged', () => {
    const emails = [
      'One **bold**, one *soft*, `code` and a [link](https://x.org/a_b_c?d=e&f=g).',
      '## Head\n\n> Quote\n\n1. a\n2. b\n\n---\n\nEnd',
      'A line  \nand its second',
      'R&D at 2 < 3 > 1, snake_case_word',
    ];
    for (const email of emails) expect([email, isWhole(email), through(email)]).toEqual([email, true, email]);
  });

  it('that the editor does not support is detected before it is lost', () => {
    const emails = ['![A picture](https://x.org/a.png)', '| a | b |\n|---|---|\n| 1 | 2 |', 'a <b>c</b> d'];
    for (const email of emails) expect([email, isWhole(email)]).toEqual([email, false]);
  });

  it('with another syntax counts as the same', () => {
    expect(isSameMarkdown('* a\n* b\n', '- a\n- b')).toBe(true);
    expect(isSameMarkdown('[x](<https://x.org>)', '[x](https://x.org)')).toBe(true);
    expect(isSameMarkdown('__a__ and _b_', '**a** and *b*')).toBe(true);
    expect(isSameMarkdown('a', 'b')).toBe(false);
  });

  it('keeps escapes that change the meaning', () => {
    expect(tidyMarkdown('&lt;b> \\_a\\_ &amp;lt; snake\\_case 2 &lt; 3')).toBe(
      '&lt;b> \\_a\\_ &amp;lt; snake_case 2 < 3',
    );
  });
});
