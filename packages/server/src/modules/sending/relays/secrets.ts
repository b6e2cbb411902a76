import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import type { RelayId } from './relay.ts';

/** Encrypts the values of the secret fields of a relay. */
export function encryptSecrets(encrypter: Encrypter, secrets: RelaySettings, relay: RelayId): Buffer {
  return encrypter.encrypt(Buffer.from(JSON.stringify(secrets)), boundTo(relay));
}

export function decryptSecrets(encrypter: Encrypter, encrypted: Uint8Array, relay: RelayId): RelaySettings {
  const value: unknown = JSON.parse(encrypter.decrypt(encrypted, boundTo(relay)).toString());
  return value as RelaySettings;
}

/** A row that is copied to another relay cannot be decrypted there. */
export function boundTo({ projectId, id }: RelayId): string {
  return `relay ${projectId} ${id}`;
}
