import { forEachInOrder } from '../../platform/async/one-by-one.ts';
import type { JobRun } from '../../platform/jobs/scheduler.ts';
import type { Log } from '../../platform/log.ts';
import type { Encrypter } from '../../platform/crypto/encrypt.ts';
import { reencryptDkimKeys, reencryptRelaySecrets, reencryptSuppressionKey } from '../sending/index.ts';
import { reencryptReplySources } from '../inbound/index.ts';
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
    ['relay_secrets', () => reencryptRelaySecrets(db, { encrypter, log })],
    ['reply_sources', () => reencryptReplySources(db, { encrypter, log })],
    ['two_factors', () => reencryptFactors(db, { secrets, log })],
  ]);
}

const EVERY_MS = 10 * 60_000;

/**
 * Returns a job that re-encrypts secrets with the current secret key, soon after the start and then every ten minutes. While several
 * processes change the key one after another, the last of them still encrypt with the old one.
 */
export function secretReencrypter(deps: ReencryptDeps): (run: JobRun) => Promise<void> {
  const { db, log } = deps;
  const functions = secretKinds(deps);
  let dueAt = 0;
  return async (run) => {
    const now = db.clock.now();
    if (now < dueAt) return;
    const options = { log, run, fieldsOf: (kind: string) => ({ kind }) };
    await forEachInOrder([...functions.keys()], options, async (kind) => {
      const count = await functions.get(kind)?.();
      if (count) log.info({ kind, count }, 'secrets.reencrypted');
    });
    // A kind that failed is retried at the next run, and counted each time.
    dueAt = now + EVERY_MS;
  };
}
