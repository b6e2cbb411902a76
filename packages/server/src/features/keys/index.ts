export { readClient } from './client-version.ts';
export { createKey, type NewKey, type NewKeyWanted } from './create-key.ts';
export { findKey } from './find-key.ts';
export { type KeyEnvironment, type VerifiedKey } from './key.ts';
export { type KeyUse, keyUse, minimumMissed } from './key-use.ts';
export { type Keyring, keyring } from './keyring.ts';
export { type ListedKey, listKeys, listKeyTraffic } from './list-keys.ts';
export { revokeKey } from './revoke-key.ts';
