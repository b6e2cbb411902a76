import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const ESTABLISHED = '01';

/** Counts the open connections of a process to or from this port. */
export function connectionsAt(pid: number, port: number): number {
  const inodes = socketsOf(pid);
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return tableOf(pid).filter(
    ({ local, remote, state, inode }) =>
      state === ESTABLISHED && inodes.has(inode) && (remote.endsWith(suffix) || local.endsWith(suffix)),
  ).length;
}

type Row = { local: string; remote: string; state: string; inode: string };

function tableOf(pid: number): Row[] {
  const lines = ['tcp', 'tcp6'].flatMap((name) => readOr(`/proc/${pid}/net/${name}`).split('\n').slice(1));
  return lines.flatMap((line) => {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
    return local && remote && state && inode ? [{ local, remote, state, inode }] : [];
  });
}

function socketsOf(pid: number): Set<string> {
  const found = new Set<string>();
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOr(`/proc/${pid}/fd/${fd}`))?.[1];
      if (inode) found.add(inode);
    }
  } catch {
    // The process is gone, and its connections with it.
  }
  return found;
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function linkOr(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
