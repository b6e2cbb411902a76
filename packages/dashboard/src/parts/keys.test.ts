import { describe, expect, it } from 'vitest';
import { CHORD_MS, isSingle, meant, nameKey, NO_WISHES, tries } from './keys.ts';

const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

describe('a key', () => {
  it('is named the same on every keyboard: shift is said only where the sign does not say it', () => {
    expect(nameKey({ ...plain, key: 'a' })).toBe('a');
    expect(nameKey({ ...plain, key: 'J', shiftKey: true })).toBe('Shift+j');
    expect(nameKey({ ...plain, key: '?', shiftKey: true })).toBe('?');
    expect(nameKey({ ...plain, key: '/', shiftKey: true })).toBe('/');
    expect(nameKey({ ...plain, key: 'Enter', shiftKey: true })).toBe('Shift+Enter');
    expect(nameKey({ ...plain, key: 'k', metaKey: true })).toBe('Mod+k');
    expect(nameKey({ ...plain, key: 'K', ctrlKey: true })).toBe('Mod+k');
  });

  it('with a capital by caps lock is the same letter', () => {
    expect(nameKey({ ...plain, key: 'A' })).toBe('a');
  });
});

describe('single keys', () => {
  it('are those that speech and slips can press: one sign, or two in a row', () => {
    expect(['a', 'Shift+j', '?', 'g r'].every(isSingle)).toBe(true);
    expect(['Mod+k', 'Escape', 'Enter', 'ArrowDown'].some(isSingle)).toBe(false);
  });

  it('can be switched off, and the others stay', () => {
    const off = { off: true, instead: {} };
    expect(meant('a', off)).toBeNull();
    expect(meant('g r', off)).toBeNull();
    expect(meant('Mod+k', off)).toBe('Mod+k');
    expect(meant('Escape', off)).toBe('Escape');
  });

  it('can be given another key, and their old one does nothing then', () => {
    const wishes = { off: false, instead: { a: 'y' } };
    expect(meant('y', wishes)).toBe('a');
    expect(meant('a', wishes)).toBeNull();
    expect(meant('s', wishes)).toBe('s');
    expect(meant('s', NO_WISHES)).toBe('s');
  });

  it('can be swapped with each other', () => {
    const wishes = { off: false, instead: { a: 's', s: 'a' } };
    expect(meant('s', wishes)).toBe('a');
    expect(meant('a', wishes)).toBe('s');
  });
});

describe('a chord', () => {
  it('is two keys in a row, and is forgotten after a while', () => {
    expect(tries('r', { first: 'g', at: 0 }, CHORD_MS)).toEqual(['g r']);
    expect(tries('r', { first: 'g', at: 0 }, CHORD_MS + 1)).toEqual(['r']);
    expect(tries('r', null, 0)).toEqual(['r']);
  });
});
