import { expect, test } from 'vitest';
import { hostOf, PROVIDERS } from './providers.ts';

test('hostOf › returns the part before the registered domain', () => {
  expect(hostOf('_dmarc.mail.example.com', 'mail.example.com')).toBe('_dmarc.mail');
  expect(hostOf('k1._domainkey.example.com', 'example.com')).toBe('k1._domainkey');
  expect(hostOf('example.com', 'example.com')).toBe('@');
  expect(hostOf('other.org', 'example.com')).toBe('other.org');
});

test('PROVIDERS › have hints, and the last one is for all others', () => {
  expect(PROVIDERS.every(({ hints }) => hints.length > 0)).toBe(true);
  expect(PROVIDERS.at(-1)?.id).toBe('other');
});
