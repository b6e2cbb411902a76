import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ENDPOINTS } from '@beckon/contract';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { deriveKey } from '../../packages/server/src/base/hash.ts';
import { silentLog } from '../../packages/server/src/base/log.ts';
import { createKey } from '../../packages/server/src/flows/create-key.ts';
import { createProject } from '../../packages/server/src/flows/create-project.ts';
import { type Database, openDatabase } from '../../packages/server/src/io/db/index.ts';
import { openEmbedded } from '../../packages/server/src/io/embedded/index.ts';
import { postgresPid } from '../measure.ts';

/** The product as it is run, beside a bare route: each in a process of its own, over one embedded PostgreSQL. */
export type Stage = {
  real: Target;
  bare: Target;
  postgresPid: number;
  db: Database;
  project(): Promise<{ id: number; secret: string }>;
  close(): Promise<void>;
};
export type Target = { port: number; pid: number };

const SECRET = 'a secret that only this run of the bench knows';
const REPOSITORY = join(import.meta.dirname, '../..');

export async function openStage(): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-bench-'));
  const embedded = await openEmbedded({ dataDir, log: silentLog, print: console.log });
  const { host, port, user, password, database } = embedded.connection();
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const [realPort, barePort] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    DATABASE_URL: url,
    SECRET_KEY: SECRET,
    LOG_LEVEL: 'warn',
    PORT: String(realPort),
  };
  const real = await launch(['packages/server/src/main/main.ts', 'serve'], {
    env,
    readyWhen: 'Beckon is ready',
  });
  const bare = await launch(['bench/accept/bare.ts', String(barePort)], { env, readyWhen: 'ready' });
  const db = await openDatabase({
    connection: () => ({ connectionString: url }),
    clock: systemClock,
    log: silentLog,
  });
  return {
    real: { port: realPort, pid: real.pid ?? 0 },
    bare: { port: barePort, pid: bare.pid ?? 0 },
    postgresPid: postgresPid(join(dataDir, 'postgres')),
    db,
    project: () => makeProject(db),
    async close() {
      await Promise.all([end(real), end(bare)]);
      await db.close();
      await embedded.release();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Limits are on, as in life, but none is met. */
async function makeProject(db: Database): Promise<{ id: number; secret: string }> {
  const { id } = await createProject(db, { name: 'bench' });
  const { secret } = await createKey(
    { db, pepper: deriveKey(SECRET, 'api-key pepper') },
    { projectId: id, label: 'bench' },
  );
  await db.query(
    `UPDATE beckon.rate_limit SET rate = 1e6, burst = 1e6, tokens = 1e6 WHERE project_id = $1 AND endpoint = ANY($2)`,
    [id, ENDPOINTS],
  );
  return { id, secret };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

type Launch = { env: NodeJS.ProcessEnv; readyWhen: string };

async function launch(args: string[], { env, readyWhen }: Launch): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(readyWhen)) break;
  child.stdout.resume();
  if (child.exitCode !== null) throw new Error(`${args.join(' ')} did not start`);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
