import { expect, test } from 'vitest';
import { DOMAIN_NAME_MAX, organizationOf, readDomainName } from './domain.ts';

test.each([
  ['Mail.Example.COM', 'mail.example.com'],
  [' example.com. ', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['acme.test', 'acme.test'],
  ['a-b.co.uk', 'a-b.co.uk'],
  // The owner of the suffix can publish a key there.
  ['github.io', 'github.io'],
])('reads %j as the domain %s', (text, name) => {
  expect(readDomainName(text)).toBe(name);
});

const long = `${'a'.repeat(60)}.`.repeat(3);

test.each([
  ['', /not a domain name/],
  ['com', /not a domain name/],
  ['localhost', /not a domain name/],
  ['co.uk', /public suffix/],
  ['127.0.0.1', /IP address/],
  ['::1', /IP address/],
  ['ada@example.com', /is an email address/],
  ['https://example.com/', /URL/],
  ['a b.com', /not a domain name/],
  ['_dmarc.example.com', /not a domain name/],
  ['-a.example.com', /not a domain name/],
  ['a..example.com', /not a domain name/],
  ['example.com\nBcc: x', /not a domain name/],
  [`${'a'.repeat(64)}.example.com`, /not a domain name/],
  [`${long}example.com`, /at most 180/],
  ['x'.repeat(100_000), /not a domain name/],
])('rejects %.40j with the reason', (text, message) => {
  expect(() => readDomainName(text)).toThrow(message);
});

test('allows the bounce address of the longest name', () => {
  const name = `${long}example.com`.slice(-DOMAIN_NAME_MAX);
  expect(readDomainName(name)).toBe(name);
  expect('x'.repeat(64).length + '@bounce.'.length + name.length).toBeLessThanOrEqual(254);
});

test.each([
  ['mail.example.co.uk', 'example.co.uk'],
  ['example.com', 'example.com'],
  ['a.b.acme.test', 'acme.test'],
  // A record of the suffix owner does not apply to a customer's name below it.
  ['shop.acme.github.io', 'acme.github.io'],
  ['github.io', 'github.io'],
])('finds the organization of %s: %s', (name, organization) => {
  expect(organizationOf(name)).toBe(organization);
});
