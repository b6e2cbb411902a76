import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/seal.ts';
import { resealSecrets } from '../features/endpoints/index.ts';
import { resealListeners } from '../features/listeners/index.ts';
import type { Database } from '../io/db/index.ts';
import type { Duty } from './timetable.ts';

const EVERY_MS = 20_000;

/** Once in the life of a process: what the previous secret of the installation sealed is sealed anew. */
export function resealWebhooks({ db, log, sealer }: { db: Database; log: Log; sealer: Sealer }): Duty {
  let isDone = false;
  return {
    name: 'reseal_webhooks',
    everyMs: EVERY_MS,
    async run() {
      if (isDone) return;
      const secrets = (await resealSecrets(db, sealer)) + (await resealListeners(db, sealer));
      isDone = true;
      if (secrets > 0) log.info({ secrets }, 'webhook_secrets.resealed');
    },
  };
}
