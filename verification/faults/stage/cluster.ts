import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { PRODUCT } from '../../../packages/server/src/main/product.ts';
import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { readFacts, savePort } from '../../../packages/postgres/src/facts.ts';
import { openHome } from '../../../packages/postgres/src/home.ts';
import { initializeCluster } from '../../../packages/postgres/src/initialize-cluster.ts';
import { readPidFile, sendSignal, stopPostmaster } from '../../../packages/postgres/src/postmaster.ts';
import { startPostmaster } from '../../../packages/postgres/src/start-postmaster.ts';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import type { Stage } from '../fault.ts';
import { mountOwnDisk } from '../inject/own-disk.ts';

/** A PostgreSQL of its own, with the settings of the embedded one but without supervision. */
export type Cluster = Stage['postgres'] & {
  /** Stays the same over restarts. */
  port: number;
  url(user?: Login): string;
  /** Creates a login with the rights of the owner, so that its connections can be identified. */
  addLogin(name: string): Promise<Login>;
  isUp(): boolean;
  settings(): Promise<Record<string, string>>;
  stop(): Promise<void>;
};
export type Login = { user: string; password: string };

const EXIT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Too many connections, or starting up or shutting down. */
const TRANSIENT = ['53300', '57P03'];
const SETTINGS = ['server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'max_connections'];

export async function openCluster(dir: string): Promise<Cluster> {
  const folder = join(dir, 'postgres');
  await mkdir(folder, { recursive: true });
  const disk = await mountOwnDisk(folder);
  const home = await openHome({ product: PRODUCT, dataDir: folder, log: silentLog, print: () => {} });
  await initializeCluster(home);
  // Uses a port that no outgoing connection gets by chance, because many clients try it while PostgreSQL is down.
  if (readFacts(home.dataDir)?.port === undefined) savePort(home.dataDir, await freePort(), home.owner);
  const facts = readFacts(home.dataDir);
  if (!facts?.port) throw new Error('the facts of the cluster are missing');
  const { port } = facts;
  const owner: Login = { user: facts.user, password: facts.password };
  const url = (login = owner): string =>
    `postgres://${login.user}:${login.password}@127.0.0.1:${port}/${facts.database}`;
  const pid = (): number | null => readPidFile(home.data)?.pid ?? null;

  async function start(): Promise<void> {
    const giveUpAt = Date.now() + 60_000;
    for (;;) {
      const started = await startPostmaster(home);
      if (started.kind === 'started') break;
      if (started.kind === 'failed' || Date.now() > giveUpAt) throw new Error(started.why);
      await pause(200);
    }
    if (readFacts(home.dataDir)?.port !== port) throw new Error('PostgreSQL restarted on another port');
  }

  /** Waits for a database that is out of connections or starting up. */
  async function client(): Promise<pg.Client> {
    for (const giveUpAt = Date.now() + CONNECT_TIMEOUT_MS; ; await pause(200)) {
      const connection = new pg.Client(url());
      connection.on('error', () => {});
      try {
        await connection.connect();
        return connection;
      } catch (error) {
        await connection.end().catch(() => {});
        if (!isTransient(error) || Date.now() > giveUpAt) throw error;
      }
    }
  }

  async function withClient<T>(work: (connection: pg.Client) => Promise<T>): Promise<T> {
    const open = await client();
    return work(open).finally(() => void open.end().catch(() => {}));
  }

  async function signalPostmaster(signal: (postmaster: number) => Promise<void> | void): Promise<void> {
    const postmaster = pid();
    if (postmaster === null) return;
    await signal(postmaster);
    const giveUpAt = Date.now() + EXIT_TIMEOUT_MS;
    while (isAlive(postmaster) && Date.now() < giveUpAt) await pause(10);
  }

  process.once('exit', () => {
    const postmaster = pid();
    if (postmaster !== null && isAlive(postmaster)) process.kill(postmaster, 'SIGQUIT');
  });
  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    const postmaster = pid();
    if (postmaster !== null && isAlive(postmaster)) await stopPostmaster(home, postmaster);
    await disk?.unmount();
  }

  await start();
  await ensureDatabase({ ...owner, host: '127.0.0.1', port }, facts.database);
  return {
    dataDir: home.data,
    port,
    url,
    client,
    start,
    killTree: () => signalPostmaster(killTree),
    stopImmediately: () =>
      signalPostmaster((postmaster) => sendSignal(home, { pid: postmaster, signal: 'QUIT' })),
    isUp() {
      const postmaster = pid();
      return postmaster !== null && isAlive(postmaster);
    },
    async addLogin(name) {
      const login = { user: name.replaceAll('-', '_'), password: facts.password };
      await withClient(async (connection) => {
        await connection.query(
          `CREATE ROLE ${login.user} LOGIN PASSWORD '${login.password}' IN ROLE ${owner.user}`,
        );
        await connection.query(`ALTER ROLE ${login.user} SET role = '${owner.user}'`);
      });
      return login;
    },
    settings: () =>
      withClient(async (connection) => {
        const { rows } = await connection.query<{ name: string; setting: string }>(
          `SELECT name, setting FROM pg_settings WHERE name = ANY ($1)`,
          [SETTINGS],
        );
        return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
      }),
    stop: () => (stopping ??= stop()),
  };
}

async function ensureDatabase(connection: pg.ClientConfig, name: string): Promise<void> {
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  try {
    const { rowCount } = await admin.query(`SELECT 1 FROM pg_database WHERE datname = $1`, [name]);
    if (rowCount === 0) await admin.query(`CREATE DATABASE ${name}`);
  } finally {
    await admin.end();
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TRANSIENT.includes(String(error.code));
}

/** Kills all processes at once, so that none of them writes anything more. */
function killTree(postmaster: number): void {
  for (const pid of [postmaster, ...childrenOf(postmaster)]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has exited already: the death of the postmaster ends its children.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    // A zombie that its parent has not reaped yet does nothing any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
