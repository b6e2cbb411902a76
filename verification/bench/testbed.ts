import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ENDPOINTS } from '@beckon/contract';
import { PRODUCT } from '../../packages/server/src/main/product.ts';
import { systemClock } from '../../packages/server/src/platform/time/clock.ts';
import { deriveKey } from '../../packages/server/src/platform/crypto/hash.ts';
import { silentLog } from '../../packages/server/src/platform/log.ts';
import { createEncrypter, type Encrypter } from '../../packages/server/src/platform/crypto/encrypt.ts';
import { createKey } from '../../packages/server/src/modules/ingest/keys/change-key.ts';
import { createProject } from '../../packages/server/src/modules/administration/create-project.ts';
import { type Database, openDatabase } from '../../packages/server/src/platform/db/database.ts';
import { openEmbedded } from '../../packages/postgres/src/index.ts';
import { freePort } from '../../packages/server/testing/servers/free-port.ts';
import { postgresPid } from './measure.ts';

/** The base of every benchmark: an embedded PostgreSQL in a temporary directory, and the product in processes of its own. */
export type Testbed = {
  db: Database;
  url: string;
  postgresPid: number;
  /** The same as the product's, for secrets that are written into its tables. */
  encrypter: Encrypter;
  /** The product's, for hashes of API keys that are written into its tables. */
  pepper: Uint8Array;
  /** Creates a project with a key and rate limits. The limits are on, as in production, but too high to be reached. */
  project(): Promise<Project>;
  /** Starts the product as it runs in production. One testbed may have several, each with some of the roles. */
  serve(roles: 'api' | 'worker' | 'all', options?: ServeOptions): Promise<Server>;
  /** Starts any other script of ours on a port of its own. It prints `ready`. */
  script(path: string): Promise<Server>;
  /** Ends everything that was started here, PostgreSQL last. */
  close(): Promise<void>;
};
export type Project = { id: number; secret: string };
export type Target = { port: number; pid: number };
export type Server = Target & { stop(): Promise<void> };
/** Options of Node itself, such as `--cpu-prof`, and additional environment variables. */
export type ServeOptions = { nodeOptions?: string[]; env?: NodeJS.ProcessEnv };

const SECRET = 'a secret that only this run of the bench knows';
const PEPPER = deriveKey(SECRET, 'api-key pepper');
const REPOSITORY = join(import.meta.dirname, '../..');
const MAIN = 'packages/server/src/main/main.ts';

export async function openTestbed(): Promise<Testbed> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-bench-'));
  const embedded = await openEmbedded({ product: PRODUCT, dataDir, log: silentLog, print: console.log });
  const { host, port, user, password, database } = embedded.connection();
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const children: ChildProcess[] = [];
  let closing: Promise<void> | null = null;
  // Migrates here once, before several processes start.
  await migrate(url);
  const db = await openDatabase({
    connection: () => ({ connectionString: url }),
    clock: systemClock,
    log: silentLog,
  });
  async function start(args: string[], { readyWhen, ...env }: StartOptions): Promise<Server> {
    const freePortNumber = await freePort();
    const child = await launchServer(args, {
      env: { ...environment(url), MAIL_IN_PORT: '0', ...env, PORT: String(freePortNumber) },
      readyWhen,
    });
    children.push(child);
    return { port: freePortNumber, pid: child.pid ?? 0, stop: () => stopProcess(child) };
  }
  const close = (): Promise<void> => (closing ??= closeAll());
  async function closeAll(): Promise<void> {
    removeHandlers();
    await Promise.all(children.map(stopProcess));
    await db.close();
    await embedded.release();
    await rm(dataDir, { recursive: true, force: true });
  }
  const removeHandlers = onInterrupt(close);
  return {
    db,
    url,
    postgresPid: postgresPid(join(dataDir, 'postgres')),
    encrypter: createEncrypter(SECRET, null, 'secrets at rest'),
    pepper: PEPPER,
    project: () => makeProject(db),
    serve: (roles, { nodeOptions = [], env = {} } = {}) =>
      start([...nodeOptions, MAIN, 'serve'], { ...env, ROLES: roles, readyWhen: 'Beckon is ready' }),
    script: (path) => start([path], { readyWhen: 'ready' }),
    close,
  };
}

/** Removes processes and directories when a benchmark is interrupted. */
function onInterrupt(close: () => Promise<void>): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const closeAndExit = (): void => void close().finally(() => process.exit(1));
  for (const signal of signals) process.on(signal, closeAndExit);
  return () => {
    for (const signal of signals) process.off(signal, closeAndExit);
  };
}

function environment(url: string): NodeJS.ProcessEnv {
  return { ...process.env, DATABASE_URL: url, SECRET_KEY: SECRET, LOG_LEVEL: 'warn', LOCAL_SHELL: 'off' };
}

async function migrate(url: string): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'migrate'], {
    cwd: REPOSITORY,
    env: environment(url),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`migrate ended with ${code}`);
}

async function makeProject(db: Database): Promise<Project> {
  const { id } = await createProject(db, { name: 'bench' });
  const { secret } = await createKey({ db, pepper: PEPPER }, { projectId: id, label: 'bench' });
  await db.query(
    `UPDATE beckon.rate_limit SET rate = 1e6, burst = 1e6, tokens = 1e6 WHERE project_id = $1 AND endpoint = ANY($2)`,
    [id, ENDPOINTS],
  );
  return { id, secret };
}

type StartOptions = NodeJS.ProcessEnv & { readyWhen: string };
type Launch = { env: NodeJS.ProcessEnv; readyWhen: string };

async function launchServer(args: string[], { env, readyWhen }: Launch): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let ready = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if ((ready = line.includes(readyWhen))) break;
  }
  if (!ready) throw new Error(`${args.join(' ')} did not start`);
  child.stdout.resume();
  return child;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
