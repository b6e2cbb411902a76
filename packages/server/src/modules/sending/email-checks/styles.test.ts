import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Colour, contrastRatio, parseColour, printColour, upon } from './color.ts';
import { readPage } from './page.ts';
import { parseSheet } from './sheet.ts';
import { type Mode, styleOf } from './styles.ts';

test.each([
  ['#fff', '#ffffff'],
  ['#1A2b3C', '#1a2b3c'],
  ['#11223380', '#112233'],
  [' RebeccaPurple ', '#663399'],
  ['rgb(1, 2, 3)', '#010203'],
  ['rgb(1 2 3 / 50%)', '#010203'],
  ['rgba(100%, 0%, 50%, .5)', '#ff0080'],
  ['rgb(300, -5, 0)', '#ff0000'],
  ['hsl(0, 100%, 50%)', '#ff0000'],
  ['hsl(120deg 100% 25%)', '#008000'],
  ['hsla(.5turn, 100%, 50%, 1)', '#00ffff'],
  ['hsl(-120, 100%, 50%)', '#0000ff'],
  ['TRANSPARENT', '#000000'],
  ['hwb(120 0% 0%)', '#00ff00'],
  ['oklch(100% 0 0)', '#ffffff'],
])('parses the color %s as %s', (text, hex) => {
  const colour = parseColour(text);
  expect(colour && printColour(colour)).toBe(hex);
});

test.each([
  '',
  '#12345',
  'fff',
  '123456',
  'rgb(1 2 / 3)',
  'redish',
  'var(--a)',
  'currentcolor',
  'inherit',
  'rgb(1,2)',
  'rgb(a,b,c)',
  'url(#fff)',
  'hsl(1x 1% 1%)',
])('does not parse %j, which only a browser could resolve', (text) =>
  expect(parseColour(text)).toBeUndefined(),
);

/** Expected values are from WebAIM's contrast checker. */
test.each([
  ['#000', '#fff', 21],
  ['#767676', '#fff', 4.54],
  ['#777', '#fff', 4.48],
  ['#00f', '#fff', 8.59],
  ['#f00', '#fff', 4],
  ['#595959', '#fff', 7],
  ['#fff', '#fff', 1],
])('%s on %s is %d:1', (a, b, ratio) => {
  const [first, second] = [parseColour(a), parseColour(b)];
  if (!first || !second) throw new Error('no colour');
  expect(contrastRatio(first, second)).toBeCloseTo(ratio, 1);
  expect(contrastRatio(second, first)).toBe(contrastRatio(first, second));
});

test('ignores a transparent color and parses every color as printed', () => {
  const part = fc.integer({ min: 0, max: 255 });
  const colour: fc.Arbitrary<Colour> = fc
    .tuple(part, part, part)
    .map(([r, g, b]) => ({ mode: 'rgb', r: r / 255, g: g / 255, b: b / 255, alpha: 1 }));
  fc.assert(
    fc.property(colour, colour, (a, b) => {
      expect(upon({ ...a, alpha: 0 }, b)).toEqual(b);
      expect(upon(a, b)).toEqual(a);
      expect(parseColour(printColour(a))).toEqual(a);
    }),
  );
});

/** Returns the color and background of the element with the id `x`, and whether it is hidden. */
function look(html: string, { css = '', mode = 'light' as Mode } = {}): string {
  const page = readPage(`<style>${css}</style>${html}`);
  const element = page.elements.find(({ attributes }) => attributes.get('id') === 'x');
  const style = element && styleOf(page, parseSheet(page.css), mode)?.get(element);
  if (!style) return 'nothing';
  const ground = style.ground === null ? 'a picture' : printColour(style.ground);
  return `${printColour(style.colour)} on ${ground}${style.isHidden ? ', hidden' : ''}`;
}

test.each([
  ['nothing said', '<p id=x>a', '', '#000000 on #ffffff'],
  ['from outside', '<div style="color:#111111;background:#eeeeee"><p id=x>a', '', '#111111 on #eeeeee'],
  ['by attributes', '<body text="#111111" bgcolor="#eeeeee"><p id=x>a', '', '#111111 on #eeeeee'],
  ['a link', '<a id=x href=y>a', '', '#0000ee on #ffffff'],
  [
    'a link in words of its place',
    '<p style="color:#111111"><a id=x href=y style="color:inherit">a',
    '',
    '#111111 on #ffffff',
  ],
  [
    'the last rule of two',
    '<p id=x class="a b">a',
    '.b{color:#111111}.a{color:#222222}',
    '#222222 on #ffffff',
  ],
  ['a class before a tag', '<p id=x class=a>a', '.a{color:#111111}p{color:#222222}', '#111111 on #ffffff'],
  [
    'a class before any number of tags',
    '<p id=x class=a>a',
    `.a{color:#111111}${'p{color:#222222}'.repeat(300)}`,
    '#111111 on #ffffff',
  ],
  ['an id before a class', '<p id=x class=a>a', '#x{color:#111111}p.a{color:#222222}', '#111111 on #ffffff'],
  ['its own style before all', '<p id=x style="color:#111111">a', '#x{color:#222222}', '#111111 on #ffffff'],
  [
    'but what is important',
    '<p id=x style="color:#111111">a',
    'p{color:#222222 !important}',
    '#222222 on #ffffff',
  ],
  [
    'and among that its own',
    '<p id=x style="color:#111111!important">a',
    '#x{color:#222222!important}',
    '#111111 on #ffffff',
  ],
  [
    'one within another',
    '<div class=a><b><p id=x>a',
    '.a p{color:#111111} .b p{color:#222222}',
    '#111111 on #ffffff',
  ],
  ['not outside of it', '<div class=a></div><p id=x>a', '.a p{color:#111111}', '#000000 on #ffffff'],
  ['several at once', '<p id=x>a', 'h1, p , h2{color:#111111}', '#111111 on #ffffff'],
  [
    'not what it does not know',
    '<p id=x>a',
    'p:hover{color:#111111} p[a]{color:#222222}',
    '#000000 on #ffffff',
  ],
  [
    'not on a narrow screen',
    '<p id=x>a',
    '@media (max-width:9px){p{color:#111111}} @font-face{color:red}',
    '#000000 on #ffffff',
  ],
  ['behind comments', '<p id=x>a', '/* p{} */p/**/{/*}*/color:#111111/**/}', '#111111 on #ffffff'],
  ['a whole background', '<p id=x style="background: no-repeat #eeeeee center">a', '', '#000000 on #eeeeee'],
  ['half of a ground', '<p id=x style="background:rgba(0,0,0,.5)">a', '', '#000000 on #808080'],
  ['a picture', '<div style="background:url(a;b.png) #eeeeee"><p id=x>a', '', '#000000 on a picture'],
  [
    'ground again on a picture',
    '<div background=a.png><p id=x style="background:#eeeeee">a',
    '',
    '#000000 on #eeeeee',
  ],
  ['not shown', '<p style="display:none"><b id=x>a', '', '#000000 on #ffffff, hidden'],
  ['folded away', '<p id=x style="max-height:0;overflow:hidden">a', '', '#000000 on #ffffff, hidden'],
  ['without size', '<p id=x style="font-size:0">a', '', '#000000 on #ffffff, hidden'],
])('%s: computes styles as a mail client does', (...[, html, css, seen]) => {
  expect(look(html, { css })).toBe(seen);
});

test('applies dark rules only in dark mode, with a dark background only if the email supports it', () => {
  const css = 'p{color:#111111} @media (prefers-color-scheme: dark){p{color:#eeeeee} .a{color:#dddddd}}';
  expect(look('<p id=x>a', { css })).toBe('#111111 on #ffffff');
  expect(look('<p id=x>a', { css, mode: 'dark' })).toBe('#eeeeee on #ffffff');
  expect(look('<p id=x>a', { css: `:root{color-scheme: light dark}${css}`, mode: 'dark' })).toBe(
    '#eeeeee on #121212',
  );
});
