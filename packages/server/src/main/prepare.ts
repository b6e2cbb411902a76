import { type Clock, systemClock } from '../base/clock.ts';
import { createLifecycle } from '../base/lifecycle.ts';
import { createLog, type Log } from '../base/log.ts';
import {
  type ConnectionSource,
  createScratch,
  type Database,
  durabilityFaults,
  migrate,
  openDatabase,
  pendingMigrations,
} from '../io/db/index.ts';
import { MIGRATIONS } from '../io/migrations/index.ts';
import type { Opened } from '../operator/index.ts';
import type { Config } from './config.ts';
import { openMailroom, webhookAgent } from './mailroom.ts';
import { openSecrets, type Secrets } from './secrets.ts';
import { stripeReader } from './stripe-reader.ts';

/** Where the data is, whoever runs it: the embedded PostgreSQL of DATA_DIR, or the one that DATABASE_URL names. */
export type Place = {
  connection: ConnectionSource;
  /** For migrations and session locks, which a pooler would break. */
  adminConnection: ConnectionSource;
  /** Of an embedded database there is one server; a second one is refused. */
  becomeServer(): Promise<void>;
  release(): Promise<void>;
};

type Voice = { log: Log; print(line: string): void };

export async function findPlace(config: Config, voice: Voice): Promise<Place> {
  const { database } = config;
  if (database)
    return {
      connection: () => ({ connectionString: database.url }),
      adminConnection: () => ({ connectionString: database.adminUrl }),
      becomeServer: () => Promise.resolve(),
      release: () => Promise.resolve(),
    };
  const { openEmbedded } = await import('../io/embedded/index.ts');
  const embedded = await openEmbedded({ dataDir: config.dataDir, ...voice });
  return {
    connection: () => embedded.connection(),
    adminConnection: () => embedded.connection(),
    becomeServer: async () => {
      await embedded.becomeServer();
    },
    release: () => embedded.release(),
  };
}

/** A command's view: it sets up an empty database, but leaves the change of one in use to `migrate` and `serve`. */
export async function openForCommand(
  config: Config,
  { print, version }: { print: (line: string) => void; version: string },
): Promise<Opened> {
  const log = createLog('warn', 2);
  const place = await findPlace(config, { log, print });
  try {
    await requireSchema(place);
    const { connection } = place;
    const namedStatements = config.database?.namedStatements ?? true;
    const db = await openDatabase({ connection, clock: systemClock, log, namedStatements, poolMax: 2 });
    try {
      const secrets = await openSecrets({ db, clock: db.clock }, config);
      const life = createLifecycle(log);
      const close = async (): Promise<void> => {
        await life.stop();
        await db.close();
        await place.release();
      };
      const { tokenKeys } = secrets;
      return {
        db,
        ...secrets,
        ...openMailroom(config, secrets.sealer, db.clock),
        webhooks: { allowPrivate: config.webhookAllowPrivate, agent: webhookAgent(version) },
        openStripe: stripeReader(db),
        openScratch: (clock) => openScratch(place, { clock, log }),
        // What only sending needs is read when something is sent.
        async wayOut() {
          const { openWayOut } = await import('./way-out.ts');
          return openWayOut({ smtpUrl: config.smtpUrl, tokenKeys, log }, { db, life });
        },
        close,
      };
    } catch (error) {
      await db.close();
      throw error;
    }
  } catch (error) {
    await place.release();
    throw error;
  }
}

async function requireSchema({ adminConnection }: Place): Promise<void> {
  const pending = await pendingMigrations(adminConnection);
  const state = schemaState(pending, Object.keys(MIGRATIONS));
  if (state === 'empty') await migrate(adminConnection);
  if (state === 'older')
    throw new Error(
      `The database is older than this release (${pending?.join(', ')} not applied): run the command migrate, or start the server, which applies them too`,
    );
}

/** Where nothing was applied yet another process may be at it this moment; `migrate` then waits for that one. */
export function schemaState(pending: string[] | null, all: string[]): 'ready' | 'empty' | 'older' {
  if (pending === null || pending.length === all.length) return 'empty';
  return pending.length === 0 ? 'ready' : 'older';
}

/** What must hold before anything is served: the schema of this release, a durable database, the right secret key. */
export async function prepareServer(config: Config, place: Place, log: Log): Promise<Secrets> {
  await place.becomeServer();
  const { applied } = await migrate(place.adminConnection);
  if (applied.length > 0) log.info({ migrations: applied }, 'database.migrated');
  const db = await openDatabase({ connection: place.connection, clock: systemClock, log, poolMax: 1 });
  try {
    const faults = await durabilityFaults(db);
    if (faults.length > 0)
      throw new Error(`This database cannot keep what it acknowledges: ${faults.join('; ')}`);
    return await openSecrets({ db, clock: db.clock }, config);
  } finally {
    await db.close();
  }
}

export async function migrateForCommand(
  config: Config,
  print: (line: string) => void,
): Promise<{ applied: string[] }> {
  const place = await findPlace(config, { log: createLog('warn', 2), print });
  try {
    return await migrate(place.adminConnection);
  } finally {
    await place.release();
  }
}

/** For work that is to be in nobody's way. It is migrated as ours is, and gone when it is closed. */
async function openScratch(
  place: Place,
  { clock, log }: { clock: Clock; log: Log },
): Promise<{ db: Database; close(): Promise<void> }> {
  const scratch = await createScratch(place.adminConnection);
  try {
    await migrate(scratch.connection);
    const db = await openDatabase({ connection: scratch.connection, clock, log });
    const close = async (): Promise<void> => {
      await db.close();
      await scratch.drop();
    };
    return { db, close };
  } catch (error) {
    await scratch.drop();
    throw error;
  }
}
