import { expect, test } from 'vitest';
import { createSealer } from './encrypt.ts';

const plain = Buffer.from('the private half');
const sealer = createSealer('secret', null, 'tests');

test('decrypts a value only in the place that it was encrypted for', () => {
  const sealed = sealer.seal(plain, 'project 1');
  expect(sealer.open(sealed, 'project 1')).toEqual(plain);
  expect(() => sealer.open(sealed, 'project 2')).toThrow();
  expect(sealed.includes(plain)).toBe(false);
  expect(sealer.seal(plain, 'project 1').equals(sealed)).toBe(false);
});

test('rejects a value with any byte changed', () => {
  const sealed = sealer.seal(plain, 'x');
  for (const [at, byte] of sealed.entries()) {
    const other = Buffer.from(sealed);
    other[at] = byte ^ 1;
    expect(() => sealer.open(other, 'x')).toThrow();
  }
  for (let length = 0; length < sealed.length; length += 1)
    expect(() => sealer.open(sealed.subarray(0, length), 'x')).toThrow();
});

test('decrypts nothing with another secret or purpose', () => {
  const sealed = sealer.seal(plain, 'x');
  expect(() => createSealer('other', null, 'tests').open(sealed, 'x')).toThrow(/unknown secret key/);
  expect(() => createSealer('secret', null, 'emails').open(sealed, 'x')).toThrow(/unknown secret key/);
});

test('decrypts values of the previous secret, and reports that they must be re-encrypted', () => {
  const sealed = sealer.seal(plain, 'x');
  const renewed = createSealer('next', 'secret', 'tests');
  expect(renewed.open(sealed, 'x')).toEqual(plain);
  expect([sealer.isCurrent(sealed), renewed.isCurrent(sealed)]).toEqual([true, false]);
  const again = renewed.seal(plain, 'x');
  expect(renewed.isCurrent(again)).toBe(true);
  expect(() => sealer.open(again, 'x')).toThrow(/unknown secret key/);
  expect(createSealer('next', null, 'tests').open(again, 'x')).toEqual(plain);
});
