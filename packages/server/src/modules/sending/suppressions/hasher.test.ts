import { describe, expect, test } from 'vitest';
import { createSuppressionHasher } from './hasher.ts';

const hasher = createSuppressionHasher(Buffer.alloc(32, 1));
const address = (value: string, projectId = 1) => ({ projectId, kind: 'email' as const, value });

describe('createSuppressionHasher', () => {
  test('hashes every form of one mailbox alike', () => {
    expect(hasher.hash(address('Ada@BÜCHER.example'))).toEqual(
      hasher.hash(address('ada@xn--bcher-kva.example')),
    );
  });

  test('hashes one address differently per project', () => {
    expect(hasher.hash(address('ada@x.org', 1)).value).not.toBe(hasher.hash(address('ada@x.org', 2)).value);
    expect(hasher.keyIdOf(1)).not.toBe(hasher.keyIdOf(2));
  });

  test('hashes an address and a user id of the same text differently', () => {
    const user = hasher.hash({ projectId: 1, kind: 'user', value: 'ada@x.org' });
    expect(user.kind).toBe('user_hash');
    expect(user.value).not.toBe(hasher.hash(address('ada@x.org')).value);
  });

  test('hashes differently with another key', () => {
    const other = createSuppressionHasher(Buffer.alloc(32, 2));
    expect(other.hash(address('ada@x.org')).value).not.toBe(hasher.hash(address('ada@x.org')).value);
    expect(other.keyIdOf(1)).not.toBe(hasher.keyIdOf(1));
  });

  test('keeps its hashes across releases', () => {
    // Hashes are stored, so a change of the construction would lift every suppression of an erased user.
    expect(hasher.hash(address('ada@x.org')).value).toMatchInlineSnapshot(
      `"24abf27821e181ad5b138dd0b2a7e9f5772d2c394c2600168bad1832355c7d21"`,
    );
    expect(hasher.keyIdOf(1)).toMatchInlineSnapshot(`"7425675392222bb2"`);
  });
});
