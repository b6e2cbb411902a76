import { describe, expect, it } from 'vitest';
import { CHORD_MS, isSingle, meant, nameKey, NO_WISHES, tries } from './keys.ts';

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

describe('nameKey', () => {
  it('returns the same name on every keyboard, with Shift only if the character does not imply it', () => {
    expect(nameKey({ ...plain, key: 'a' })).toBe('a');
    expect(nameKey({ ...plain, key: 'J', shiftKey: true })).toBe('Shift+j');
    expect(nameKey({ ...plain, key: '?', shiftKey: true })).toBe('?');
    expect(nameKey({ ...plain, key: '/', shiftKey: true })).toBe('/');
    expect(nameKey({ ...plain, key: 'Enter', shiftKey: true })).toBe('Shift+Enter');
    expect(nameKey({ ...plain, key: 'k', metaKey: true })).toBe('Mod+k');
    expect(nameKey({ ...plain, key: 'K', ctrlKey: true })).toBe('Mod+k');
  });

  it('ignores caps lock', () => {
    expect(nameKey({ ...plain, key: 'A' })).toBe('a');
  });
});

describe('single keys', () => {
  it('are one character, or two in a row', () => {
    expect(['a', 'Shift+j', '?', 'g r'].every(isSingle)).toBe(true);
    expect(['Mod+k', 'Escape', 'Enter', 'ArrowDown'].some(isSingle)).toBe(false);
  });

  it('can be turned off without affecting other keys', () => {
    const off = { off: true, instead: {} };
    expect(meant('a', off)).toBeNull();
    expect(meant('g r', off)).toBeNull();
    expect(meant('Mod+k', off)).toBe('Mod+k');
    expect(meant('Escape', off)).toBe('Escape');
  });

  it('can be replaced, after which the old key does nothing', () => {
    const wishes = { off: false, instead: { a: 'y' } };
    expect(meant('y', wishes)).toBe('a');
    expect(meant('a', wishes)).toBeNull();
    expect(meant('s', wishes)).toBe('s');
    expect(meant('s', NO_WISHES)).toBe('s');
  });

  it('can be swapped', () => {
    const wishes = { off: false, instead: { a: 's', s: 'a' } };
    expect(meant('s', wishes)).toBe('a');
    expect(meant('a', wishes)).toBe('s');
  });
});

describe('tries', () => {
  it('returns a chord for two keys in a row, until it times out', () => {
    expect(tries('r', { first: 'g', at: 0 }, CHORD_MS)).toEqual(['g r']);
    expect(tries('r', { first: 'g', at: 0 }, CHORD_MS + 1)).toEqual(['r']);
    expect(tries('r', null, 0)).toEqual(['r']);
  });
});
