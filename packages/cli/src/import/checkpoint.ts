import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { usage } from '../failure.ts';
import type { ImportOptions } from './options.ts';
import type { Identity } from './source.ts';

/**
 * The progress of an import, in a file beside the imported one. It is replaced atomically after every chunk that the server
 * accepted. A killed import continues after the last of them, and sends chunks in flight again with the same idempotency keys.
 */
export type Done = {
  /** Rows of the file that were sent or rejected. */
  rows: number;
  accepted: number;
  rejected: number;
  /** Size of the file of rejected rows at this point. */
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
  /** `planDigest` of the options. */
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

/** Changes with every option that changes a record. */
export function planDigest(options: ImportOptions): string {
  const { kind, map, types, name, live, equalRowsAreOne, format, delimiter } = options;
  const parts = [kind, [...map], [...types], name, live !== null, equalRowsAreOne, format, delimiter];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
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
    // Reported below, like any other invalid content.
  }
  throw usage(`${file} is not a valid checkpoint. Remove it, or pass --restart.`);
}

function isDone(done: Partial<Done> | undefined): boolean {
  const { rows, accepted, rejected, rejectedBytes } = done ?? {};
  return [rows, accepted, rejected, rejectedBytes].every(
    (count) => Number.isSafeInteger(count) && Number(count) >= 0,
  );
}

const CHANGED = {
  sha256: 'the file has changed since',
  plan: 'it was started with other options',
  target: 'it was started with another server or API key',
} as const;

function refuseOther(found: Written, known: Omit<Written, 'done'>, file: string): void {
  for (const [name, change] of Object.entries(CHANGED))
    if (found[name as keyof typeof CHANGED] !== known[name as keyof typeof CHANGED])
      throw usage(
        `An import of this file stopped after ${found.done.rows} rows, and ${change} (${file}). Pass --restart to start again.`,
      );
}
