import { expect, test } from 'vitest';
import { Fault } from '../../../platform/fault.ts';
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

const REFUSED = [
  '',
  'com',
  'localhost',
  'co.uk',
  '127.0.0.1',
  '::1',
  'ada@example.com',
  'https://example.com/',
  'a b.com',
  '_dmarc.example.com',
  '-a.example.com',
  'a..example.com',
  'example.com\nBcc: x',
  `${'a'.repeat(64)}.example.com`,
  `${long}example.com`,
  'x'.repeat(100_000),
];

test.each(REFUSED)('rejects %.40j', (text) => {
  expect(() => readDomainName(text)).toThrow(Fault);
});

test('says why a text is not a domain', () => {
  const short = REFUSED.filter(({ length }) => length < 200);
  const reasons = short.map((text) => {
    try {
      return readDomainName(text);
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(reasons).toMatchInlineSnapshot(`
    [
      """ is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""com" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""localhost" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""co.uk" is a public suffix, under which anyone can register a domain. Enter your own domain",
      ""127.0.0.1" is an IP address. Enter a domain",
      ""::1" is an IP address. Enter a domain",
      ""ada@example.com" is an email address. Enter only the part after the @",
      ""https://example.com/" is a URL. Enter only the domain name",
      ""a b.com" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""_dmarc.example.com" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""-a.example.com" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""a..example.com" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""example.com\\nBcc: x" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      ""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.com" is not a domain name. Use letters, digits and hyphens, separated by dots, such as mail.example.com",
      "A domain has at most 180 characters",
    ]
  `);
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
