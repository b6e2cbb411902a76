import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EmbeddedFailure } from './failure.ts';
import type { Home } from './home.ts';
import { CLEAN_ENVIRONMENT } from './initialize-cluster.ts';

/**
 * PostgreSQL detects another postmaster on its files by process ids and shared memory, which do not reach beyond a container. A kernel lock
 * on the cluster's folder does: `flock` takes it and becomes PostgreSQL, whose processes all hold it.
 */
const FLOCK = '/usr/bin/flock';
/** The exit code of `flock` without the lock; PostgreSQL never uses it. */
export const CONFLICT = 75;
/** A process that has just ended releases the lock shortly after its command line disappears. */
const WAIT_S = '0.2';

/**
 * Returns the words in front of a command that make it hold the lock. Empty if there is no `flock`, or no support for these files. Null if
 * another process has the lock.
 */
export async function lockWords(home: Home): Promise<string[] | null> {
  const state = await readLockState(home);
  return state === 'held' ? null : state === 'free' ? words(home) : [];
}

/** Also returns true shortly after the death of a postmaster, until its last process ends. */
export async function isLocked(home: Home): Promise<boolean> {
  return (await readLockState(home)) === 'held';
}

export function lockedBy(data: string): EmbeddedFailure {
  return new EmbeddedFailure(
    'another_server',
    `Another PostgreSQL, perhaps in another container, uses ${data}. Stop it first. Run commands inside the container of the server: docker exec`,
  );
}

function words({ data }: Home): string[] {
  return [FLOCK, '--no-fork', '--timeout', WAIT_S, '--conflict-exit-code', String(CONFLICT), data];
}

async function readLockState(home: Home): Promise<'free' | 'held' | 'none'> {
  if (process.platform !== 'linux') return 'none';
  const { runAs } = home;
  const [flock = FLOCK, ...args] = words(home);
  return promisify(execFile)(flock, [...args, 'true'], {
    cwd: home.data,
    env: CLEAN_ENVIRONMENT,
    ...(runAs && { uid: runAs.uid, gid: runAs.gid }),
  }).then(
    () => 'free' as const,
    (error: { code?: unknown }) => (error.code === CONFLICT ? ('held' as const) : ('none' as const)),
  );
}
