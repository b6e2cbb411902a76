import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emailToken, readEmailToken } from './email-token.ts';

const KEY = [Buffer.alloc(32, 7)] as const;
const names = fc.record({ projectId: fc.integer({ min: 0, max: 2 ** 40 - 1 }), emailId: fc.uuid() });

test('reads a token in upper or lower case back to its email, within the length of an address', () => {
  fc.assert(
    fc.property(names, (name) => {
      const token = emailToken(name, 'bounce', KEY);
      expect(readEmailToken(token, 'bounce', KEY)).toEqual(name);
      expect(readEmailToken(token.toUpperCase(), 'bounce', KEY)).toEqual(name);
      expect(token).toMatch(/^[a-z2-7.]{51}$/);
    }),
  );
});

test('rejects a token with a changed character, of another use or of another installation', () => {
  fc.assert(
    fc.property(names, fc.nat(50), fc.constantFrom(...'abcxyz234567.-'.split('')), (name, at, sign) => {
      const token = emailToken(name, 'unsubscribe', KEY);
      const forged = token.slice(0, at) + sign + token.slice(at + 1);
      fc.pre(forged !== token);
      expect(readEmailToken(forged, 'unsubscribe', KEY)).toBeNull();
      expect(readEmailToken(token, 'reply', KEY)).toBeNull();
      expect(readEmailToken(token, 'unsubscribe', [Buffer.alloc(32, 8)])).toBeNull();
    }),
  );
});

test('accepts tokens of the previous secret, and signs new ones with the current secret', () => {
  const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const name = { projectId: 5, emailId: '0198c0de-0000-7000-8000-000000000001' };
  const before = emailToken(name, 'open', [old]);
  expect(readEmailToken(before, 'open', [current, old])).toEqual(name);
  const after = emailToken(name, 'open', [current, old]);
  expect(readEmailToken(after, 'open', [current])).toEqual(name);
  expect(readEmailToken(before, 'open', [current])).toBeNull();
});
