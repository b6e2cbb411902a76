import fc from 'fast-check';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { expect, test } from 'vitest';
import { compileEmail } from './compile-email.ts';
import { checkEmail } from './publish.ts';
import type { TemplateText } from './template.ts';
import { renderEmail } from './render-email.ts';
import { renderContent } from './render.ts';
import { variablesFor } from './variables.ts';

/** Attempts of a value to become markup: characters of Markdown, HTML, Liquid, CSS, URLs and line breaks, and complete attacks. `İ` is longer in lower case. */
const SIGNS =
  '< > & " \' ` [ ] ( ) { } {{ }} {% %} ! \\ * _ ~ | # - + = : ; / ? @ . , % $ ^ 1. a b http https www. // :// javascript: data: mailto: &lt; &#60; &quot; 😀 İ'.split(
    ' ',
  );
const GAPS = [' ', '\n', '\r\n', '\t', '\u2028', '\u0000', '\uD800', '\u202E', '\u00A0', '\u200B', '\uFEFF'];
const TRIES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '" style="background:url(javascript:alert(1))',
  '</div></td></tr></table></body></html><script>1</script>',
  '<!--[if mso]><script>1</script><![endif]-->',
  '-->',
  ']]>',
  '</title><script>1</script>',
  '</style><script>1</script>',
  '[click](https://evil.example)',
  '](https://evil.example)',
  ') [evil](https://evil.example',
  '![x](https://evil.example/x.png)',
  '<https://evil.example>',
  'https://evil.example',
  'www.evil.example',
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'JAVASCRIPT://%0aalert(1)',
  'data:text/html;base64,PHNjcmlwdD4=',
  'vbscript:msgbox(1)',
  '//evil.example',
  '\\\\evil.example',
  '/\\evil.example',
  '@evil.example/',
  '.evil.example/',
  ':pw@evil.example/',
  '../../..',
  '{{ user.secret }}',
  '{% raw %}',
  '{{ "<b>" | raw }}',
  'https://unsubscribe.invalid/',
  'href="https://unsubscribe.invalid/"',
  '%BODY%',
  '%FOOTER%',
  '\r\nBcc: eve@evil.example',
  '<a href="https://evil.example">x</a>',
  '&lt;script&gt;',
  '&#x3C;script&#x3E;',
  '&colon;//evil',
  '```\n<b>',
  '# Title\n\n> quote\n\n---\n\n| a | b |\n|---|---|\n',
  '    code',
  '<svg/onload=alert(1)>',
  '<style>*{display:none}</style>',
  'x" class="bk-page',
  '\u003cscript\u003e',
];
const hostile = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...TRIES) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...TRIES, ...SIGNS, ...GAPS), { maxLength: 12 })
      .map((all) => all.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);

const MARKDOWN: TemplateText = {
  subject: 'About {{ user.x }}',
  preheader: 'For {{ user.y }}',
  body: `# Hi {{ user.x }}!

Dear {{ user.x }}{{ user.y }}, [{{ user.x }}](https://app.example/a/{{ user.x }}?b={{ user.y }}) and {{ user.y }}[ours](https://app.example).
{{ user.x }} at the beginning, at the end {{ user.y }}

- {{ user.x }} one
- two {{ user.y }}

> {{ user.y }} said

**b{{ user.x }}b** _s {{ user.y }} s_ \`code\` <https://app.example/{{ user.x }}> ![alt {{ user.y }}](https://app.example/{{ user.x }}.png "title {{ user.y }}")

| {{ user.x }} A | B |
|---|---|
| {{ user.y }} 1 | 2 |

![pic {{ user.y }}](https://app.example/{{ user.x | url_encode }})`,
  format: 'markdown',
};

const MJML = `<mjml lang="en"><mj-head><mj-title>About {{ user.x }}</mj-title><mj-style>b { color: red }</mj-style></mj-head>
<mj-body><mj-section><mj-column>
<mj-text>Hi {{ user.x }}{{ user.y }} <b title="t {{ user.x }}" class='c'>{{ user.y }}</b>
<a title='s {{ user.y }}' href='https://app.example/a/{{ user.x }}?b={{ user.y | url_encode }}'>x</a></mj-text>
<mj-button href="https://app.example/{{ user.y }}">Go {{ user.x }}</mj-button>
<mj-image src="https://app.example/{{ user.x }}.png" alt="alt {{ user.x | default: "none" }}" />
<mj-raw>{% if user.x contains "script" or user.y == "x" or true %}</mj-raw><mj-text>In {{ user.x }}</mj-text><mj-raw>{% endif %}</mj-raw>
<mj-table><tr><td>a {{ user.x }}</td></tr></mj-table>
<mj-text><a href="{{ unsubscribe_url }}">Bye</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;

function renderedEmail(email: TemplateText, traits: Record<string, unknown>) {
  const variables = variablesFor({
    person: { userId: 'u1', traits: new Map(Object.entries(traits)), email: null },
    anchor: { name: 'event', properties: {}, occurredAt: 0 },
    endsAt: null,
    project: { name: 'Acme' },
    zone: 'UTC',
    locale: 'en',
  });
  const { content, missing } = renderContent(email, variables);
  const frame = {
    projectName: 'Acme',
    postalAddress: 'High Street',
    unsubscribeUrl: 'https://mail.example/u/1',
    locale: 'en',
    projectLocale: 'en',
  };
  return { ...renderEmail(content, frame), content, missing };
}

/** Returns a page without its text and without the values of text attributes. For URLs it returns the target. */
function skeleton(html: string): string[] {
  const lines: string[] = [];
  const visit = (node: DefaultTreeAdapterMap['node'], depth: number): void => {
    if ('tagName' in node) {
      const attributes = node.attrs.map(({ name, value }) => {
        if (name === 'href' || name === 'src') return `${name}=${new URL(value).origin}`;
        return ['alt', 'title', 'aria-label'].includes(name) ? name : `${name}=${value}`;
      });
      lines.push(`${depth} ${node.tagName} ${attributes.join(' ')}`);
    }
    if (node.nodeName === '#comment')
      lines.push(`${depth} #comment ${(node as DefaultTreeAdapterMap['commentNode']).data}`);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child, depth + 1);
  };
  visit(parse(html), 0);
  return lines;
}

function textOf(html: string): string {
  const texts: string[] = [];
  const visit = (node: DefaultTreeAdapterMap['node']): void => {
    if (node.nodeName === '#text') texts.push((node as DefaultTreeAdapterMap['textNode']).value);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return texts.join('');
}

function expectSame(email: TemplateText, harmless: string[], traits: Record<string, unknown>): void {
  const { html, links, warnings: troubles, content } = renderedEmail(email, traits);
  expect(skeleton(html)).toEqual(harmless);
  expect(textOf(html)).not.toMatch(/[\0\u202E]/);
  for (const link of links)
    expect(['https://app.example', 'https://mail.example']).toContain(new URL(link).origin);
  expect(troubles).toEqual([]);
  expect(content.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
}

test('keeps elements, attributes and links of a Markdown email for any two values', () => {
  expect(checkEmail(MARKDOWN)).toEqual([]);
  const harmless = skeleton(renderedEmail(MARKDOWN, { x: 'word', y: 'other' }).html);
  expect(harmless.filter((line) => line.includes(' a href='))).toHaveLength(4);
  fc.assert(
    fc.property(hostile, hostile, (x, y) => expectSame(MARKDOWN, harmless, { x, y })),
    { numRuns: 600 },
  );
});

test('keeps them if links are references or have brackets in their URLs', () => {
  const email: TemplateText = {
    subject: 'a',
    preheader: '',
    body: `[one][t], ![two][u], [three](https://app.example/(a)/{{ user.x }}), [four]( <https://app.example/a b/{{ user.y }}> )

[t]: https://app.example/(b)/{{ user.x }}?c={{ user.y }}
[u]:
  <https://app.example/{{ user.y }}.png>

> - [five][v]
>
>   [v]: https://app.example/{{ user.y }} "of {{ user.x }}"`,
    format: 'markdown',
  };
  expect(checkEmail(email)).toEqual([]);
  const harmless = skeleton(renderedEmail(email, { x: 'word', y: 'other' }).html);
  // The last one is the unsubscribe link.
  expect(harmless.filter((line) => / (?:a href|img src)=/.test(line))).toHaveLength(6);
  fc.assert(
    fc.property(hostile, hostile, (x, y) => expectSame(email, harmless, { x, y })),
    { numRuns: 600 },
  );
});

test('keeps them in an MJML email', async () => {
  const compiled = await compileEmail(MJML);
  if ('flaws' in compiled) throw new Error(compiled.flaws.join('\n'));
  const email: TemplateText = {
    subject: 'Hi {{ user.x }}',
    preheader: '{{ user.y }}',
    body: compiled.html,
    format: 'html',
  };
  const harmless = skeleton(renderedEmail(email, { x: 'word', y: 'other' }).html);
  expect(harmless.filter((line) => line.includes(' a '))).toHaveLength(3);
  fc.assert(
    fc.property(hostile, hostile, (x, y) => expectSame(email, harmless, { x: `${x}x`, y: `y${y}` })),
    { numRuns: 600 },
  );
});

test('uses a value that is a whole URL as a link to a page or mailbox, and otherwise holds the email and names the value', async () => {
  const compiled = await compileEmail(
    '<mjml><mj-body><mj-section><mj-column><mj-text><a href="{{ user.x }}">x</a></mj-text></mj-column></mj-section></mj-body></mjml>',
  );
  if ('flaws' in compiled) throw new Error(compiled.flaws.join('\n'));
  const emails: TemplateText[] = [
    { subject: 'a', preheader: '', body: '[x]({{ user.x }})', format: 'markdown' },
    { subject: 'a', preheader: '', body: compiled.html, format: 'html' },
  ];
  for (const email of emails) {
    const linkOf = (x: unknown) =>
      renderedEmail(email, { x }).links.filter((link) => link !== 'https://mail.example/u/1');
    expect(linkOf('https://ada.example/a_b?c=1&copy=2#d(e)')).toEqual([
      'https://ada.example/a_b?c=1&copy=2#d%28e%29',
    ]);
    expect(linkOf('mailto:ada@example.com')).toEqual(['mailto:ada@example.com']);
    for (const bad of [
      'javascript:alert(1)',
      'ada.example',
      '//ada.example',
      'data:text/html,x',
      'file:///etc/passwd',
      7,
    ]) {
      expect(linkOf(bad)).toEqual([]);
      expect(renderedEmail(email, { x: bad }).missing).toEqual(['user.x']);
    }
    fc.assert(
      fc.property(hostile, (x) => {
        const { html, missing, links } = renderedEmail(email, { x });
        const led = links.filter((link) => link !== 'https://mail.example/u/1');
        for (const link of led) expect(link).toMatch(/^(?:https?:\/\/|mailto:)/);
        expect(missing).toEqual(led.length === 0 ? ['user.x'] : []);
        expect(links).toContain('https://mail.example/u/1');
        expect(html).not.toMatch(/<script|<[^>]* on\w+=|="javascript:/i);
      }),
      { numRuns: 500 },
    );
  }
});
