import { expect, test } from 'vitest';
import { encodeMarkdownLinks } from './liquid-links.ts';

const written = (source: string): string | null => {
  const placed = encodeMarkdownLinks(source);
  return 'source' in placed ? placed.source : null;
};

test.each([
  '[t]: https://{{ v }}.example.com/',
  'Hi [x][t]\n\n  [t]: https://{{ v }}/',
  '[t]:https://{{ v }}/',
  '[two words]:https://{{ v }}/',
  '[t]:\n  https://{{ v }}/',
  '[t\n u]: https://{{ v }}/',
  '[t]: <https://{{ v }}/>',
  '[t]: <https://app.example and {{ v }}>',
  '[a\\[b]: https://{{ v }}/',
  '- [t]: https://{{ v }}/',
  '> [t]: https://{{ v }}/',
  '> [t]:\n> https://{{ v }}/',
  '{% if a %}[t]: https://{{ v }}/{% endif %}',
  '[t]:{% if a %} https://{{ v }}/{% endif %}',
  '[t]:\n\n{%- if a -%}\nhttps://{{ v }}/{% endif %}',
  '[x]{% if a %}(https://{{ v }}/){% endif %}',
  '<{% if a %}https://{{ v }}/{% endif %}>',
  '[x](https:{{ v }})',
  '[x](https://(a){{ v }}/)',
  '[x](https://a(b{{ v }})c/)',
  '[x](https://\\){{ v }}/)',
  '[x](<https://a){{ v }}/>)',
])('rejects a variable after an incomplete host: %s', (source) => {
  expect(encodeMarkdownLinks(source)).toEqual({ at: source.indexOf('{{') });
});

test.each([
  '[t]: https://app.example/{{ v }}',
  '[t]: https://[::1]:80/{{ v }}',
  '[t]: <https://app.example/a b{{ v }}>',
  '[x](https://app.example/(a)/{{ v }})',
  '[x](https://app.example/(a/{{ v }}))',
  '[x](https://app.example/a\\)/{{ v }})',
  '![x](https://app.example/((a)b)/{{ v }}.png "title")',
  '<https://app.example/(a)/{{ v }}>',
])('encodes a variable after a complete host as part of a URL: %s', (source) => {
  expect(written(source)).toBe(source.replace('{{ v }}', '{{ v | link_part }}'));
});

test.each([
  ['[t]: {{ v }}', '[t]: {{ v | link_whole: "v", "href" }}'],
  ['[t]: <{{ v }}>', '[t]: <{{ v | link_whole: "v", "href" }}>'],
  ['![x]( {{ v }} )', '![x]( {{ v | link_whole: "v", "src" }} )'],
])('treats a variable at the start of a URL as a URL: %s', (source, expected) => {
  expect(written(source)).toBe(expected);
});

test.each([
  'Dear {{ v }}, [x](https://app.example/(a)) {{ v }}',
  '[x](https://app.example/) and {{ v }}',
  '[x](https://app.example/ "of {{ v }}")',
  '[t]: https://app.example/ "of {{ v }}"',
  '[t]: https://app.example/\n\n{{ v }}',
  'As in [1]: {{ v }}',
  '[Note]:\n\n{{ v }} wrote',
  '[ ] {{ v }}: (see {{ v }})',
  'a < b {{ v }}',
])('treats a variable elsewhere as text: %s', (source) => {
  expect(written(source)).toBe(source);
});
