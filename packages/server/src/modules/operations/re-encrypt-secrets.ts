import type { Log } from '../../platform/log.ts';
import type { Sealer } from '../../platform/crypto/encrypt.ts';
import { resealKeys, resealSuppressionKey } from '../sending/index.ts';
import { resealSecrets, resealListeners } from '../webhooks/index.ts';
import { resealImportKeys } from '../imports/index.ts';
import { resealFactors, type ResealFactorsOptions } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';

export type ReencryptDeps = {
  db: Database;
  log: Log;
  sealer: Sealer;
  teamSecrets: ResealFactorsOptions['secrets'];
};

/**
 * One function for each kind of stored secret. It re-encrypts what the previous secret key encrypted, and returns the number. The log
 * gets a warning for each secret that no key decrypts.
 */
export function secretKinds({
  db,
  log,
  sealer,
  teamSecrets: secrets,
}: ReencryptDeps): ReadonlyMap<string, () => Promise<number>> {
  return new Map([
    ['dkim_keys', () => resealKeys(db, { sealer, log })],
    ['webhook_secrets', () => resealSecrets(db, { sealer, log })],
    ['webhook_listeners', () => resealListeners(db, { sealer, log })],
    ['suppression_key', () => resealSuppressionKey(db, { sealer, log })],
    ['import_keys', () => resealImportKeys(db, { sealer, log })],
    ['two_factors', () => resealFactors(db, { secrets, log })],
  ]);
}
