import type { Log } from '../base/log.ts';
import { oneByOne } from '../base/one-by-one.ts';
import type { Sealer } from '../base/seal.ts';
import { resealKeys } from '../features/domains/index.ts';
import { resealSecrets as resealWebhookSecrets } from '../features/endpoints/index.ts';
import { resealImportKeys } from '../features/imports/index.ts';
import { resealListeners } from '../features/listeners/index.ts';
import { resealSuppressionKey } from '../features/suppressions/index.ts';
import { resealFactors, type ResealFactorsOptions } from '../features/team/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Job } from './timetable.ts';

export type ResealSecretsOptions = {
  db: Database;
  log: Log;
  sealer: Sealer;
  teamSecrets: ResealFactorsOptions['secrets'];
};

const LOOK_EVERY_MS = 20_000;
const EVERY_MS = 10 * 60_000;

/**
 * What the previous secret of the installation sealed is sealed anew, soon after the start and then every ten minutes: while several
 * processes change it one after the other, those that come last still seal under the old one.
 */
export function resealSecrets({ db, log, sealer, teamSecrets: secrets }: ResealSecretsOptions): Job {
  const rooms = new Map([
    ['dkim_keys', () => resealKeys(db, { sealer, log })],
    ['webhook_secrets', () => resealWebhookSecrets(db, { sealer, log })],
    ['webhook_listeners', () => resealListeners(db, { sealer, log })],
    ['suppression_key', () => resealSuppressionKey(db, { sealer, log })],
    ['import_keys', () => resealImportKeys(db, { sealer, log })],
    ['two_factors', () => resealFactors(db, { secrets, log })],
  ]);
  const kinds = [...rooms.keys()].map((of) => ({ of }));
  let dueAt = 0;
  return {
    name: 'reencrypt_secrets',
    everyMs: LOOK_EVERY_MS,
    async run(stopping) {
      const now = db.clock.now();
      if (now < dueAt) return;
      await oneByOne(kinds, { log, job: 'reencrypt_secrets', stopping }, async ({ of }) => {
        const count = await rooms.get(of)?.();
        if (count) log.info({ of, count }, 'secrets.reencrypted');
      });
      // What failed is tried again at the next look, and counted as often.
      dueAt = now + EVERY_MS;
    },
  };
}
