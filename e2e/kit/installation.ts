import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { freePort } from '../../packages/server/testing/servers/free-port.ts';
import { madeOnce } from './made-once.ts';

/** A server with its own data directory, and both programs. */
export type Installation = {
  url: string;
  dataDir: string;
  /** The setup link that it printed at its first start. */
  setupLink: string;
  /** Runs a command of `beckon-server`. */
  command<T>(...args: string[]): Promise<T>;
  /** Runs a command of `beckon`, over the local socket. */
  product<T>(...args: string[]): Promise<T>;
  /** Runs text in a shell, and returns the output. */
  shell(text: string): Promise<string>;
  /** Runs a statement in its database, for states that need time. */
  sql(text: string): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it, and deletes its directory. */
  remove(): Promise<void>;
};

const MAIN = new URL('../../packages/server/src/main/main.ts', import.meta.url).pathname;
const COMMAND_LINE = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname;

type Environment = Record<string, string>;

/** Starts an installation without an account. The first of a run creates the database, and the others copy it. */
export async function newInstallation(more: Environment = {}): Promise<Installation> {
  const copyOf = await madeOnce('installation', async (folder) => {
    const installation = await emptyInstallation();
    await installation.stop();
    const dataDir = join(folder, 'data');
    await rename(installation.dataDir, dataDir);
    return dataDir;
  });
  return startInstallation({ more, copyOf, isSetUp: false });
}

/** Starts an installation from an empty directory, as a new user does. */
export function emptyInstallation(more: Environment = {}): Promise<Installation> {
  return startInstallation({ more, copyOf: null, isSetUp: false });
}

/** Starts a copy of a stopped installation that was set up. */
export function copyInstallation(dataDir: string): Promise<Installation> {
  return startInstallation({ more: {}, copyOf: dataDir, isSetUp: true });
}

type Start = { more: Environment; copyOf: string | null; isSetUp: boolean };

async function startInstallation({ more, copyOf, isSetUp }: Start): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-e2e-'));
  const port = await freePort();
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: String(port),
    MAIL_IN_PORT: '0',
    LOG_LEVEL: 'warn',
    ...more,
  };
  let server: ChildProcess | null = null;
  const installation: Installation = {
    url: `http://localhost:${port}`,
    dataDir,
    setupLink: '',
    command: (...args) => runJson(MAIN, args),
    product: (...args) => runJson(COMMAND_LINE, args),
    shell,
    sql,
    stop,
    kill,
    start,
    remove,
  };

  async function start(): Promise<void> {
    server = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
    let isReady = false;
    for await (const line of lines) {
      installation.setupLink = /https?:\S+\/setup\?\S+/.exec(line)?.[0] ?? installation.setupLink;
      isReady ||= line.includes('Beckon is ready');
      if (isReady && (installation.setupLink !== '' || isSetUp)) break;
    }
    if (!isReady) throw new Error('the server did not start');
    server.stdout?.resume();
    await pageBuilt(installation.url);
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  }
  function stop(): Promise<void> {
    return end('SIGTERM');
  }
  function kill(): Promise<void> {
    return end('SIGKILL');
  }

  async function runJson<T>(program: string, args: string[]): Promise<T> {
    return JSON.parse(await run(process.execPath, [program, ...args, '--json'])) as T;
  }
  function shell(text: string): Promise<string> {
    return run('bash', ['-c', text]);
  }
  async function run(program: string, args: string[]): Promise<string> {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, 'close')) as [number];
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    return Buffer.concat(chunks).toString();
  }

  /** Two copies with the same port and password could connect to each other's PostgreSQL. */
  async function copyData(from: string): Promise<void> {
    // PostgreSQL requires the owner and the mode of its files.
    await run('cp', ['-a', `${from}/.`, dataDir]);
    const path = join(dataDir, 'postgres.json');
    const facts = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...facts, port: await freePort() }));
  }

  async function sql(text: string): Promise<void> {
    const facts = JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8')) as pg.ClientConfig;
    const { user, password, database, port: databasePort } = facts;
    const client = new pg.Client({ user, password, database, port: databasePort, host: '127.0.0.1' });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }

  async function remove(): Promise<void> {
    await stop();
    await rm(dataDir, { recursive: true, force: true });
  }

  if (copyOf !== null) await copyData(copyOf);
  await start();
  return installation;
}

/** Waits for the dashboard to be built. After a change of its sources the API is served first, and the page says when to retry. */
async function pageBuilt(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/sign-in`);
    await response.arrayBuffer();
    if (response.status === 200) return;
    const afterS = Number(response.headers.get('retry-after'));
    if (response.status !== 503 || !(afterS > 0)) throw new Error(`the page answered ${response.status}`);
    await new Promise((resolve) => {
      setTimeout(resolve, afterS * 1_000);
    });
  }
}
