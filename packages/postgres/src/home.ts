import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PostgresLog } from './log.ts';
import {
  type Account,
  chooseAccount,
  ENTER,
  findClosedFolder,
  giveTree,
  isRoot,
  makeFallbackFolder,
  permits,
} from './account.ts';
import { readyArchive } from './backup/archive.ts';
import { readyBinaries } from './binaries.ts';
import { codeOf, EmbeddedFailure } from './failure.ts';
import { fallbackFolderFor, type Product } from './product.ts';
import { createFacts, type ClusterFacts, type FileOwner, readFacts } from './facts.ts';

export type HomeOptions = {
  product: Product;
  dataDir: string;
  /** The folder of backups, into which the WAL is archived as it is written; without it there is no archive. */
  backupDir?: string | null;
  /** PostgreSQL programs other than those of this release. */
  binaries?: string;
  /** The number of connections that the server may open, if it is more than usual. */
  connections?: number;
  log: PostgresLog;
  print(line: string): void;
};

/** The constants of one open directory. */
export type Home = {
  product: Product;
  /** The real path. */
  dataDir: string;
  /** The cluster. */
  data: string;
  /** `bin`, `lib` and `share` of PostgreSQL. */
  native: string;
  /** The account that PostgreSQL runs as; only set for root. */
  runAs: Account | undefined;
  owner: FileOwner;
  connections: number;
  /** The folder of archived WAL, which contains a folder for this cluster. */
  archive: string | null;
  log: PostgresLog;
};

export async function openHome(options: HomeOptions): Promise<Home> {
  const { product } = options;
  const dataDir = await makeDataDir(options.dataDir);
  const fallbackFolder = fallbackFolderFor(dataDir, product);
  const root = isRoot() ? await rootFacts(dataDir) : undefined;
  const existingFacts = readFacts(dataDir);
  const facts = existingFacts ?? (await agreeOnFacts(dataDir, { name: product.name, fallbackFolder, root }));
  const data = resolve(dataDir, facts.data);
  const runAs = root && (await ownerOfCluster(data, root.account));
  if (runAs) await grantAccess(dataDir, data, runAs);
  const binaries = await readyBinaries(runAs && { runAs, fallbackFolder }, options.binaries);
  announce(options, { fallbackFolder, data: existingFacts ? undefined : facts.data, binaries, runAs });
  const archive = options.backupDir ? await readyArchive(options.backupDir, { runAs }) : null;
  return {
    product,
    dataDir,
    data,
    native: binaries.native,
    runAs,
    owner: root?.owner,
    connections: options.connections ?? 0,
    archive,
    log: options.log,
  };
}

/** Reports missing permission as such, and not as a missing database. */
export function isInitialized(data: string): boolean {
  try {
    return statSync(join(data, 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    throw new EmbeddedFailure(
      'closed_folder',
      `${data} belongs to another user and is not accessible to this one. Start the server as its owner or as root`,
      error,
    );
  }
}

export function logPath(home: Pick<Home, 'dataDir'>): string {
  return join(home.dataDir, 'postgres.log');
}

/** Closed to other users from the first moment. New parents are ordinary folders. */
async function makeDataDir(folder: string): Promise<string> {
  const path = resolve(folder);
  await mkdir(dirname(path), { recursive: true });
  await mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
    if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw error;
  });
  return realpath(path);
}

type Root = { account: Account; owner: FileOwner };

async function rootFacts(dataDir: string): Promise<Root> {
  const { uid, gid } = await stat(dataDir);
  return { account: await chooseAccount(uid), owner: { uid, gid } };
}

/** Inside DATA_DIR the path is stored relative, so that the whole directory can be moved or copied. */
async function agreeOnFacts(
  dataDir: string,
  { name, fallbackFolder, root }: { name: string; fallbackFolder: string; root: Root | undefined },
): Promise<ClusterFacts> {
  if (isInitialized(join(dataDir, 'postgres')) && !readFacts(dataDir)) {
    throw new EmbeddedFailure(
      'not_known',
      `${dataDir} contains a database, but postgres.json with its password is missing. Restore it from a backup`,
    );
  }
  const closed = root && (await findClosedFolder(dirname(dataDir), root.account));
  return createFacts(dataDir, {
    name,
    data: closed ? join(fallbackFolder, 'postgres') : 'postgres',
    owner: root?.owner,
  });
}

/** A cluster keeps its owner, even if DATA_DIR belongs to another user. */
async function ownerOfCluster(data: string, account: Account): Promise<Account> {
  if (!isInitialized(data)) return account;
  const { uid, gid } = await stat(data);
  if (uid !== 0) return { name: uid === account.uid ? account.name : `uid ${uid}`, uid, gid };
  // Root has copied it back, for example from a backup: PostgreSQL would refuse a folder that it does not own.
  await giveTree(data, account);
  return account;
}

/** It may set a permission bit of DATA_DIR itself, and of our own folders below the product's system folder, but never of a folder above. */
async function grantAccess(dataDir: string, data: string, runAs: Account): Promise<void> {
  if (dirname(data) === dataDir) {
    const { uid, gid, mode } = await stat(dataDir);
    if (!permits({ uid, gid, mode }, runAs, ENTER)) await chmod(dataDir, (mode & 0o7777) | 0o001);
  } else {
    await makeFallbackFolder(dirname(data));
  }
  const closed = await findClosedFolder(dirname(data), runAs);
  if (closed) {
    throw new EmbeddedFailure(
      'closed_folder',
      `The database is in ${data}, but ${closed} is not accessible to ${runAs.name}, the user of PostgreSQL. ` +
        `Run chmod o+x ${closed}, or start the server as another user`,
    );
  }
}

type MovedFiles = {
  fallbackFolder: string;
  data: string | undefined;
  binaries: { copied: boolean };
  runAs: Account | undefined;
};

function announce(options: HomeOptions, moved: MovedFiles): void {
  const dataMoved = moved.data?.startsWith(moved.fallbackFolder) ?? false;
  if (!moved.runAs || (!dataMoved && !moved.binaries.copied)) return;
  const what = [dataMoved && 'the database', moved.binaries.copied && "PostgreSQL's programs"].filter(
    Boolean,
  );
  options.print(
    `The parent folders are not accessible to ${moved.runAs.name}, the user of PostgreSQL. Moved ${what.join(' and ')} to ${moved.fallbackFolder}`,
  );
}
