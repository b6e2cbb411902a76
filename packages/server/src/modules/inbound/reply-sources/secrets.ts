import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import type { SourceWithSecrets } from './reads.ts';
import { boundTo, type ReplySource } from './source.ts';

type SourceId = Pick<ReplySource, 'projectId' | 'id'>;

export function encryptSource(encrypter: Encrypter, secrets: RelaySettings, source: SourceId): Buffer {
  return encrypter.encrypt(Buffer.from(JSON.stringify(secrets)), boundTo(source));
}

/** Returns all values of a source, secrets included. */
export function decryptSource(encrypter: Encrypter, { source, encrypted }: SourceWithSecrets): RelaySettings {
  const secrets: unknown = JSON.parse(encrypter.decrypt(encrypted, boundTo(source)).toString());
  return { ...source.settings, ...(secrets as RelaySettings) };
}
