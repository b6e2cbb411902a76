import { describe, expect, it } from 'vitest';
import { replyText } from './reply-text.ts';

const ATTRIBUTION = 'On Tue, 3 Mar 2026 at 10:00, Acme <hello@example.com> wrote:';
const of = (...lines: string[]): string => replyText({ text: lines.join('\n') });

describe('replyText', () => {
  it.each([
    ['right above the reply', [ATTRIBUTION, '> Hi', 'Hello']],
    ['with empty lines around it', [ATTRIBUTION, '', '> Hi', '', 'Hello']],
    ['with an attribution on two lines', ['On Tue, 3 Mar 2026 at 10:00,', 'Acme wrote:', '> Hi', 'Hello']],
    ['between two replies', ['Yes.', '', '> And Friday?', 'Fine.']],
  ])('keeps a quotation of one line and its attribution: %s', (_where, lines) => {
    expect(of(...lines)).toBe(lines.join('\n'));
  });

  it('removes a quotation of one line below the reply', () => {
    expect(of('Hello', '', ATTRIBUTION, '> Hi')).toBe('Hello');
    expect(of('Hello', '', ATTRIBUTION, '> Hi', '', 'Sent from my iPhone')).toBe('Hello');
    expect(of('Hello', '', ATTRIBUTION, '> Hi', '', '-- ', 'Zoe')).toBe('Hello');
  });

  it('removes a longer quotation, and keeps the paragraphs around it apart', () => {
    expect(of(ATTRIBUTION, '> Hi', '> there', '', 'Hello')).toBe('Hello');
    expect(of('One', '', '> Hi', '> there', '', 'Two')).toBe('One\n\nTwo');
    expect(of('One', '> Hi', '>', '> there', 'Two')).toBe('One\nTwo');
  });

  it('reads a quotation with as many empty lines as a text can have', () => {
    expect(of('> Hi', '\n'.repeat(64_000), 'Hello')).toBe('> Hi\n\nHello');
  });

  it('returns the whole text if it consists of a quotation', () => {
    expect(of(ATTRIBUTION, '> Hi')).toBe(`${ATTRIBUTION}\n> Hi`);
  });
});
