import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NAME = 'beckon-tests-';
/** PostgreSQL keeps up to 4 GB of its log. A container has only 64 MB here by default. */
const ENOUGH_BYTES = 6 * 1024 ** 3;

/**
 * Prepares the temporary files of one run of the tests. All workers and the programs that they start inherit both variables. The files
 * are in memory if there is enough: initdb syncs 1,000 files, and PostgreSQL waits for the disk at each commit. Its settings remain those
 * of production. Set TMPDIR to choose another folder.
 */
export default function setup(): (() => void) | undefined {
  // Programs load their compiled modules from here, and so start with half of the CPU time.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'beckon-compile-cache');
  if (process.env.TMPDIR !== undefined || !hasEnoughMemory()) return undefined;
  for (const name of readdirSync(MEMORY)) if (isAbandoned(name)) remove(join(MEMORY, name));
  const folder = join(MEMORY, `${NAME}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  // As /tmp: other accounts write to it too, such as that of PostgreSQL.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => remove(folder);
}

function hasEnoughMemory(): boolean {
  if (process.platform !== 'linux' || !existsSync(MEMORY)) return false;
  const [, options = 'noexec'] =
    new RegExp(`^\\S+ ${MEMORY} tmpfs (\\S+)`, 'm').exec(read('/proc/mounts')) ?? [];
  // Tests execute programs that they write.
  if (options.split(',').includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  const [, availableKb = '0'] = /^MemAvailable: +(\d+) kB/m.exec(read('/proc/meminfo')) ?? [];
  const limit = process.constrainedMemory() || Infinity;
  return Math.min(bavail * bsize, Number(availableKb) * 1024, limit) >= ENOUGH_BYTES;
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

const UNUSED_FOR_MS = 3_600_000;

/** A run that was killed leaves its folder. That of a run in another container has no process here, but changes all the time. */
function isAbandoned(name: string): boolean {
  if (!name.startsWith(NAME) || existsSync(`/proc/${name.slice(NAME.length)}`)) return false;
  const { mtimeMs = Date.now() } = statSync(join(MEMORY, name), { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > UNUSED_FOR_MS;
}

/** The folder of another user stays. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}
