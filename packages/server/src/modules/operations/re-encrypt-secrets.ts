import type { Log } from '../../platform/log.ts';
import type { Encrypter } from '../../platform/crypto/encrypt.ts';
import { reencryptDkimKeys, reencryptSuppressionKey } from '../sending/index.ts';
import { reencryptSecrets, reencryptListeners } from '../webhooks/index.ts';
import { reencryptImportKeys } from '../imports/index.ts';
import { reencryptFactors, type ReencryptFactorsOptions } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';

export type ReencryptDeps = {
  db: Database;
  log: Log;
  encrypter: Encrypter;
  teamSecrets: ReencryptFactorsOptions['secrets'];
};

/**
 * One function for each kind of stored secret. It re-encrypts what the previous secret key encrypted, and returns the number. The log
 * gets a warning for each secret that no key decrypts.
 */
export function secretKinds({
  db,
  log,
  encrypter,
  teamSecrets: secrets,
}: ReencryptDeps): ReadonlyMap<string, () => Promise<number>> {
  return new Map([
    ['dkim_keys', () => reencryptDkimKeys(db, { encrypter, log })],
    ['webhook_secrets', () => reencryptSecrets(db, { encrypter, log })],
    ['webhook_listeners', () => reencryptListeners(db, { encrypter, log })],
    ['suppression_key', () => reencryptSuppressionKey(db, { encrypter, log })],
    ['import_keys', () => reencryptImportKeys(db, { encrypter, log })],
    ['two_factors', () => reencryptFactors(db, { secrets, log })],
  ]);
}
