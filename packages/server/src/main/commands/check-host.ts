import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, constants, open, readFile, rm, stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type InstallationCheck, fail, type InspectedConfig, type Inspection, ok, warn } from './checks.ts';

/** Facts about the machine, which tests replace. */
export type Host = {
  descriptorsMax(): Promise<number | null>;
  memory(): { total: number };
  /** Milliseconds of several commits to the disk of this folder. */
  syncs(folder: string): Promise<number[]>;
  /** Null if unknown. */
  isTimeKept(): Promise<boolean | null>;
  /** The local time of a zone. */
  wallClock(zone: string, at: number): string;
};

const MIB = 1024 ** 2;
const DESCRIPTORS_MIN = 4_096;
const MEMORY_FAIL_BYTES = 512 * MIB;
const MEMORY_WARN_BYTES = 1_024 * MIB;
const SYNC_WARN_MS = 20;
const SYNC_FAIL_MS = 200;
/** No disk that stores data durably is faster than this. */
const SYNC_UNBELIEVABLE_MS = 0.01;

export async function checkHost(
  config: InspectedConfig,
  host: Host = thisHost,
): Promise<InstallationCheck[]> {
  const checks = [
    await checkDescriptors(host),
    checkMemory(host),
    checkZones(host),
    await checkTimeKeeping(host),
    ...(config.embedded ? await checkDisk(config.dataDir, host) : []),
  ];
  return checks.filter((check) => check !== null);
}

async function checkDescriptors(host: Host): Promise<InstallationCheck | null> {
  const max = await host.descriptorsMax();
  if (max === null) return null;
  const message = `A process may open ${max} files and connections`;
  return max >= DESCRIPTORS_MIN
    ? ok('open files', message)
    : warn(
        'open files',
        `${message}: each client connection is one, and further connections are rejected`,
        'Raise the limit to 65536: LimitNOFILE= in systemd, --ulimit nofile= in Docker, ulimit -n in a shell',
      );
}

function checkMemory(host: Host): InstallationCheck {
  const { total } = host.memory();
  const message = `This machine has ${(total / 1024 ** 3).toFixed(1)} GiB of memory`;
  if (total >= MEMORY_WARN_BYTES) return ok('memory', message);
  const next = 'Provide at least 1 GiB, or 2 GiB with the embedded database';
  return total < MEMORY_FAIL_BYTES ? fail('memory', message, next) : warn('memory', message, next);
}

/** Times that an old or missing time zone database shows wrongly. */
const ZONES = [
  { zone: 'America/New_York', at: Date.UTC(2026, 2, 8, 7), shows: '03:00' },
  { zone: 'Asia/Kolkata', at: Date.UTC(2026, 0, 1, 0), shows: '05:30' },
  // Kazakhstan has had one zone since March 2024, Paraguay no winter time since October 2024.
  { zone: 'Asia/Almaty', at: Date.UTC(2026, 5, 1, 0), shows: '05:00' },
  { zone: 'America/Asuncion', at: Date.UTC(2026, 6, 1, 0), shows: '21:00' },
];

function checkZones(host: Host): InstallationCheck {
  const wrong = ZONES.filter(({ zone, at, shows }) => host.wallClock(zone, at) !== shows);
  return wrong.length === 0
    ? ok('time zones', 'The time zone database is current')
    : fail(
        'time zones',
        `The time zone database is missing or too old for ${wrong.map(({ zone }) => zone).join(', ')}: quiet hours are wrong there`,
        'Use a Node.js of this year with full ICU data (process.versions.tz), and unset NODE_ICU_DATA',
      );
}

async function checkTimeKeeping(host: Host): Promise<InstallationCheck | null> {
  const isKept = await host.isTimeKept();
  if (isKept === null) return null;
  return isKept
    ? ok('time', 'This machine synchronizes its clock with NTP')
    : warn(
        'time',
        'This machine does not synchronize its clock with NTP: deadlines, signatures and sign-ins depend on it',
        'Run timedatectl set-ntp true, or use chrony',
      );
}

async function checkDisk(dataDir: string, host: Host): Promise<InstallationCheck[]> {
  const about = await stat(dataDir).catch(() => null);
  if (!about) return [];
  return [...checkRights(dataDir, about.mode), ...(await checkSync(dataDir, host))];
}

const OTHERS_MAY_WRITE = 0o022;

function checkRights(dataDir: string, mode: number): InstallationCheck[] {
  if ((mode & OTHERS_MAY_WRITE) === 0) return [];
  const message = `Other accounts can write to ${dataDir}, and could replace the secret key`;
  return [warn('data directory', message, `Run chmod go-w ${dataDir}`)];
}

/** Each commit waits for the disk once, and each accepted request waits for its commit. */
async function checkSync(dataDir: string, host: Host): Promise<InstallationCheck[]> {
  const times = await host.syncs(dataDir).catch(() => []);
  if (times.length === 0) return [];
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const message = `A commit to the disk of ${dataDir} takes ${median.toFixed(2)} ms`;
  if (median > SYNC_WARN_MS) {
    const next = 'Move DATA_DIR to a local SSD, not a network file system or a busy disk';
    const why = `${message}, and every accepted request waits for one`;
    return [median > SYNC_FAIL_MS ? fail('disk speed', why, next) : warn('disk speed', why, next)];
  }
  if (median >= SYNC_UNBELIEVABLE_MS) return [ok('disk speed', message)];
  return [
    warn(
      'disk speed',
      `${message}: no durable disk is so fast`,
      'Check whether it is a memory disk, or has a cache that loses data without power. Use another disk for DATA_DIR.',
    ),
  ];
}

const SYNCS = 9;
const PAGE_BYTES = 8_192;
const COMMAND_WITHIN_MS = 3_000;

const thisHost: Host = {
  async descriptorsMax() {
    const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
    const max = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return max === undefined ? null : Number(max);
  },
  // Without a limit, constrainedMemory() returns a number larger than all memory.
  memory: () => ({ total: Math.min(process.constrainedMemory() || Infinity, totalmem()) }),
  async syncs(folder) {
    const path = join(folder, `.doctor-${randomBytes(6).toString('hex')}`);
    const file = await open(path, 'wx', 0o600);
    try {
      const times: number[] = [];
      for (let i = 0; i < SYNCS; i += 1) {
        const startedAt = performance.now();
        await file.write(randomBytes(PAGE_BYTES));
        await file.datasync();
        times.push(performance.now() - startedAt);
      }
      return times;
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
  },
  async isTimeKept() {
    const args = ['show', '--property=NTPSynchronized', '--value'];
    const result = await promisify(execFile)('timedatectl', args, { timeout: COMMAND_WITHIN_MS }).catch(
      () => null,
    );
    const value = result?.stdout.trim();
    return value === 'yes' ? true : value === 'no' ? false : null;
  },
  wallClock(zone, at) {
    try {
      const options = { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
      return new Intl.DateTimeFormat('en-GB', options).format(at);
    } catch {
      return '';
    }
  },
};

const NODE_MIN_MAJOR = 26;
const DISK_FAIL_BYTES = 512 * 1024 ** 2;
const DISK_WARN_BYTES = 5 * 1024 ** 3;

export function checkNode(version: string): InstallationCheck {
  const major = Number(/^v?(\d+)\./.exec(version)?.[1]);
  return major >= NODE_MIN_MAJOR
    ? ok('node', `Node.js ${version}`)
    : fail(
        'node',
        `Node.js ${version} is too old. Version ${NODE_MIN_MAJOR} or newer is required.`,
        'Start with npm start, which uses the installed Node.js',
      );
}

export function checkConfig(config: Inspection['config']): InstallationCheck[] {
  if ('faults' in config)
    return config.faults.map(({ variable, message }) =>
      fail('config', `${variable} ${message}`, `Correct ${variable}, or unset it`),
    );
  if (config.warnings.length === 0) return [ok('config', 'Every variable is valid')];
  return config.warnings.map((warning) => warn('config', warning, 'Change it, unless this is intended'));
}

/** Checks the data directory or, before it exists, the nearest folder above it: write permission and free space. */
export async function checkDataDir({ dataDir, embedded }: InspectedConfig): Promise<InstallationCheck[]> {
  if (!embedded) return [];
  const folder = await nearestFolder(dataDir);
  const writable = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const description = folder === dataDir ? dataDir : `${dataDir} (created in ${folder} at the first start)`;
  const access_ = writable
    ? ok('data directory', `${description} is writable`)
    : fail(
        'data directory',
        `${description} is not writable`,
        'Grant this user write permission, or set DATA_DIR',
      );
  return [access_, await checkSpace(folder)];
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

async function checkSpace(folder: string): Promise<InstallationCheck> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const message = `The database has ${(free / 1024 ** 3).toFixed(1)} GiB of free space`;
  if (free >= DISK_WARN_BYTES) return ok('disk', message);
  const next = 'Free some space, or move DATA_DIR to a larger disk';
  return free < DISK_FAIL_BYTES ? fail('disk', message, next) : warn('disk', message, next);
}
