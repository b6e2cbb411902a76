import pg from 'pg';
import { TEST_PRODUCT } from './product.ts';
import { silentLog } from './silent-log.ts';
import type { EmbeddedConnection } from '../src/embedded.ts';
import { readFacts } from '../src/facts.ts';
import { openHome } from '../src/home.ts';
import { initializeCluster } from '../src/initialize-cluster.ts';
import { stopPostmaster } from '../src/postmaster.ts';
import { startPostmaster } from '../src/start-postmaster.ts';
import { oldBinaries } from '../src/upgrade/versions.ts';

/** The version that a release before this one contained. */
export const OLD_MAJOR = 17;

/** Creates the state left by an older release: a cluster of its PostgreSQL, stopped, with the database that `fill` writes. */
export async function makeOldCluster(
  dataDir: string,
  fill: (connection: EmbeddedConnection) => Promise<void>,
): Promise<void> {
  const options = { product: TEST_PRODUCT, dataDir, log: silentLog, print: () => {} };
  const home = await openHome({ ...options, binaries: oldBinaries(OLD_MAJOR) });
  await initializeCluster(home);
  const started = await startPostmaster(home);
  if (started.kind !== 'started') throw new Error(started.why);
  const facts = readFacts(dataDir);
  if (!facts) throw new Error('postgres.json has vanished');
  const { user, password, database } = facts;
  const at: EmbeddedConnection = {
    host: '127.0.0.1',
    port: started.file.port,
    user,
    password,
    database,
    ssl: false,
  };
  await runIn({ ...at, database: 'postgres' }, `CREATE DATABASE ${database} TEMPLATE template0`);
  await fill(at);
  await stopPostmaster(home, started.file.pid);
}

/** Runs statements in a database. */
export async function runIn(connection: EmbeddedConnection, text: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(text);
  await client.end();
}
