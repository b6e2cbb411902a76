import { spawn } from 'node:child_process';
import { mkdtemp, rm, rmdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pg from 'pg';
import type { PostgresLog } from '../src/log.ts';
import { TEST_PRODUCT } from './product.ts';
import { silentLog } from './silent-log.ts';
import { type Embedded, openEmbedded } from '../src/embedded.ts';
import { readFacts } from '../src/facts.ts';
import { readPidFile } from '../src/postmaster.ts';
import { fallbackFolderFor } from '../src/product.ts';
import { commandOf } from '../src/process-command.ts';
import { waitUntil } from '../src/wait-until.ts';

/** A DATA_DIR for one test, and its users; `clear` leaves neither a process nor a folder, however the test ended. */
export type TestDirectory = {
  dataDir: string;
  printed: string[];
  open(log?: PostgresLog): Promise<Embedded>;
  startUser(): Promise<User>;
  clear(): Promise<void>;
};

/** Another process that uses the directory. It executes each line of its input, and answers with one line. */
type User = {
  pid: number;
  say(line: 'server' | 'release' | 'ping'): Promise<string>;
  /** Returns unsolicited output: `interrupted`. */
  hear(): Promise<string>;
  /** Signals its whole process group, as a terminal does. */
  signalGroup(signal: NodeJS.Signals): void;
  ended: Promise<void>;
};

export async function makeTestDirectory(dataDir?: string): Promise<TestDirectory> {
  const base = dataDir ?? (await mkdtemp(join(tmpdir(), 'beckon-embedded-')));
  const opened: Embedded[] = [];
  const users: User[] = [];
  const printed: string[] = [];
  return {
    dataDir: base,
    printed,
    async open(log = silentLog) {
      const print = (line: string): void => void printed.push(line);
      const embedded = await openEmbedded({ product: TEST_PRODUCT, dataDir: base, log, print });
      opened.push(embedded);
      return embedded;
    },
    async startUser() {
      const user = await startUser(base);
      users.push(user);
      return user;
    },
    async clear() {
      for (const user of users) user.signalGroup('SIGKILL');
      await Promise.all(users.map((user) => user.ended));
      for (const embedded of opened) await embedded.release();
      const data = clusterOf(base);
      const pid = readPidFile(data)?.pid;
      if (pid && (await commandOf(pid))?.includes(`-D ${data}`)) process.kill(pid, 'SIGQUIT');
      if (pid) await soon(async () => (await commandOf(pid))?.includes(data) !== true);
      await rm(base, { recursive: true, force: true });
      await rm(fallbackFolderFor(base, TEST_PRODUCT), { recursive: true, force: true });
      // Removes the folder only if it is empty, because others may use it.
      await rmdir(dirname(fallbackFolderFor(base, TEST_PRODUCT))).catch(() => {});
    },
  };
}

export function clusterOf(dataDir: string): string {
  return resolve(dataDir, readFacts(dataDir)?.data ?? 'postgres');
}

/** Returns the pid of the running postmaster; undefined if none runs. */
export async function livingPostmaster(dataDir: string): Promise<number | undefined> {
  const data = clusterOf(dataDir);
  const pid = readPidFile(data)?.pid;
  return pid && (await commandOf(pid))?.includes(`-D ${data} `) ? pid : undefined;
}

const DEADLINE_MS = 20_000;

/** Waits for a condition, never for a time. */
export async function soon(condition: () => Promise<boolean> | boolean): Promise<void> {
  const met = await waitUntil(async () => ((await condition()) ? true : undefined), {
    everyMs: 10,
    forMs: DEADLINE_MS,
  });
  if (!met) throw new Error(`not within ${DEADLINE_MS} ms: ${condition.toString()}`);
}

export async function queryEmbedded<R extends object>(embedded: Embedded, text: string): Promise<R[]> {
  const client = new pg.Client(embedded.connection());
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

export async function isResponding(embedded: Embedded): Promise<boolean> {
  return queryEmbedded(embedded, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

const USER_PROGRAM = `
import { createInterface } from 'node:readline';
import { openEmbedded } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
const log = { debug() {}, info() {}, warn() {}, error() {} };
process.on('SIGINT', () => console.log('interrupted'));
const embedded = await openEmbedded({ product: ${JSON.stringify(TEST_PRODUCT)}, dataDir: process.argv.at(-1), log, print() {} });
const moves = { ping: async () => {}, server: () => embedded.becomeServer(), release: () => embedded.release() };
console.log('open');
for await (const line of createInterface({ input: process.stdin })) {
  await moves[line]().then(() => console.log('done ' + line), (error) => console.log(error.code + ': ' + error.message));
  if (line === 'release') break;
}
process.exit();
`;

async function startUser(dataDir: string): Promise<User> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', USER_PROGRAM, dataDir], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const pid = child.pid ?? 0;
  const first = await next();
  if (first !== 'open') throw new Error(`the other user said: ${first}`);
  return {
    pid,
    async say(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    hear: next,
    signalGroup(signal) {
      try {
        process.kill(-pid, signal);
      } catch {
        // It has already ended, which was the purpose of the signal.
      }
    },
    ended,
  };
}
