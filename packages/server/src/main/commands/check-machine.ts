import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Check, fail, type InspectedConfig, type Inspection, ok, warn } from './checks.ts';

const NODE_MIN_MAJOR = 26;
const DISK_FAIL_BYTES = 512 * 1024 ** 2;
const DISK_WARN_BYTES = 5 * 1024 ** 3;

export function checkNode(version: string): Check {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1]);
  return major >= NODE_MIN_MAJOR
    ? ok('node', `Node.js ${version}`)
    : fail(
        'node',
        `Node.js ${version} is too old. Version ${NODE_MIN_MAJOR} or newer is required.`,
        'Start with npm start, which uses the installed Node.js',
      );
}

export function checkConfig(config: Inspection['config']): Check[] {
  if ('faults' in config)
    return config.faults.map(({ variable, message }) =>
      fail('config', `${variable} ${message}`, `Correct ${variable}, or unset it`),
    );
  if (config.warnings.length === 0) return [ok('config', 'Every variable is valid')];
  return config.warnings.map((warning) => warn('config', warning, 'Change it, unless this is intended'));
}

/** Checks the data directory or, before it exists, the nearest folder above it: write permission and free space. */
export async function checkDataDir({ dataDir, embedded }: InspectedConfig): Promise<Check[]> {
  if (!embedded) return [];
  const folder = await nearestFolder(dataDir);
  const writable = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const place = folder === dataDir ? dataDir : `${dataDir} (created in ${folder} at the first start)`;
  const access_ = writable
    ? ok('data directory', `${place} is writable`)
    : fail('data directory', `${place} is not writable`, 'Grant this user write permission, or set DATA_DIR');
  return [access_, await checkDisk(folder)];
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (folder === dirname(folder)) return folder;
    try {
      await access(folder);
      return folder;
    } catch {
      // The folder does not exist yet; its parent may.
    }
  }
}

async function checkDisk(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const message = `The database has ${(free / 1024 ** 3).toFixed(1)} GiB of free space`;
  if (free >= DISK_WARN_BYTES) return ok('disk', message);
  const next = 'Free some space, or move DATA_DIR to a larger disk';
  return free < DISK_FAIL_BYTES ? fail('disk', message, next) : warn('disk', message, next);
}
