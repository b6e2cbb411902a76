import { convert } from 'html-to-text';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { describe, expect, test } from 'vitest';
import { type EmailFrame, renderEmail } from './render-email.ts';
import { findShippedEmail, shippedEmailNames } from './shipped.ts';
import type { TemplateText } from './template.ts';
import { renderContent } from './render.ts';
import { variablesFor } from './variables.ts';

const FRAME: EmailFrame = {
  projectName: 'Acme & <Co>',
  postalAddress: 'Acme GmbH\nHigh Street 1\n10115 Berlin',
  unsubscribeUrl: 'https://mail.example/u/abc?x=1&y=2',
  locale: 'en',
  projectLocale: 'en',
};

function content(body: string, more: Partial<TemplateText> = {}): TemplateText {
  return { subject: 'Hello', preheader: '', body, format: 'markdown', ...more };
}

type Element = DefaultTreeAdapterMap['element'];

function elements(html: string): Element[] {
  const found: Element[] = [];
  const visit = (node: DefaultTreeAdapterMap['node']): void => {
    if ('tagName' in node) found.push(node);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return found;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name)?.value;
}

function hrefs(html: string): string[] {
  return elements(html).flatMap((element) => attribute(element, 'href') ?? []);
}

const KITCHEN = `# One

Text with *em*, **strong**, \`code\` and a [link](https://a.example/b?c=1&d=2 "T"), <https://auto.example/x>, <me@x.example>,
an ![our logo](https://a.example/i.png) and  
a new line.

- a
- b
  - c

    more of it

3. x
4. y

> quoted
>
> - in it

| A | B |
|---|--:|
| 1 | 2 |

    code <b>

---

&copy; 2026 & <b>done</b>`;

describe('renderEmail', () => {
  test('renders a whole page: language, title, hidden preheader, content, and a footer with sender, reason and unsubscribe link', () => {
    const written = content('Hi **Ada**', { subject: 'A & "B" <c>', preheader: 'Soon & <b>' });
    const email = renderEmail(written, FRAME);
    const all = elements(email.html);
    const tag = (name: string): Element | undefined => all.find(({ tagName }) => tagName === name);
    expect(email.html).toMatch(/^<!doctype html>\n<html lang="en" /);
    expect(tag('title')?.childNodes[0]).toMatchObject({ value: 'A & "B" <c>' });
    expect(email.html).toContain(
      '<div style="display:none;max-height:0;overflow:hidden;mso-hide:all;">Soon &amp; &lt;b&gt;</div>',
    );
    expect(
      all.filter(({ tagName }) => tagName === 'table').map((element) => attribute(element, 'role')),
    ).toEqual(all.filter(({ tagName }) => tagName === 'table').map(() => 'presentation'));
    expect(email.html).not.toMatch(/%[A-Z]+%/);
    expect(email.text).toBe(
      `Hi Ada

---

You are receiving this email because you use Acme & <Co>.

Acme & <Co>
Acme GmbH
High Street 1
10115 Berlin

Unsubscribe or manage email preferences [https://mail.example/u/abc?x=1&y=2]`,
    );
    expect(email.links).toEqual(['https://mail.example/u/abc?x=1&y=2']);
    expect(email.warnings).toEqual([]);
  });

  test('omits a missing postal address and a missing unsubscribe link', () => {
    const { text, links } = renderEmail(content('Hi'), {
      ...FRAME,
      postalAddress: null,
      unsubscribeUrl: null,
    });
    expect(text).toBe('Hi\n\n---\n\nYou are receiving this email because you use Acme & <Co>.');
    expect(links).toEqual([]);
  });

  test("puts the project's footer between the reason and the postal address", () => {
    const { html, text } = renderEmail(content('Hi'), { ...FRAME, footer: 'Registered <b>in</b> Berlin' });
    expect(text).toContain('you use Acme & <Co>.\n\nRegistered <b>in</b> Berlin\n\nAcme & <Co>\nAcme GmbH');
    expect(html).toContain('Registered &lt;b&gt;in&lt;/b&gt; Berlin');
  });

  test('renders all of Markdown, and shows HTML as it is typed', () => {
    const { html, text, links, warnings: troubles } = renderEmail(content(KITCHEN), FRAME);
    expect(text.split('\n\n---\n\nYou are receiving')[0]).toBe(
      `One

Text with em, strong, code and a link [https://a.example/b?c=1&d=2], https://auto.example/x, me@x.example, an our logo and
a new line.

- a
- b

  - c

    more of it

3. x
4. y

> quoted
>
> - in it

A | B
1 | 2

code <b>

---

© 2026 & <b>done</b>`,
    );
    expect(links).toEqual([
      'https://a.example/b?c=1&d=2',
      'https://auto.example/x',
      'mailto:me@x.example',
      'https://mail.example/u/abc?x=1&y=2',
    ]);
    expect(hrefs(html)).toEqual(links);
    expect(elements(html).every((element) => element.tagName !== 'b')).toBe(true);
    expect(troubles).toEqual([]);
  });

  test('links only to http, https and mailto, shows only https images, and reports what it omits', () => {
    const {
      html,
      text,
      links,
      warnings: troubles,
    } = renderEmail(
      content(
        '[a](javascript:alert(1)) [b](data:text/html,x) [c](/relative) [d](//evil.example) [e](#here) [f](ftp://x.example) ' +
          '[g](JaVaScRiPt:1) [h](https:///x) ![i](http://x.example/i.png) ![j](data:image/png;base64,x) [**k**](mailto:) [l]()',
      ),
      { ...FRAME, unsubscribeUrl: null },
    );
    expect(hrefs(html)).toEqual([]);
    expect(elements(html).some(({ tagName }) => tagName === 'img')).toBe(false);
    expect(text).toMatch(/^a b c d e f g h i j k l\n/);
    expect(links).toEqual([]);
    expect(troubles).toHaveLength(12);
    expect(troubles[0]).toBe(
      'The link to "javascript:alert(1)" is left out. Links must use http, https or mailto',
    );
  });

  test('warns about an email that mail clients clip', () => {
    const { warnings: troubles } = renderEmail(content('word '.repeat(20_000)), FRAME);
    expect(troubles).toEqual([
      expect.stringMatching(
        /^It has 10\d,\d{3} bytes of HTML. Email clients cut it off after 100,000$/,
      ) as string,
    ]);
  });

  test('reads 100 kB of any content only once', () => {
    for (const piece of ['[', '![', '*a', '> ', '<a ', '<!--', '](', '`', '| ', '- ']) {
      expect(renderEmail(content(piece.repeat(100_000 / piece.length)), FRAME).text.length).toBeGreaterThan(
        0,
      );
      const page = content(piece.repeat(100_000 / piece.length), { format: 'html' });
      expect(renderEmail(page, FRAME).html.length).toBeGreaterThan(0);
    }
  }, 30_000);
});

/** Normalizes text for a comparison with html-to-text, an independent implementation. It removes spaces and markup. */
function bare(text: string): string {
  return text.replace(/[\s>*|-]+/g, '').toLowerCase();
}

describe('plain text', () => {
  const emails = shippedEmailNames().map((name): [string, TemplateText] => [name, shipped(name)]);

  test.each([...emails, ['everything', content(KITCHEN)] as const])(
    'has every word and every link of the HTML of %s, in order',
    (_, template) => {
      const { html, text, links } = renderEmail(template, FRAME);
      const read = convert(html, {
        wordwrap: false,
        selectors: [
          { selector: 'div[style^="display:none"]', format: 'skip' },
          { selector: 'h1', options: { uppercase: false } },
          { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
          { selector: 'img', format: 'inlineString', options: { string: 'our logo' } },
          { selector: 'hr', format: 'skip' },
        ],
      });
      expect(bare(text)).toBe(bare(read));
      for (const link of links) expect(text).toContain(link.replace(/^mailto:/, ''));
    },
  );

  test('contains only the visible text of a page with styles, comments, hidden parts, pixels and layout', () => {
    const page = `<!doctype html><html><head><title>No</title><style>p > a { color: red }</style></head><body class='>'>
<!--[if mso]><p>Outlook</p><![endif]--><!--[if !mso]><!--><p>Seen &amp; &#8364; &#x1F600;&nbsp;!</p><!--<![endif]-->
<div style="display: none"><p>Hidden <b>deep</b><br></p></div><script>if (a < b) document.write("<p>no</p>")</script>
<table role="presentation"><tr><td>One</td><td>Two <a title='a > b "q"' href="https://x.example/?a=1&amp;b=2">three</a></td></tr></table>
<img src="https://x.example/p.gif" width="1" height="1" alt="pixel"><img src="https://x.example/l.png" alt="Logo &lt;1&gt;">
<a href="https://x.example/only"><img src="https://x.example/b.png" alt=""></a> a < b <p>Last<p`;
    const { text, links } = renderEmail(content(page, { format: 'html' }), {
      ...FRAME,
      unsubscribeUrl: null,
    });
    expect(
      text.startsWith(
        'Seen & € 😀 !\n\nOne\n\nTwo three [https://x.example/?a=1&b=2]\n\nLogo <1> [https://x.example/only] a < b',
      ),
    ).toBe(true);
    expect(links).toEqual(['https://x.example/?a=1&b=2', 'https://x.example/only']);
  });
});

function shipped(name: string): TemplateText {
  const variables = variablesFor({
    person: { userId: 'u1', traits: new Map([['name', 'Ada']]), email: 'ada@example.com' },
    anchor: { name: 'user_signed_up', properties: {}, occurredAt: Date.UTC(2026, 5, 1) },
    endsAt: Date.UTC(2026, 5, 5),
    project: { name: 'Acme' },
    zone: 'UTC',
    locale: 'en',
  });
  const template = findShippedEmail(name);
  if (template === undefined) throw new Error(`there is no template ${name}`);
  return renderContent(template, variables).content;
}

describe('a page with its own layout', () => {
  const page =
    '<!doctype html><html><body style="a > b"><p>Hi</p><a href="https://unsubscribe.invalid/">Bye</a></body></html>';

  test('links to the recipient’s unsubscribe link in its own place, without adding a second one', () => {
    const { html, text, links } = renderEmail(content(page, { format: 'html' }), FRAME);
    expect(links).toEqual([FRAME.unsubscribeUrl]);
    expect(html).not.toContain('unsubscribe.invalid');
    expect(text).toContain('High Street 1');
    expect(text.match(/nsubscribe/g)).toBeNull();
    expect(renderEmail(content(page, { format: 'html' }), { ...FRAME, unsubscribeUrl: null }).links).toEqual(
      [],
    );
  });

  test('gets preheader and footer within its body', () => {
    const plain = page.replace(/<a .*<\/a>/, '');
    const { html, text } = renderEmail(content(plain, { format: 'html', preheader: 'Soon' }), FRAME);
    expect(html).toMatch(
      /^<!doctype html><html><body style="a > b"><div style="display:none[^"]*">Soon<\/div><p>Hi<\/p><div /,
    );
    expect(html).toMatch(/manage email preferences<\/a><\/p><\/div><\/div><\/body><\/html>$/);
    expect(text).toMatch(/^Hi\n\nYou are receiving this email/);
  });

  test('treats the placeholder as an ordinary URL in Markdown', () => {
    expect(renderEmail(content('[x](https://unsubscribe.invalid/)'), FRAME).links[0]).toBe(
      'https://unsubscribe.invalid/',
    );
  });
});
