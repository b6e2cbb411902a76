import pg from 'pg';
import { chown, copyFile, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { syncFolder, writeSafely } from '../backup/copy-file.ts';
import { dropRestoreDraft, restoreDraftOf, sweepRestoreDrafts } from '../backup/partials.ts';
import { binaryMajor, locateBinaries } from '../binaries.ts';
import { readFacts, replaceFacts } from '../facts.ts';
import { codeOf, EmbeddedFailure } from '../failure.ts';
import { dataMissing, findKept, initializeCluster } from '../initialize-cluster.ts';
import type { EmbeddedConnection } from '../embedded.ts';
import { type Home, type HomeOptions, isInitialized, openHome } from '../home.ts';
import { startPostmaster } from '../start-postmaster.ts';
import { stopPostmaster } from '../postmaster.ts';
import { type CopiedTable, copyDatabase, type UpgradeSchema } from './copy-database.ts';
import { lockUpgrade, READ_ONLY, stopLeft } from './guard-upgrade.ts';
import { oldBinaries, versionOf } from './versions.ts';

export type UpgradeOptions = HomeOptions & {
  schema: UpgradeSchema;
  /** Transfers the remaining state to the new database after all rows were copied. */
  carry(ends: { from: EmbeddedConnection; to: EmbeddedConnection }): Promise<void>;
};

export type UpgradeResult = { from: number; to: number; tables: CopiedTable[]; kept: string };

/**
 * Upgrades a cluster of an older major version to ours. The old programs serve the old files, read-only. A new cluster is created beside
 * them, on the same file system, and receives every row. The folders are renamed only if both sides are equal. The old cluster is kept.
 *
 * If the process is killed, the old cluster is unchanged, or only renamed: the next upgrade reverts the rename and starts over.
 */
export async function upgradeDatabase(options: UpgradeOptions): Promise<UpgradeResult> {
  const dataDir = resolve(options.dataDir);
  const facts = readFacts(dataDir);
  if (!facts) throw new EmbeddedFailure('not_known', `${dataDir} contains no database`);
  const data = resolve(dataDir, facts.data);
  const unlock = await lockUpgrade(dataDir);
  try {
    await restoreOldCluster(data);
    if (!isInitialized(data)) throw await dataMissing(dataDir, data);
    const from = await versionOf(data);
    const to = await binaryMajor(locateBinaries());
    if (to <= from)
      throw new EmbeddedFailure(
        'cannot_upgrade',
        `The database is from PostgreSQL ${from}, and this release contains ${to}. An upgrade is not needed`,
      );
    const old = await openHome({ ...options, backupDir: null, binaries: oldBinaries(from) });
    await stopLeft(old);
    await checkSwappable(data);
    await sweepRestoreDrafts(data, options.product);
    const draft = restoreDraftOf(data);
    await mkdir(draft, { mode: 0o700 });
    if (old.runAs) await chown(draft, old.runAs.uid, old.runAs.gid);
    try {
      const fresh = await openFresh({ ...options, dataDir: draft }, old);
      const tables = await copyAll({ old, fresh }, options);
      const kept = `${data}.pg${from}`;
      await swap({ data, fresh: fresh.data, kept });
      return { from, to, tables, kept };
    } finally {
      await dropRestoreDraft(draft, options.product);
    }
  } finally {
    await unlock();
  }
}

/** Creates the new cluster with the password of the old one and the settings of the operator. */
async function openFresh(options: HomeOptions, old: Home): Promise<Home> {
  const fresh = await openHome({ ...options, backupDir: null });
  const [freshFacts, oldFacts] = [readFacts(fresh.dataDir), readFacts(old.dataDir)];
  if (!freshFacts || !oldFacts) throw new Error('postgres.json has vanished');
  const { user, password, database } = oldFacts;
  replaceFacts(fresh.dataDir, { data: freshFacts.data, user, password, database }, fresh.owner);
  await initializeCluster(fresh);
  await copyFile(join(old.data, 'postgresql.auto.conf'), join(fresh.data, 'postgresql.auto.conf'));
  return fresh;
}

async function copyAll(
  { old, fresh }: { old: Home; fresh: Home },
  options: Pick<UpgradeOptions, 'schema' | 'carry'>,
): Promise<CopiedTable[]> {
  return served(old, READ_ONLY, (from) =>
    served(fresh, {}, async (to) => {
      await makeDatabase(to);
      const tables = await copyDatabase({ from, to }, options.schema);
      await options.carry({ from, to });
      return tables;
    }),
  );
}

async function served<T>(
  home: Home,
  settings: Record<string, string>,
  work: (at: EmbeddedConnection) => Promise<T>,
): Promise<T> {
  const started = await startPostmaster(home, { settings });
  if (started.kind !== 'started') throw new EmbeddedFailure('cannot_start', started.why);
  const facts = readFacts(home.dataDir);
  if (!facts) throw new Error('postgres.json has vanished');
  const { user, password, database } = facts;
  const { port, pid } = started.file;
  try {
    return await work({ host: '127.0.0.1', port, user, password, database, ssl: false });
  } finally {
    await stopPostmaster(home, pid);
  }
}

async function makeDatabase(at: EmbeddedConnection): Promise<void> {
  const client = new pg.Client({ ...at, database: 'postgres' });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(at.database)} TEMPLATE template0`);
  } finally {
    await client.end();
  }
}

/** Deletes the databases that upgrades kept, to free disk space. */
export async function discardOld(dataDir: string): Promise<string[]> {
  const facts = readFacts(resolve(dataDir));
  if (!facts) throw new EmbeddedFailure('not_known', `${dataDir} contains no database`);
  const data = resolve(dataDir, facts.data);
  if (!isInitialized(data))
    throw new EmbeddedFailure('data_missing', `${data} does not exist. Upgrade the database first`);
  const kept = await findKept(data);
  for (const path of kept) await rm(path, { recursive: true, force: true });
  return kept;
}

/**
 * `postgres` becomes `postgres.pg17`, and the new folder beside it becomes `postgres`. Between the two renames a note records the first
 * one. It allows reverting that if the process is killed there or the second one fails.
 */
const NOTE = 'upgrade.kept';

type SwapPaths = { data: string; fresh: string; kept: string };

export async function swap({ data, fresh, kept }: SwapPaths): Promise<void> {
  await rm(kept, { recursive: true, force: true });
  const note = join(dirname(data), NOTE);
  await rm(note, { force: true });
  await writeSafely(note, basename(kept));
  await syncFolder(dirname(data));
  await rename(data, kept);
  try {
    await rename(fresh, data);
  } catch (error) {
    await restoreOldCluster(data);
    throw error;
  }
  await syncFolder(dirname(data));
  await rm(note, { force: true });
}

/** Reverts only the rename in the note, because another folder with such a name may be years old. */
async function restoreOldCluster(data: string): Promise<void> {
  const note = join(dirname(data), NOTE);
  if (!isInitialized(data)) {
    const name = await readFile(note, 'utf8').catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      return null;
    });
    if (name === null) return;
    await rename(join(dirname(data), basename(name)), data);
    await syncFolder(dirname(data));
  }
  await rm(note, { force: true });
}

/** Checked before an hour of copying, not after it. */
async function checkSwappable(data: string): Promise<void> {
  const [dataStat, parentStat] = [await stat(data), await stat(dirname(data))];
  if (dataStat.dev === parentStat.dev) return;
  throw new EmbeddedFailure(
    'cannot_upgrade',
    `${data} is a separate file system, which an upgrade cannot rename. Mount ${dirname(data)} instead, with the database in it`,
  );
}
