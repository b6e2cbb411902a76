import { execFile, spawn } from 'node:child_process';
import { chmod, chown, copyFile, open, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { archiveSettings, readyClusterArchive } from './backup/archive.ts';
import { readSystemId } from './backup/system-id.ts';
import { program } from './binaries.ts';
import { readFacts, savePort } from './facts.ts';
import { type Home, logPath } from './home.ts';
import { CLEAN_ENVIRONMENT } from './initialize-cluster.ts';
import { CONFLICT, lockedBy, lockWords } from './lock-cluster.ts';
import { type PidFile, readPidFile } from './postmaster.ts';
import { confName } from './product.ts';
import { renderArguments, renderConf, requirements, tunables } from './settings.ts';
import { draftOf } from './sweep-partials.ts';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

type Start =
  | { kind: 'started'; file: PidFile }
  /** Another starter, the remains of a dead postmaster or a process on our port were in the way: a retry may succeed soon. */
  | { kind: 'later'; why: string; isLocked?: boolean }
  | { kind: 'failed'; why: string };

/** Recovery after a crash replays at most max_wal_size; a slow disk may need minutes for it. */
export const START_MAX_MS = 10 * 60 * 1000;
const LOOK_EVERY_MS = 10;
const REPORT_EVERY_MS = 30_000;
const TAIL_BYTES = 4_000;

const PASSING = [
  'lock file "postmaster.pid" already exists',
  'lock file "postmaster.pid" is empty',
  'pre-existing shared memory block',
  'could not bind',
  'could not create any TCP/IP sockets',
  `it ended with ${CONFLICT};`,
];

type StartOptions = {
  signal?: AbortSignal | undefined;
  /** For this start only. */
  settings?: Record<string, string>;
  /** If set, waits as long as PostgreSQL runs, because it replays all archived WAL. Called from time to time with the end of its output. */
  onReplay?: (output: string) => void;
};

/** Starts a postmaster that outlives this process, and waits until it accepts connections. */
export async function startPostmaster(home: Home, options: StartOptions = {}): Promise<Start> {
  const { signal, settings = {}, onReplay } = options;
  const lock = await lockWords(home);
  if (lock === null) return { kind: 'later', why: lockedBy(home.data).message, isLocked: true };
  const port = await choosePort(readFacts(home.dataDir)?.port);
  const conf = await writeConf(home);
  await boundLog(logPath(home));
  const log = await open(logPath(home), 'a', 0o600);
  try {
    if (home.owner) await log.chown(home.owner.uid, home.owner.gid);
    const { size } = await log.stat();
    const args = [
      '-D',
      home.data,
      '-c',
      `config_file=${conf}`,
      ...renderArguments({ ...requirements(port), ...settings }),
    ];
    const [command = '', ...rest] = [...lock, program(home.native, 'postgres'), ...args];
    const child = spawn(command, rest, {
      // A separate session: Ctrl-C on our terminal reaches only this process, which stops PostgreSQL last.
      detached: true,
      windowsHide: true,
      cwd: home.data,
      env: CLEAN_ENVIRONMENT,
      stdio: ['ignore', log.fd, log.fd],
      ...(home.runAs && { uid: home.runAs.uid, gid: home.runAs.gid }),
    });
    child.unref();
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
    });
    return await watchStart(home, { pid: child.pid, ended, logOffset: size, signal, onReplay });
  } finally {
    await log.close();
  }
}

type Attempt = {
  pid: number | undefined;
  ended: Promise<string>;
  logOffset: number;
  signal: AbortSignal | undefined;
  onReplay: StartOptions['onReplay'];
};

async function watchStart(home: Home, attempt: Attempt): Promise<Start> {
  let end: string | undefined;
  void attempt.ended.then((exit) => (end = exit));
  const { onReplay, logOffset } = attempt;
  const reportReplay =
    onReplay && everyNow(async () => onReplay(await readTail(logPath(home), logOffset)), REPORT_EVERY_MS);
  const outcome = await waitUntil(
    async () => {
      const file = readPidFile(home.data);
      if (file && file.pid === attempt.pid && file.status === 'ready') return file;
      await reportReplay?.();
      return end;
    },
    { everyMs: LOOK_EVERY_MS, forMs: onReplay ? Infinity : START_MAX_MS, signal: attempt.signal },
  );
  if (typeof outcome === 'object') {
    savePort(home.dataDir, outcome.port, home.owner);
    return { kind: 'started', file: outcome };
  }
  const output = await readTail(logPath(home), logOffset);
  const why = `${outcome ?? 'it was not ready in time'}; ${logPath(home)} says: ${output.trim()}`;
  return { kind: PASSING.some((text) => why.includes(text)) ? 'later' : 'failed', why };
}

/** Throttles a function: calls within the interval do nothing. */
function everyNow(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < everyMs) return;
    last = performance.now();
    await work();
  };
}

/** Reuses the last port if it is free, so that tools configured for it keep working. */
async function choosePort(last: number | undefined): Promise<number> {
  return (last !== undefined && (await tryPort(last))) || (await tryPort(0)) || 0;
}

/** Returns the port if it is free, 0 if not. */
function tryPort(port: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(0));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = probe.address();
      const had = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(had));
    });
  });
}

/** In the cluster's folder, because PostgreSQL's account may be unable to read DATA_DIR. */
async function writeConf(home: Home): Promise<string> {
  const conf = join(home.data, confName(home.product));
  const draft = draftOf(conf);
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const { connections } = home;
  const settings = tunables({ memoryBytes, walCompression: await bestCompression(home), connections });
  await writeFile(draft, renderConf(home.product, { ...settings, ...(await archiveOf(home)) }));
  const { uid, gid } = await stat(home.data);
  if (home.runAs) await chown(draft, uid, gid);
  await chmod(draft, 0o600);
  await rename(draft, conf);
  return conf;
}

async function archiveOf({ archive, data, runAs }: Home): Promise<Record<string, string>> {
  if (archive === null) return {};
  return archiveSettings(await readyClusterArchive(archive, { systemId: await readSystemId(data), runAs }));
}

/**
 * lz4 is cheap, but not every build supports it; checking takes 6 ms. Without lz4 there is no compression: pglz costs CPU time in the
 * insert that first touches a page after a checkpoint. The accept benchmark did not improve with it.
 */
async function bestCompression(home: Home): Promise<string> {
  const args = ['-D', home.data, '-C', 'wal_compression', '-c', 'wal_compression=lz4'];
  return run(program(home.native, 'postgres'), args, {
    cwd: home.data,
    env: CLEAN_ENVIRONMENT,
    windowsHide: true,
    ...(home.runAs && { uid: home.runAs.uid, gid: home.runAs.gid }),
  }).then(
    () => 'lz4',
    () => 'off',
  );
}

async function readTail(path: string, from: number): Promise<string> {
  const text = await readFile(path).catch(() => Buffer.alloc(0));
  return text.subarray(Math.max(Math.min(from, text.length), text.length - TAIL_BYTES)).toString();
}

const LOG_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Keeps `postgres.log` small, with one older copy beside it. It is truncated in place and not renamed: PostgreSQL has the file open in
 * append mode, and continues at the new end.
 */
export async function boundLog(path: string, maxBytes = LOG_MAX_BYTES): Promise<void> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}
