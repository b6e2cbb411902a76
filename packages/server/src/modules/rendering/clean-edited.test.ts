import { describe, expect, test } from 'vitest';
import { cleanEdited } from './clean-edited.ts';
import type { TemplateText } from './template.ts';

const MSO = '<!--[if mso | IE]><table><tr><td><![endif]-->';
const page = (inside: string): string =>
  `<!doctype html><html><head><style>p { color: red }</style></head><body style="margin:0">${inside}</body></html>`;
const email = (body: string): TemplateText => ({ subject: 'a', preheader: '', body, format: 'html' });
const before = email(page(`${MSO}<p style="margin:0">Hi</p>`));

async function edited(inside: string): Promise<string> {
  const { body } = await cleanEdited(before, email(page(inside)));
  expect(
    body.startsWith(
      '<!doctype html><html><head><style>p { color: red }</style></head><body style="margin:0">',
    ),
  ).toBe(true);
  expect(body.endsWith('</body></html>')).toBe(true);
  return body.slice(before.body.indexOf(MSO), -'</body></html>'.length);
}

describe('cleanEdited', () => {
  test('keeps what an email may contain, including comments for layout', async () => {
    const inside = `${MSO}<table role="presentation" width="100%"><tr><td style="padding:8px" bgcolor="#ffffff"><p>Hi <b>Ada</b></p></td></tr></table><img src="https://a.example/i.png" alt="x" /><a href="https://unsubscribe.invalid/">Bye</a>`;
    expect(await edited(inside)).toBe(inside);
  });

  test.each([
    ['<script>alert(1)</script><p onclick="x">a</p>', '<p>a</p>'],
    [
      '<a href="javascript:alert(1)">a</a><a href="/x">b</a><a href="//x.example">c</a>',
      '<a>a</a><a>b</a><a>c</a>',
    ],
    ['<img src="http://a.example/i.png" alt="x">', '<img alt="x" />'],
    ['<p style="background:url(http://x)">a</p>', '<p>a</p>'],
    ['<!-- mine --><!--[if mso]><script>1</script><![endif]-->a', 'a'],
    ['<style>p{}</style><form><input name="a"><button>b</button></form>', 'b'],
    ['<iframe src="https://x"></iframe><svg onload="x"><p>a</p></svg>', '<p>a</p>'],
    ['</body></html><script>1</script><p>a</p>', '<p>a</p>'],
  ])('removes what no email may contain: %j', async (inside, left) => {
    expect(await edited(inside)).toBe(left);
  });

  test('keeps the head, whatever the edit has outside the body', async () => {
    const { body } = await cleanEdited(
      before,
      email('<head><style>@import "x"</style></head><body onload="x"><p>New</p></body>'),
    );
    expect(body).toBe(page('<p>New</p>'));
    expect((await cleanEdited(before, email('<p>Bare</p>'))).body).toBe(page('<p>Bare</p>'));
  });

  test('keeps the format, and keeps Markdown as it is typed', async () => {
    const markdown: TemplateText = { ...before, body: '<b>', format: 'markdown' };
    expect(await cleanEdited(markdown, { ...markdown, body: '<i>' })).toEqual({ ...markdown, body: '<i>' });
    await expect(cleanEdited(before, markdown)).rejects.toThrow(
      'format cannot change: this email has the format html',
    );
    await expect(cleanEdited(markdown, before)).rejects.toThrow(
      'format cannot change: this email has the format markdown',
    );
  });
});
