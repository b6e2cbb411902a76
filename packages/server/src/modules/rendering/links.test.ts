import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Marks, trackLinks } from './links.ts';

const MARKS: Marks = {
  linkOf: (number) => `https://l.test/c/t${number}/${number}`,
  trapOf: (number) => `https://l.test/c/trap/${number}`,
  pixel: 'https://l.test/o/t.gif',
  untrackedPrefix: 'https://l.test/u/',
};
const LINKS_ONLY: Marks = { ...MARKS, trapOf: null, pixel: null };
const tracked = (html: string): string => trackLinks(html, LINKS_ONLY).html;

test('replaces links to pages with tracked links, and returns their targets in order', () => {
  const { html, urls } = trackLinks(
    `<p><a class="b" href="https://acme.test/a?x=1&amp;y=2" style="color:red">A</a> <A HREF='http://acme.test'>B</A>
<map><area href=https://acme.test/c></map><a href=" https://acme.test/a?x=1&y=2 ">A again</a></p>`,
    LINKS_ONLY,
  );
  expect(urls).toEqual(['https://acme.test/a?x=1&y=2', 'http://acme.test/', 'https://acme.test/c']);
  expect(html)
    .toBe(`<p><a class="b" href="https://l.test/c/t0/0" style="color:red">A</a> <A HREF="https://l.test/c/t1/1">B</A>
<map><area href="https://l.test/c/t2/2"></map><a href="https://l.test/c/t0/0">A again</a></p>`);
});

test.each([
  '<a href="mailto:help@acme.test">write</a>',
  '<a href="tel:+12345">call</a>',
  '<a href="#top">up</a>',
  '<a href="https://l.test/u/token">Unsubscribe</a>',
  '<a href="https://l.test/u/token/topics">Choose</a>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="java&#10;script:alert(1)">x</a>',
  '<a href="https://acme.test/\u202Egpj.exe">x</a>',
  '<a href="https://">x</a>',
  '<a href="https://a b.test">x</a>',
  '<a name="here">no link</a>',
  '<a href>nothing</a>',
  '<!-- <a href="https://acme.test">x</a> -->',
  '<!--[if mso]><v:roundrect href="https://acme.test"></v:roundrect><![endif]-->',
  '<img src="https://acme.test/x.png" alt="">',
  '<style>a[href="https://acme.test"]{color:red}</style>',
  '<p>https://acme.test &lt;a href="https://acme.test"&gt;</p>',
  '<a title="<a href=\'https://acme.test\'>" href="#">x</a>',
])('leaves the email’s own links and other URLs unchanged: %s', (html) => {
  expect(tracked(html)).toBe(html);
});

test('uses the first URL of a link, as every browser does', () => {
  const { html, urls } = trackLinks('<a href="https://a.test/" href="https://b.test/">x</a>', LINKS_ONLY);
  expect(html).toBe('<a href="https://l.test/c/t0/0" href="https://b.test/">x</a>');
  expect(urls).toEqual(['https://a.test/']);
});

test('puts the pixel at the end of the body, or after the text of a page without one', () => {
  const page = trackLinks('<html><body><p>Hi</p></body></html>', MARKS).html;
  expect(page).toMatch(
    /<p>Hi<\/p><img src="https:\/\/l\.test\/o\/t\.gif" alt="" width="1" height="1"[^>]*><\/body><\/html>$/,
  );
  expect(trackLinks('<p>Hi</p>', MARKS).html).toMatch(/^<p>Hi<\/p><img [^>]*>$/);
});

test('hides the bot trap link from eyes, keys and screen readers, and adds it only if there are links', () => {
  expect(trackLinks('<p>Hi</p>', MARKS).html).not.toContain('trap');
  const { html } = trackLinks('<a href="https://acme.test/">x</a>', MARKS);
  expect(html).toContain(
    '<a href="https://l.test/c/trap/1" style="display:none;mso-hide:all;" aria-hidden="true" tabindex="-1"></a>',
  );
});

test('tracks only the first hundred links of an email', () => {
  const html = Array.from({ length: 150 }, (_, at) => `<a href="https://acme.test/${at}">x</a>`).join('');
  const { html: page, urls } = trackLinks(html, LINKS_ONLY);
  expect(urls).toHaveLength(100);
  expect(page.match(/l\.test/g)).toHaveLength(100);
  expect(page).toContain('href="https://acme.test/149"');
});

test('changes only URLs of any page, and can be reversed', () => {
  const piece = fc.constantFrom(
    '<a href="https://acme.test/x">',
    "<a href='https://acme.test/y?a=1'>",
    '</a>',
    '<p>',
    '"',
    '<',
    '>',
    "'",
    'href="https://acme.test/z"',
    '<!--',
    '-->',
    '<style>',
    '</style>',
    '<a href=https://acme.test/q>',
    '<area ',
    ' words ',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      (html) => {
        const { html: page, urls } = trackLinks(html, LINKS_ONLY);
        const undone = page.replaceAll(
          /"https:\/\/l\.test\/c\/t\d+\/(\d+)"/g,
          (_all, at) => `"${urls[Number(at)]}"`,
        );
        const plain = (text: string): string => text.replaceAll(/["']/g, '');
        expect(plain(undone)).toBe(plain(html));
      },
    ),
    { numRuns: 1_000 },
  );
});
