import { expect, test } from 'vitest';
import { createEncrypter } from './encrypt.ts';

const plain = Buffer.from('the private half');
const encrypter = createEncrypter('secret', null, 'tests');

test('decrypts a value only in the place that it was encrypted for', () => {
  const encrypted = encrypter.encrypt(plain, 'project 1');
  expect(encrypter.decrypt(encrypted, 'project 1')).toEqual(plain);
  expect(() => encrypter.decrypt(encrypted, 'project 2')).toThrow();
  expect(encrypted.includes(plain)).toBe(false);
  expect(encrypter.encrypt(plain, 'project 1').equals(encrypted)).toBe(false);
});

test('rejects a value with any byte changed', () => {
  const encrypted = encrypter.encrypt(plain, 'x');
  for (const [at, byte] of encrypted.entries()) {
    const other = Buffer.from(encrypted);
    other[at] = byte ^ 1;
    expect(() => encrypter.decrypt(other, 'x')).toThrow();
  }
  for (let length = 0; length < encrypted.length; length += 1)
    expect(() => encrypter.decrypt(encrypted.subarray(0, length), 'x')).toThrow();
});

test('decrypts nothing with another secret or purpose', () => {
  const encrypted = encrypter.encrypt(plain, 'x');
  expect(() => createEncrypter('other', null, 'tests').decrypt(encrypted, 'x')).toThrow(/unknown secret key/);
  expect(() => createEncrypter('secret', null, 'emails').decrypt(encrypted, 'x')).toThrow(
    /unknown secret key/,
  );
});

test('decrypts values of the previous secret, and reports that they must be re-encrypted', () => {
  const encrypted = encrypter.encrypt(plain, 'x');
  const renewed = createEncrypter('next', 'secret', 'tests');
  expect(renewed.decrypt(encrypted, 'x')).toEqual(plain);
  expect([encrypter.isCurrent(encrypted), renewed.isCurrent(encrypted)]).toEqual([true, false]);
  const reencrypted = renewed.encrypt(plain, 'x');
  expect(renewed.isCurrent(reencrypted)).toBe(true);
  expect(() => encrypter.decrypt(reencrypted, 'x')).toThrow(/unknown secret key/);
  expect(createEncrypter('next', null, 'tests').decrypt(reencrypted, 'x')).toEqual(plain);
});
