import type { HashedKind } from '../../sending/index.ts';

export type ReadHash =
  | { kind: HashedKind; value: string }
  | { trouble: { field: 'hash' | 'hash_key'; message: string } };

/** Reads a hash as an export writes it: `email:` or `user:`, then 64 hexadecimal digits. */
export function readHash({ hash, hashKey }: { hash: string; hashKey: string }, keyId: string): ReadHash {
  const [, subject, value = ''] = /^(email|user):([0-9a-f]{64})$/.exec(hash) ?? [];
  if (subject === undefined)
    return refused('hash', 'A hash is email: or user:, followed by 64 hexadecimal digits in lower case');
  if (hashKey === '') return refused('hash_key', 'A row with a hash needs the hash_key from the export');
  if (hashKey !== keyId)
    return refused(
      'hash_key',
      `This hash was made with the key ${JSON.stringify(hashKey.slice(0, KEY_SHOWN_MAX_CHARS))}, and this project's key is "${keyId}". The address of an erased user can only be imported into the project of the installation that exported it, or into a restored copy`,
    );
  return { kind: subject === 'email' ? 'email_hash' : 'user_hash', value };
}

const KEY_SHOWN_MAX_CHARS = 40;

export function writeHash(kind: HashedKind, value: string): string {
  return `${kind === 'email_hash' ? 'email' : 'user'}:${value}`;
}

function refused(field: 'hash' | 'hash_key', message: string): ReadHash {
  return { trouble: { field, message } };
}
