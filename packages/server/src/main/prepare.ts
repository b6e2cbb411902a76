import { type Clock, systemClock } from '../platform/time/clock.ts';
import { createLifecycle } from '../platform/async/lifecycle.ts';
import { createLog, type Log } from '../platform/log.ts';
import { connectionsAllowed, type ConnectionSource } from '../platform/db/connections.ts';
import { createScratch } from '../platform/db/scratch.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import { distribute, type DistributeResult } from '../platform/db/distribute.ts';
import { durabilityFaults } from '../platform/db/facts.ts';
import { migrate } from '../platform/db/migrate.ts';
import { schemaState } from '../platform/db/schema-state.ts';
import { maySendEmails } from '../modules/sending/index.ts';
import type { OpenInstallation } from './commands/operator.ts';
import type { Config } from './config.ts';
import { openSendServices } from './open-send-services.ts';
import { connectionsNeeded } from './processes.ts';
import { PRODUCT } from './product.ts';
import { openSecrets, type Secrets, configSecrets } from './secrets.ts';

export type ConnectionSources = {
  connection: ConnectionSource;
  /** For migrations and session locks, which a pooler would break. */
  adminConnection: ConnectionSource;
};

/** Short uses of the database gain nothing from named statements, which a pooler may not support. */
export const FOR_A_MOMENT = { clock: systemClock, namedStatements: false, poolMax: 1 };

/** The location of the data: the embedded PostgreSQL of DATA_DIR, or the database of DATABASE_URL. */
export type DataLocation = ConnectionSources & {
  /** An embedded database has one server; a second one is refused. */
  becomeServer(): Promise<void>;
  release(): Promise<void>;
};

type Voice = { log: Log; print(line: string): void };

export async function openDataLocation(config: Config, voice: Voice): Promise<DataLocation> {
  const { database } = config;
  if (database)
    return {
      ...connectionsTo(database),
      becomeServer: () => Promise.resolve(),
      release: () => Promise.resolve(),
    };
  const { openEmbedded } = await import('@beckon/postgres');
  const embedded = await openEmbedded({
    product: PRODUCT,
    dataDir: config.dataDir,
    backupDir: config.backupDir,
    connections: connectionsNeeded(config),
    ...voice,
  });
  return {
    connection: () => embedded.connection(),
    adminConnection: () => embedded.connection(),
    becomeServer: async () => {
      await embedded.becomeServer();
    },
    release: () => embedded.release(),
  };
}

/** Returns the same location for a supervised process. The supervisor keeps the database running and releases it. */
export async function followDataLocation({ database, dataDir }: Config): Promise<ConnectionSources> {
  if (database) return connectionsTo(database);
  const { followEmbedded } = await import('@beckon/postgres');
  const connection = (): ReturnType<typeof followEmbedded> => followEmbedded(dataDir);
  return { connection, adminConnection: connection };
}

function connectionsTo({ url, adminUrl }: NonNullable<Config['database']>): ConnectionSources {
  return {
    connection: () => ({ connectionString: url }),
    adminConnection: () => ({ connectionString: adminUrl }),
  };
}

/** Opens the database for a command. An empty database is set up; one of an older release is left to `migrate` and `serve`. */
export async function openForCommand(
  config: Config,
  { print, version }: { print: (line: string) => void; version: string },
): Promise<OpenInstallation> {
  const log = createLog('warn', 2, configSecrets(config));
  const location = await openDataLocation(config, { log, print });
  try {
    await requireSchema(location);
    const { connection } = location;
    const namedStatements = config.database?.namedStatements ?? true;
    const db = await openDatabase({ connection, clock: systemClock, log, namedStatements, poolMax: 2 });
    try {
      const secrets = await openSecrets({ db, clock: db.clock }, config);
      const life = createLifecycle(log);
      const { mail, sendServices } = openSendServices(config, secrets.encrypter, db.clock);
      life.onStop('rendering', () => sendServices.renderer.close());
      return {
        db,
        ...secrets,
        mail,
        sendServices,
        installed: { release: { version, node: process.version }, has_model: config.model !== null },
        openScratch: (clock) => openScratch(location, { clock, log }),
        async close() {
          await life.stop();
          await db.close();
          await location.release();
        },
      };
    } catch (error) {
      await db.close();
      throw error;
    }
  } catch (error) {
    await location.release();
    throw error;
  }
}

async function requireSchema({ adminConnection }: DataLocation): Promise<void> {
  const state = await schemaState(adminConnection);
  if (state.kind === 'empty') await migrate(adminConnection);
  if (state.kind === 'refused') throw new Error(`${state.problem}. ${state.next}`);
  if (state.kind === 'older')
    throw new Error(
      `The database is older than this release (not applied: ${state.pending.join(', ')}). Run beckon-server migrate, or start the server, which applies them too`,
    );
}

/** Ensures the conditions for serving: the schema of this release, a durable database, and the correct secret key. */
export async function prepareServer(config: Config, location: DataLocation, log: Log): Promise<Secrets> {
  await location.becomeServer();
  const { applied } = await migrate(location.adminConnection, { log });
  if (applied.length > 0) log.info({ migrations: applied }, 'database.migrated');
  const db = await openDatabase({ ...FOR_A_MOMENT, connection: location.connection, log });
  try {
    const faults = await durabilityFaults(db);
    if (faults.length > 0)
      throw new Error(`This database cannot keep what it acknowledges: ${faults.join('; ')}`);
    await warnOfFewConnections(db, config, log);
    const secrets = await openSecrets({ db, clock: db.clock }, config);
    await warnOfRestore(db, config, log);
    return secrets;
  } finally {
    await db.close();
  }
}

/** Warns of too few connections. A pooler would distribute them itself. */
async function warnOfFewConnections(db: Database, config: Config, log: Log): Promise<void> {
  if (config.database?.namedStatements === false) return;
  const [needed, allowed] = [connectionsNeeded(config), await connectionsAllowed(db)];
  if (needed > allowed)
    log.warn({ connections_needed: needed, connections_allowed: allowed }, 'database.too_few_connections');
}

/** Opens the secrets once the database is ready. The secret key must be correct, or no encrypted value could be decrypted. */
export async function openSecretsAt(
  config: Config,
  { location, log }: { location: ConnectionSources; log: Log },
): Promise<Secrets> {
  const db = await openDatabase({ ...FOR_A_MOMENT, connection: location.connection, log });
  try {
    return await openSecrets({ db, clock: db.clock }, config);
  } finally {
    await db.close();
  }
}

/** The server accepts requests and processes them; only emails wait. */
async function warnOfRestore(db: Database, config: Config, log: Log): Promise<void> {
  if (await maySendEmails({ db, log, restoreGuard: config.restoreGuard })) return;
  log.error({}, 'restore.unconfirmed');
  config.warnings.push(
    'This database was restored or copied, and no email is sent until you confirm it. Run: beckon-server restore status',
  );
}

export async function migrateForCommand(
  config: Config,
  print: (line: string) => void,
): Promise<{ applied: string[] }> {
  const log = createLog('warn', 2, configSecrets(config));
  const location = await openDataLocation(config, { log, print });
  try {
    return await migrate(location.adminConnection, { log });
  } finally {
    await location.release();
  }
}

export async function distributeForCommand(
  config: Config,
  print: (line: string) => void,
): Promise<DistributeResult> {
  const location = await openDataLocation(config, { log: createLog('warn', 2), print });
  try {
    return await distribute(location.adminConnection);
  } finally {
    await location.release();
  }
}

/** Opens a temporary database for work that must not affect the real one. It is migrated like the real one, and dropped on close. */
async function openScratch(
  location: DataLocation,
  { clock, log }: { clock: Clock; log: Log },
): Promise<{ db: Database; close(): Promise<void> }> {
  const scratch = await createScratch(location.adminConnection, clock.now());
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
