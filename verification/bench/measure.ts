/** The figures that the benchmark reads from the machine: CPU and memory of processes (Linux: /proc), the disk's fsync, and quantiles. */

import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type Usage = {
  cpuSeconds: number;
  /** Memory in use. Pages that several processes share, such as PostgreSQL's buffers, count in each of them. */
  rssBytes: number;
  /** The same with shared pages divided among the processes that share them, so that it can be summed. Null if /proc does not report it. */
  pssBytes: number | null;
  processes: number;
};

/** Returns the usage of one process. A process that has exited has used nothing. */
export function usageOf(pid: number): Usage {
  const stat = readStat(pid);
  if (!stat) return { cpuSeconds: 0, rssBytes: 0, pssBytes: null, processes: 0 };
  return { cpuSeconds: stat.ownTicks / TICKS_PER_SECOND, ...memoryOf(pid), processes: 1 };
}

/**
 * Returns the usage of a process and all its descendants. Children that ended are counted in their parent, so the difference of two
 * readings is right even for PostgreSQL, whose backends come and go. Only a child that its parent has not reaped yet is missed.
 */
export function usageOfTree(rootPid: number): Usage {
  const total: Usage = { cpuSeconds: 0, rssBytes: 0, pssBytes: 0, processes: 0 };
  for (const pid of treeOf(rootPid)) {
    const stat = readStat(pid);
    if (!stat) continue;
    const memory = memoryOf(pid);
    total.cpuSeconds += (stat.ownTicks + stat.endedChildrenTicks) / TICKS_PER_SECOND;
    total.rssBytes += memory.rssBytes;
    total.pssBytes =
      total.pssBytes === null || memory.pssBytes === null ? null : total.pssBytes + memory.pssBytes;
    total.processes += 1;
  }
  return total;
}

/** Returns the CPU seconds between two readings of the same process or tree. */
export function cpuBetween(before: Usage, after: Usage): number {
  return Math.max(0, after.cpuSeconds - before.cpuSeconds);
}

/** Reads the id of PostgreSQL's first process from its own file in the data directory. */
export function postgresPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** CPU time in microseconds: of Beckon's processes, and of PostgreSQL. */
export type CpuCost = { beckon: number; postgres: number };

/** Both readings are of the same process of Beckon and of PostgreSQL. */
export type UsagePair = { beckon: Usage; postgres: Usage };

export function usagePair(beckonPid: number, postgresPid: number): UsagePair {
  return { beckon: usageOf(beckonPid), postgres: usageOfTree(postgresPid) };
}

/** Returns the CPU time for each of `count` things that were done between two readings. */
export function costBetween(before: UsagePair, after: UsagePair, count: number): CpuCost {
  return {
    beckon: (cpuBetween(before.beckon, after.beckon) / count) * 1e6,
    postgres: (cpuBetween(before.postgres, after.postgres) / count) * 1e6,
  };
}

export function totalCost({ beckon, postgres }: CpuCost): number {
  return beckon + postgres;
}

export type DiskFigures = { p50Ms: number; p99Ms: number; maxMs: number };

/** Measures the minimum cost of a commit: append 8 KiB, a page of the log, and wait until it is on the disk. */
export function fsyncFigures(dir: string, times = 500): DiskFigures {
  const path = join(dir, `.fsync-${process.pid}`);
  const page = Buffer.alloc(8 * 1024, 1);
  const file = openSync(path, 'w');
  const ms: number[] = [];
  try {
    for (let i = 0; i < times; i += 1) {
      const startedAt = performance.now();
      writeSync(file, page);
      fsyncSync(file);
      ms.push(performance.now() - startedAt);
    }
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  return { p50Ms: quantile(ms, 0.5), p99Ms: quantile(ms, 0.99), maxMs: Math.max(...ms) };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the smallest value that at least this share of all values does not exceed. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Formats columns as wide as their widest cell, the first left-aligned, figures right-aligned. */
export function table(header: string[], rows: string[][]): string {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: string[]): string =>
    widths
      .map((width, i) => (i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width)))
      .join('  ')
      .trimEnd();
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

type Stat = { parent: number; ownTicks: number; endedChildrenTicks: number };

/** The name is in brackets and may contain anything, even brackets, so parsing begins behind the last bracket. */
function readStat(pid: number): Stat | null {
  const text = readIfPresent(`/proc/${pid}/stat`);
  if (text === null) return null;
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
    (i) => fields[i],
  );
  return { parent, ownTicks: user + system, endedChildrenTicks: endedUser + endedSystem };
}

function memoryOf(pid: number): { rssBytes: number; pssBytes: number | null } {
  const kilobytes = (text: string | null, name: string): number | null => {
    const match = text?.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1];
    return match === undefined ? null : Number(match) * 1024;
  };
  return {
    rssBytes: kilobytes(readIfPresent(`/proc/${pid}/status`), 'VmRSS') ?? 0,
    pssBytes: kilobytes(readIfPresent(`/proc/${pid}/smaps_rollup`), 'Pss'),
  };
}

function treeOf(rootPid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? readStat(pid) : null;
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const tree = [rootPid];
  // The list grows during the loop: each process appends its children.
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Reads a file that may be gone, because a process may end between being listed and being read. */
function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return null;
    throw error;
  }
}
