import { systemClock } from '../../../packages/server/src/platform/time/clock.ts';
import { idMaker } from '../../../packages/server/src/platform/ids.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { createEncrypter } from '../../../packages/server/src/platform/crypto/encrypt.ts';
import { openSuppressionHasher } from '../../../packages/server/src/modules/sending/suppressions/hasher.ts';
import { createProcessor } from '../../../packages/server/src/modules/processing/process.ts';
import { openDatabase } from '../../../packages/server/src/platform/db/database.ts';
import { stripeReader } from '../../../packages/server/src/main/stripe-reader.ts';
import { startProcessor } from '../../../packages/server/src/modules/processing/processor.ts';
import { startImporter } from '../../../packages/server/src/modules/imports/run/importer.ts';

/**
 * The part of a worker that imports and processes, with Stripe on loopback. The address of Stripe is the only thing that no setting can
 * change.
 */
const { DATABASE_URL = '', SECRET_KEY = '', BENCH_STRIPE_PORT = '' } = process.env;
const log = createLog('warn');
const db = await openDatabase({
  connection: () => ({ connectionString: DATABASE_URL }),
  clock: systemClock,
  log,
});
const encrypter = createEncrypter(SECRET_KEY, null, 'secrets at rest');
const hasher = await openSuppressionHasher({ db, clock: db.clock, encrypter });
const processor = createProcessor({ db, log, newId: idMaker(db.clock), hasher });
const processorLoop = startProcessor({ db, processor, log });
const importer = startImporter({
  db,
  log,
  encrypter,
  openStripe: stripeReader(db, { host: '127.0.0.1', port: Number(BENCH_STRIPE_PORT), protocol: 'http' }),
  pauseMs: 250,
  accepted: () => processorLoop.wake(),
});
process.once('SIGTERM', () => {
  void Promise.all([importer.stop(), processorLoop.stop()]).then(() => db.close());
});
process.stdout.write('ready\n');
