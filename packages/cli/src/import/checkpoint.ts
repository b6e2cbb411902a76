import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { usage } from '../failure.ts';
import type { ImportOptions } from './options.ts';
import type { Identity } from './source.ts';

/**
 * How far an import has come, in a file beside the one that it reads. It is replaced as a whole after every chunk that was
 * answered, so whoever is killed goes on behind the last of them; what was on its way then is sent again, under the same keys.
 */
export type Done = {
  /** Of the file, sent or rejected. */
  rows: number;
  accepted: number;
  rejected: number;
  /** How much of the file of rejected rows is sure. */
  rejectedBytes: number;
};

export type Checkpoint = {
  found: Done | null;
  save(done: Done): Promise<void>;
  remove(): Promise<void>;
};

export const NOTHING_DONE: Done = { rows: 0, accepted: 0, rejected: 0, rejectedBytes: 0 };

type Import = {
  path: string;
  identity: Identity;
  /** What the rows become: `planDigest`. */
  plan: string;
  /** The server and the key. */
  target: string;
  restart: boolean;
};

export async function openCheckpoint({ path, identity, plan, target, restart }: Import): Promise<Checkpoint> {
  const file = `${path}.beckon-import.json`;
  const known = { version: 1, sha256: identity.sha256, plan, target };
  const found = restart ? null : await read(file);
  if (found !== null) refuseOther(found, known, file);
  return {
    found: found?.done ?? null,
    async save(done) {
      await writeFile(`${file}.new`, JSON.stringify({ ...known, done }));
      await rename(`${file}.new`, file);
    },
    remove: () => rm(file, { force: true }),
  };
}

/** What changes a record changes this. */
export function planDigest(options: ImportOptions): string {
  const { kind, map, types, name, live, equalRowsAreOne, format, delimiter } = options;
  const said = [kind, [...map], [...types], name, live !== null, equalRowsAreOne, format, delimiter];
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

type Written = { version: number; sha256: string; plan: string; target: string; done: Done };

async function read(file: string): Promise<Written | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const written = JSON.parse(text) as Partial<Written> | null;
    if (written?.version === 1 && isDone(written.done)) return written as Written;
  } catch {
    // Said below, as for anything else that is no checkpoint.
  }
  throw usage(`${file} is no checkpoint of an import: take it away, or say --restart`);
}

function isDone(done: Partial<Done> | undefined): boolean {
  const { rows, accepted, rejected, rejectedBytes } = done ?? {};
  return [rows, accepted, rejected, rejectedBytes].every(
    (count) => Number.isSafeInteger(count) && Number(count) >= 0,
  );
}

const CHANGED = {
  sha256: 'the file has changed since',
  plan: 'it was begun with other options',
  target: 'it was begun with another server or another key',
} as const;

function refuseOther(found: Written, known: Omit<Written, 'done'>, file: string): void {
  for (const [name, said] of Object.entries(CHANGED))
    if (found[name as keyof typeof CHANGED] !== known[name as keyof typeof CHANGED])
      throw usage(
        `An import of this file stopped after ${found.done.rows} rows, and ${said} (${file}): say --restart`,
      );
}
