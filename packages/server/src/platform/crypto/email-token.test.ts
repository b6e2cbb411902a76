import fc from 'fast-check';
import { expect, test } from 'vitest';
import { letterToken, readLetterToken } from './email-token.ts';

const KEY = [Buffer.alloc(32, 7)] as const;
const names = fc.record({ projectId: fc.integer({ min: 0, max: 2 ** 40 - 1 }), messageId: fc.uuid() });

test('reads a token in upper or lower case back to its email, within the length of an address', () => {
  fc.assert(
    fc.property(names, (name) => {
      const token = letterToken(name, 'bounce', KEY);
      expect(readLetterToken(token, 'bounce', KEY)).toEqual(name);
      expect(readLetterToken(token.toUpperCase(), 'bounce', KEY)).toEqual(name);
      expect(token).toMatch(/^[a-z2-7.]{51}$/);
    }),
  );
});

test('rejects a token with a changed character, of another use or of another installation', () => {
  fc.assert(
    fc.property(names, fc.nat(50), fc.constantFrom(...'abcxyz234567.-'.split('')), (name, at, sign) => {
      const token = letterToken(name, 'unsubscribe', KEY);
      const forged = token.slice(0, at) + sign + token.slice(at + 1);
      fc.pre(forged !== token);
      expect(readLetterToken(forged, 'unsubscribe', KEY)).toBeNull();
      expect(readLetterToken(token, 'reply', KEY)).toBeNull();
      expect(readLetterToken(token, 'unsubscribe', [Buffer.alloc(32, 8)])).toBeNull();
    }),
  );
});

test('accepts tokens of the previous secret, and signs new ones with the current secret', () => {
  const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const name = { projectId: 5, messageId: '0198c0de-0000-7000-8000-000000000001' };
  const before = letterToken(name, 'open', [old]);
  expect(readLetterToken(before, 'open', [current, old])).toEqual(name);
  const after = letterToken(name, 'open', [current, old]);
  expect(readLetterToken(after, 'open', [current])).toEqual(name);
  expect(readLetterToken(before, 'open', [current])).toBeNull();
});
