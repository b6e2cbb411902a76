import { expect, test } from 'vitest';
import { normaliseAddress } from './address.ts';

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  ['ada@Bücher.DE', 'ada@xn--bcher-kva.de'],
  ['ada@XN--Bcher-KVA.de', 'ada@xn--bcher-kva.de'],
  ['ada@bücher。de', 'ada@xn--bcher-kva.de'],
  ['a.d.a+news@gmail.com', 'a.d.a+news@gmail.com'],
  ['ada@1.2', 'ada@1.2'],
])('normalizes the address %s to %s, idempotently', (input, mailbox) => {
  expect(normaliseAddress(input)).toBe(mailbox);
  expect(normaliseAddress(mailbox)).toBe(mailbox);
});
