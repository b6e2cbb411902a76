import { describe, expect, test } from 'vitest';
import { knownBrowserId, knownBrowsers, rememberBrowser } from './known-browser.ts';

const NOW = Date.UTC(2026, 0, 15);
const DAY_MS = 86_400_000;
const browsers = knownBrowsers('__Host-beckon_known', ['current secret', 'previous secret']);
const ada = { userId: 'ada', hash: 'salt:hash' };

const cookieOf = (line: string): string => line.slice(0, line.indexOf(';'));
const remembered = cookieOf(rememberBrowser(browsers, ada, { knownId: null, now: NOW }));
const idIn = (cookie: string, account = ada, { now = NOW, of = browsers } = {}): string | null =>
  knownBrowserId(of, account, { headers: { cookie }, now });

describe('rememberBrowser', () => {
  test('sets a cookie for 90 days that scripts and other sites cannot use', () => {
    const line = rememberBrowser(browsers, ada, { knownId: null, now: NOW });
    expect(line).toMatch(
      /^__Host-beckon_known=[^;]+; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  test('keeps the id of a browser that is already known', () => {
    const id = idIn(remembered);
    const again = cookieOf(rememberBrowser(browsers, ada, { knownId: id, now: NOW + DAY_MS }));
    expect([idIn(again), again === remembered]).toEqual([id, false]);
  });
});

describe('knownBrowserId', () => {
  test('accepts the cookie for its member until it expires', () => {
    expect(idIn(remembered)).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(idIn(remembered, ada, { now: NOW + 90 * DAY_MS - 1 })).not.toBeNull();
    expect(idIn(remembered, ada, { now: NOW + 90 * DAY_MS })).toBeNull();
  });

  test('refuses the cookie for another member, and after a new password', () => {
    expect(idIn(remembered, { ...ada, userId: 'eve' })).toBeNull();
    expect(idIn(remembered, { ...ada, hash: 'salt:other' })).toBeNull();
  });

  test('accepts a cookie signed with the previous secret, and rejects one signed with a foreign secret', () => {
    const turned = knownBrowsers('__Host-beckon_known', ['newer secret', 'current secret']);
    expect(idIn(remembered, ada, { of: turned })).toBe(idIn(remembered));
    const strange = knownBrowsers('__Host-beckon_known', ['another secret']);
    expect(idIn(remembered, ada, { of: strange })).toBeNull();
  });

  test('refuses a cookie with any character changed', () => {
    const start = remembered.indexOf('=') + 1;
    for (let at = start; at < remembered.length; at += 1) {
      const other = remembered[at] === 'A' ? 'B' : 'A';
      const changed = remembered.slice(0, at) + other + remembered.slice(at + 1);
      // The last character of base64url carries bits that are not decoded.
      if (at < remembered.length - 1) expect([at, idIn(changed)]).toEqual([at, null]);
    }
    expect(idIn('__Host-beckon_known=%E0%A4%A')).toBeNull();
    expect(idIn('')).toBeNull();
  });
});
