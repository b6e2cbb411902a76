import fc from 'fast-check';
import { expect, test } from 'vitest';
import { letterToken, readLetterToken } from './letter-token.ts';

const KEY = Buffer.alloc(32, 7);
const names = fc.record({ projectId: fc.integer({ min: 0, max: 2 ** 40 - 1 }), messageId: fc.uuid() });

test('a token comes back as the letter it names, in whatever case a mail server left it, and fits an address', () => {
  fc.assert(
    fc.property(names, (name) => {
      const token = letterToken(name, 'bounce', KEY);
      expect(readLetterToken(token, 'bounce', KEY)).toEqual(name);
      expect(readLetterToken(token.toUpperCase(), 'bounce', KEY)).toEqual(name);
      expect(token).toMatch(/^[a-z2-7.]{51}$/);
    }),
  );
});

test('a token with any sign changed, of another use or of another installation names nothing', () => {
  fc.assert(
    fc.property(names, fc.nat(50), fc.constantFrom(...'abcxyz234567.-'.split('')), (name, at, sign) => {
      const token = letterToken(name, 'unsubscribe', KEY);
      const forged = token.slice(0, at) + sign + token.slice(at + 1);
      // The last sign of a part holds bits that say nothing.
      fc.pre(forged !== token && at !== 33);
      expect(readLetterToken(forged, 'unsubscribe', KEY)).toBeNull();
      expect(readLetterToken(token, 'reply', KEY)).toBeNull();
      expect(readLetterToken(token, 'unsubscribe', Buffer.alloc(32, 8))).toBeNull();
    }),
  );
});
