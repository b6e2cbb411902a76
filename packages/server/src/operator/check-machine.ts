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
        `Node.js ${version} is too old: ${NODE_MIN_MAJOR} or newer is needed`,
        'Start by npm, which brings its own: npm start',
      );
}

export function checkConfig(config: Inspection['config']): Check[] {
  if ('faults' in config)
    return config.faults.map(({ variable, message }) =>
      fail('config', `${variable} ${message}`, `Set ${variable} as said, or unset it`),
    );
  if (config.warnings.length === 0) return [ok('config', 'Every variable is understood')];
  return config.warnings.map((warning) => warn('config', warning, 'Change it, unless it is meant so'));
}

/** Of what the data directory will need, the nearest folder that exists has to be writable and have the room. */
export async function checkDataDir({ dataDir, embedded }: InspectedConfig): Promise<Check[]> {
  if (!embedded) return [];
  const folder = await nearestFolder(dataDir);
  const writable = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const place = folder === dataDir ? dataDir : `${dataDir} (to be made in ${folder})`;
  const access_ = writable
    ? ok('data directory', `${place} is writable`)
    : fail(
        'data directory',
        `${place} is not writable`,
        'Give this user the right to write there, or set DATA_DIR',
      );
  return [access_, await checkDisk(folder)];
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (folder === dirname(folder)) return folder;
    try {
      await access(folder);
      return folder;
    } catch {
      // Not there yet: its parent may be.
    }
  }
}

async function checkDisk(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const message = `${(free / 1024 ** 3).toFixed(1)} GiB are free for the database`;
  if (free >= DISK_WARN_BYTES) return ok('disk', message);
  const next = 'Free some room, or move DATA_DIR to a larger disk';
  return free < DISK_FAIL_BYTES ? fail('disk', message, next) : warn('disk', message, next);
}
