import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Check, type InspectedConfig, fail, ok, warn } from './checks.ts';

/** What the machine tells of itself; tests tell it otherwise. */
export type Host = {
  descriptorsMax(): Promise<number | null>;
  memory(): { total: number };
  /** Milliseconds of each of some commits to the disk on which this folder is. */
  syncs(folder: string): Promise<number[]>;
  /** Null where nobody here knows. */
  isTimeKept(): Promise<boolean | null>;
  /** What the clock on the wall of a place shows at a moment. */
  wallClock(zone: string, at: number): string;
};

const MIB = 1024 ** 2;
const DESCRIPTORS_MIN = 4_096;
const MEMORY_FAIL_BYTES = 512 * MIB;
const MEMORY_WARN_BYTES = 1_024 * MIB;
const SYNC_WARN_MS = 20;
const SYNC_FAIL_MS = 200;
/** Faster no disk is that keeps what it is told; a virtual one may be, that does not. */
const SYNC_UNBELIEVABLE_MS = 0.01;

export async function checkHost(config: InspectedConfig, host: Host = thisHost): Promise<Check[]> {
  const checks = [
    await checkDescriptors(host),
    checkMemory(host),
    checkZones(host),
    await checkTimeKeeping(host),
    ...(config.embedded ? await checkDisk(config.dataDir, host) : []),
  ];
  return checks.filter((check) => check !== null);
}

async function checkDescriptors(host: Host): Promise<Check | null> {
  const max = await host.descriptorsMax();
  if (max === null) return null;
  const message = `A process may have ${max} files and connections open`;
  return max >= DESCRIPTORS_MIN
    ? ok('open files', message)
    : warn(
        'open files',
        `${message}: each connection of a customer is one, and beyond it none is taken in`,
        'Raise it to 65536: LimitNOFILE= in systemd, --ulimit nofile= in docker, ulimit -n in a shell',
      );
}

function checkMemory(host: Host): Check {
  const { total } = host.memory();
  const message = `This machine has ${(total / 1024 ** 3).toFixed(1)} GiB of memory`;
  if (total >= MEMORY_WARN_BYTES) return ok('memory', message);
  const next = 'Give it 1 GiB at least, 2 GiB with the embedded database';
  return total < MEMORY_FAIL_BYTES ? fail('memory', message, next) : warn('memory', message, next);
}

/** Moments at which the clocks of a place were changed, by rules that an old or missing database of zones does not know. */
const ZONES = [
  { zone: 'America/New_York', at: Date.UTC(2026, 2, 8, 7), shows: '03:00' },
  { zone: 'Asia/Kolkata', at: Date.UTC(2026, 0, 1, 0), shows: '05:30' },
  // Kazakhstan has had one zone since March 2024, Paraguay no winter time since October 2024.
  { zone: 'Asia/Almaty', at: Date.UTC(2026, 5, 1, 0), shows: '05:00' },
  { zone: 'America/Asuncion', at: Date.UTC(2026, 6, 1, 0), shows: '21:00' },
];

function checkZones(host: Host): Check {
  const wrong = ZONES.filter(({ zone, at, shows }) => host.wallClock(zone, at) !== shows);
  return wrong.length === 0
    ? ok('time zones', 'The clocks of the world are known')
    : fail(
        'time zones',
        `Of ${wrong.map(({ zone }) => zone).join(', ')} the time is not known, or not as it is now: quiet hours go by it`,
        'Use a Node.js with full ICU data and of this year (process.versions.tz), and unset NODE_ICU_DATA',
      );
}

async function checkTimeKeeping(host: Host): Promise<Check | null> {
  const isKept = await host.isTimeKept();
  if (isKept === null) return null;
  return isKept
    ? ok('time', 'This machine keeps its time by NTP')
    : warn(
        'time',
        'This machine does not keep its time by NTP: deadlines, signatures and sign-ins go by it',
        'Have it kept: timedatectl set-ntp true, or chrony',
      );
}

async function checkDisk(dataDir: string, host: Host): Promise<Check[]> {
  const about = await stat(dataDir).catch(() => null);
  if (!about) return [];
  return [...checkRights(dataDir, about.mode), ...(await checkSync(dataDir, host))];
}

const OTHERS_MAY_WRITE = 0o022;

function checkRights(dataDir: string, mode: number): Check[] {
  if ((mode & OTHERS_MAY_WRITE) === 0) return [];
  const message = `${dataDir} may be written by others than its owner: whoever can, can put a secret key of his own there`;
  return [warn('data directory', message, `chmod go-w ${dataDir}`)];
}

/** Each commit waits for the disk once; what is accepted in one waits for that. */
async function checkSync(dataDir: string, host: Host): Promise<Check[]> {
  const times = await host.syncs(dataDir).catch(() => []);
  if (times.length === 0) return [];
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const message = `A commit to the disk of ${dataDir} takes ${median.toFixed(2)} ms`;
  if (median > SYNC_WARN_MS) {
    const next =
      'Move DATA_DIR to a local SSD, away from network file systems and from disks that others keep busy';
    const why = `${message}: so long every request waits that is answered 2xx`;
    return [median > SYNC_FAIL_MS ? fail('disk speed', why, next) : warn('disk speed', why, next)];
  }
  if (median >= SYNC_UNBELIEVABLE_MS) return [ok('disk speed', message)];
  return [
    warn(
      'disk speed',
      `${message}: no disk is so fast that keeps what it is told`,
      'Is it a memory disk, or one whose cache forgets when the power goes? Use another for DATA_DIR',
    ),
  ];
}

const SYNCS = 9;
const PAGE_BYTES = 8_192;
const ASKED_WITHIN_MS = 3_000;

const thisHost: Host = {
  async descriptorsMax() {
    const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
    const max = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return max === undefined ? null : Number(max);
  },
  // Where nothing bounds it, the bound is told as a number beyond all memory.
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
    const said = await promisify(execFile)('timedatectl', args, { timeout: ASKED_WITHIN_MS }).catch(
      () => null,
    );
    const answer = said?.stdout.trim();
    return answer === 'yes' ? true : answer === 'no' ? false : null;
  },
  wallClock(zone, at) {
    try {
      const how = { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
      return new Intl.DateTimeFormat('en-GB', how).format(at);
    } catch {
      return '';
    }
  },
};
