import { describe, expect, test } from 'vitest';
import { MAIN } from './nav.ts';
import { isInSettings, isWithin, PAGES, placeOf } from './place.ts';

describe('sidebar', () => {
  test('has 13 entries, and lists each page once', () => {
    expect(MAIN.flatMap(({ items }) => items)).toHaveLength(13);
    const paths = PAGES.map(({ page }) => page.to);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test('has no shortcut twice', () => {
    const keys = PAGES.flatMap(({ page: { key } }) => key ?? []);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('placeOf', () => {
  test.each([
    ['/p/1/users', 'Users', false],
    ['/p/1/users/', 'Users', false],
    ['/p/1/users/user_1', 'Users', true],
    ['/p/1/imports/3', 'Imports', true],
    ['/p/1/drafts/5', 'Review', true],
    ['/p/1/settings/domains', 'Domains', false],
    ['/p/1/settings/domains/mail.acme.com', 'Domains', true],
  ])('finds the page of %s', (path, label, isDetail) => {
    expect(placeOf(path)).toMatchObject({ page: { label }, isDetail });
  });

  test('finds no page for other paths', () => {
    for (const path of ['/p/1', '/p/1/usersx', '/profile', '/p/1/settings']) expect(placeOf(path)).toBeNull();
  });

  test('places a tab within its entry, and a page of Settings in Settings', () => {
    const emails = MAIN.flatMap(({ items }) => items).filter((item) =>
      isWithin(item, placeOf('/p/1/test-inbox/9')),
    );
    expect(emails.map(({ label }) => label)).toEqual(['Emails']);
    expect(isInSettings(placeOf('/p/1/settings/team'))).toBe(true);
    expect(isInSettings(placeOf('/p/1/home'))).toBe(false);
  });
});
