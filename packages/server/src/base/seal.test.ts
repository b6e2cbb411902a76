import { expect, test } from 'vitest';
import { createSealer } from './seal.ts';

const plain = Buffer.from('the private half');
const sealer = createSealer('secret', null, 'tests');

test('what was sealed opens where it was put, and nowhere else', () => {
  const sealed = sealer.seal(plain, 'project 1');
  expect(sealer.open(sealed, 'project 1')).toEqual(plain);
  expect(() => sealer.open(sealed, 'project 2')).toThrow();
  expect(sealed.includes(plain)).toBe(false);
  expect(sealer.seal(plain, 'project 1').equals(sealed)).toBe(false);
});

test('not one byte of it may be another', () => {
  const sealed = sealer.seal(plain, 'x');
  for (const [at, byte] of sealed.entries()) {
    const other = Buffer.from(sealed);
    other[at] = byte ^ 1;
    expect(() => sealer.open(other, 'x')).toThrow();
  }
  for (let length = 0; length < sealed.length; length += 1)
    expect(() => sealer.open(sealed.subarray(0, length), 'x')).toThrow();
});

test('another secret and another purpose open nothing', () => {
  const sealed = sealer.seal(plain, 'x');
  expect(() => createSealer('other', null, 'tests').open(sealed, 'x')).toThrow(/unknown secret key/);
  expect(() => createSealer('secret', null, 'letters').open(sealed, 'x')).toThrow(/unknown secret key/);
});

test('the previous secret still opens what it sealed, and says that it is to be sealed anew', () => {
  const sealed = sealer.seal(plain, 'x');
  const renewed = createSealer('next', 'secret', 'tests');
  expect(renewed.open(sealed, 'x')).toEqual(plain);
  expect([sealer.isCurrent(sealed), renewed.isCurrent(sealed)]).toEqual([true, false]);
  const again = renewed.seal(plain, 'x');
  expect(renewed.isCurrent(again)).toBe(true);
  expect(() => sealer.open(again, 'x')).toThrow(/unknown secret key/);
  expect(createSealer('next', null, 'tests').open(again, 'x')).toEqual(plain);
});
