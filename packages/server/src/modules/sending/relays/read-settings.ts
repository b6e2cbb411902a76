import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RelaySettings } from '../../../platform/relays/adapter.ts';
import { findEncryptedSecrets, findRelay } from './reads.ts';
import type { RelayId } from './relay.ts';
import { decryptSecrets } from './secrets.ts';

/** Returns all values of a relay, secrets included, for a connection to it. Null: there is no such relay. */
export async function readRelaySettings(
  { db, encrypter }: { db: Tx; encrypter: Encrypter },
  relay: RelayId,
): Promise<RelaySettings | null> {
  const [found, encrypted] = await Promise.all([findRelay(db, relay), findEncryptedSecrets(db, relay)]);
  if (!found || !encrypted) return null;
  return { ...found.settings, ...decryptSecrets(encrypter, encrypted, relay) };
}
