import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EmbeddedFailure } from './failure.ts';
import type { Home } from './home.ts';
import { CLEAN_ENVIRONMENT } from './initialize-cluster.ts';

/**
 * Process numbers and shared memory, by which PostgreSQL knows that another one serves its files, end at the wall of a container. A lock
 * of the kernel on the cluster's folder does not: `flock` takes it, becomes PostgreSQL, and every process of that holds it.
 */
const FLOCK = '/usr/bin/flock';
/** Whoever has not had the lock ends with it; PostgreSQL ends with none such. */
export const CONFLICT = 75;
/** Who has just ended lets go of it a blink after its command line has gone. */
const WAIT_S = '0.2';

/** What to say before a command, so that it holds the lock: nothing where there is no `flock`, or none for these files. Null: another one has it. */
export async function lockWords(home: Home): Promise<string[] | null> {
  const asked = await askLock(home);
  return asked === 'held' ? null : asked === 'free' ? words(home) : [];
}

/** Also for a moment after the death of a postmaster: until its last process has noticed. */
export async function isLocked(home: Home): Promise<boolean> {
  return (await askLock(home)) === 'held';
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

async function askLock(home: Home): Promise<'free' | 'held' | 'none'> {
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
