import { describe, expect, test } from 'vitest';
import { renderEmail } from './render-email.ts';

const FRAME = {
  projectName: 'Acme',
  postalAddress: null,
  unsubscribeUrl: null,
  locale: 'en',
  projectLocale: 'en',
};
const rendered = (body: string, format: 'markdown' | 'html' = 'markdown') =>
  renderEmail({ subject: 'Hello', preheader: '', body, format }, FRAME);
const table = (columns: number, rows: number, { prefix = '', row = '|' } = {}): string =>
  `${prefix}${'|a'.repeat(columns)}\n${prefix}${'|-'.repeat(columns)}\n${`${prefix}${row}\n`.repeat(rows)}`;
const refusal = (message: RegExp) =>
  expect.objectContaining({
    code: 'validation_failed',
    details: [{ field: 'body', message: expect.stringMatching(message) as unknown }],
  }) as Error;

describe('renderEmail', () => {
  test.each([
    ['a wide one with empty rows', table(256, 3_600)],
    ['one within a quote', table(100, 100, { prefix: '> ' })],
    ['one within a list', `- ${table(100, 100, { prefix: '  ' }).trimStart()}`],
    ['one whose lines end with a carriage return', table(256, 3_600).replaceAll('\n', '\r')],
    ['one whose lines end with CRLF', table(256, 3_600).replaceAll('\n', '\r\n')],
    ['several together', `${table(30, 50)}\n`.repeat(5)],
  ])('refuses tables of more than 5,000 cells: %s', (_, body) => {
    expect(() => rendered(body)).toThrow(refusal(/tables of up to [\d,]+ cells; at most 5,000 are allowed/));
  });

  test('counts at least as many cells as Markdown writes', () => {
    const cells = (body: string): number => rendered(body).html.match(/<t[dh]\b/g)?.length ?? 0;
    const counted = (body: string): number => cells(body) - cells('Hello');
    expect(counted(table(30, 100))).toBe(30 * 101);
    expect(counted(table(3, 200, { row: '| - | - | - |' }))).toBe(3 * 201);
    expect(counted(`${table(4, 300, { row: '|a|b|c|d|' })}\nText | with a bar`)).toBe(4 * 301);
  });

  test.each([
    ['addresses', `[a]: https://example.com/${'a'.repeat(1_900)}\n\n${'[a]'.repeat(1_300)}`],
    ['titles', `[a]: https://example.com/ "${'b'.repeat(3_900)}"\n\n${'[a]'.repeat(1_300)}`],
    ['images', `[a]: https://example.com/${'a'.repeat(1_900)}\n\n${'![a]\n\n'.repeat(600)}`],
  ])('refuses a reference whose long %s are repeated', (_, body) => {
    expect(() => rendered(body)).toThrow(refusal(/repeats long link addresses or titles/));
  });

  test('refuses HTML of more than 500,000 bytes, regardless of its source', () => {
    expect(() => rendered(`<p>${'x'.repeat(500_000)}</p>`, 'html')).toThrow(
      refusal(/bytes of HTML; at most 500,000/),
    );
    expect(() => rendered('- a\n'.repeat(25_000))).toThrow(refusal(/bytes of HTML; at most 500,000/));
    expect(rendered('- a\n'.repeat(2_000)).html.length).toBeLessThan(500_000);
  });
});
