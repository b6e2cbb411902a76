import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { program } from './binaries.ts';
import { readFacts } from './facts.ts';
import { EmbeddedFailure } from './failure.ts';
import { type Home, isInitialized } from './home.ts';
import { draftOf, INITDB_PID } from './sweep-partials.ts';

/**
 * Creates the cluster in a sibling folder and renames it into place, so that a partial cluster never appears there. If two starters run
 * concurrently, one rename succeeds; the other finds the name taken, deletes its own cluster and adopts the first. Both used the same
 * password of postgres.json.
 */
export async function initializeCluster(home: Home): Promise<void> {
  if (isInitialized(home.data)) return;
  const facts = readFacts(home.dataDir);
  if (!facts) throw new EmbeddedFailure('not_known', `${home.dataDir}/postgres.json is missing`);
  if (facts.port !== undefined || (await findWhole(home.data)).length > 0)
    throw await dataMissing(home.dataDir, home.data);
  const draft = draftOf(home.data);
  await mkdir(draft, { mode: 0o700 });
  try {
    await writeFile(join(draft, 'password'), facts.password, { mode: 0o600 });
    await give(home, draft, join(draft, 'password'));
    await runInitdb(home, draft, facts.user);
    await moveIntoPlace(join(draft, 'data'), home.data);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Does not suggest starting with an empty database if an upgrade kept one. */
export async function dataMissing(dataDir: string, data: string): Promise<EmbeddedFailure> {
  const missing = `The database of ${dataDir} should be in ${data}, but it is not there. `;
  const kept = await findWhole(data);
  return new EmbeddedFailure(
    'data_missing',
    missing +
      (kept.length > 0
        ? `An upgrade has kept ${kept.join(' and ')}. Find out which one is yours, rename it to ${data}, and upgrade the database again. Remove no files`
        : `Restore it, or remove ${dataDir}/postgres.json to start with an empty one`),
  );
}

/** Returns the databases kept by upgrades that are complete. */
async function findWhole(data: string): Promise<string[]> {
  return (await findKept(data)).filter((path) => isInitialized(path));
}

async function give(home: Home, ...paths: string[]): Promise<void> {
  if (!home.runAs) return;
  for (const path of paths) await chown(path, home.runAs.uid, home.runAs.gid);
}

/** Not detached: Ctrl-C during the first start ends it too, and it removes its files. */
async function runInitdb(home: Home, draft: string, user: string): Promise<void> {
  const child = spawn(
    program(home.native, 'initdb'),
    [
      ['-D', join(draft, 'data')],
      ['-U', user, `--pwfile=${join(draft, 'password')}`],
      ['--auth=scram-sha-256', '--encoding=UTF8', '--no-instructions'],
      // Built-in, so that sorting and case do not change with the system's C library.
      ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    ].flat(),
    {
      cwd: dirname(draft),
      env: CLEAN_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(home.runAs && { uid: home.runAs.uid, gid: home.runAs.gid }),
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  if (child.pid !== undefined) await writeFile(join(draft, INITDB_PID), String(child.pid));
  const [code] = await closed;
  if (code !== 0) {
    throw new EmbeddedFailure('cannot_start', `initdb failed in ${draft}: ${output.trim().slice(-2_000)}`);
  }
}

/** No variable of the caller's environment (PGDATA, PGPORT, LD_LIBRARY_PATH, a language) may reach PostgreSQL. */
export const CLEAN_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

async function moveIntoPlace(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isInitialized(to)) throw error;
    return;
  }
  if (process.platform === 'win32') return;
  const folder = await open(dirname(to), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const KEPT = /^\.pg\d+$/;

/** Lists the databases that upgrades kept beside the current one, each with its version in the name. */
export async function findKept(data: string): Promise<string[]> {
  const name = basename(data);
  const names = await readdir(dirname(data)).catch(() => []);
  return names
    .filter((entry) => entry.startsWith(name) && KEPT.test(entry.slice(name.length)))
    .map((entry) => join(dirname(data), entry))
    .toSorted();
}
