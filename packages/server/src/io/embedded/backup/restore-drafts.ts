import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { elsewhereFor } from '../elsewhere.ts';
import { readFacts } from '../facts.ts';
import { readPidFile } from '../postmaster.ts';
import { commandOf, isAlive } from '../process-command.ts';
import { waitUntil } from '../wait-until.ts';

const ENDS_WITHIN_MS = 20_000;

/** What whoever was killed in the middle of a restore has left: a folder, and perhaps a PostgreSQL in it. */
export async function sweepRestoreDrafts(dataDir: string): Promise<void> {
  const draft = /\.restore-(\d+)-[0-9a-f]{8}$/;
  for (const name of await readdir(dirname(dataDir))) {
    const maker = draft.exec(name)?.[1];
    const isOurs = maker !== undefined && name.startsWith(`${basename(dataDir)}.restore-`);
    if (isOurs && !isAlive(Number(maker))) await dropRestoreDraft(join(dirname(dataDir), name));
  }
}

export async function dropRestoreDraft(draft: string): Promise<void> {
  const data = resolve(draft, readFacts(draft)?.data ?? 'postgres');
  const pid = readPidFile(data)?.pid;
  if (pid && (await commandOf(pid))?.includes(`-D ${data} `)) {
    process.kill(pid, 'SIGQUIT');
    const gone = async (): Promise<true | undefined> => ((await commandOf(pid)) === null ? true : undefined);
    await waitUntil(gone, { everyMs: 20, forMs: ENDS_WITHIN_MS });
  }
  await rm(draft, { recursive: true, force: true });
  if (data.startsWith(elsewhereFor(draft))) await rm(elsewhereFor(draft), { recursive: true, force: true });
}
