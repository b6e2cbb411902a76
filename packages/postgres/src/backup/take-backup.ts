import pg from 'pg';
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { copyCluster } from './copy-cluster.ts';
import { hashFile, syncFolder, writeSafely } from './copy-file.ts';
import { closeEnvelope } from './envelope.ts';
import { BackupFailure } from '../failure.ts';
import { type BackupFile, DATA, MANIFEST, type Manifest, SECRETS, WAL, WAL_NAME } from './manifest.ts';
import { draftNameOf, sweepBackupDrafts } from './partials.ts';
import { readFacts } from '../facts.ts';
import { type EmbeddedConnection, openEmbedded } from '../embedded.ts';
import { type Home, type HomeOptions, openHome } from '../home.ts';

/** Encrypted with the passphrase: without the key the database is unreadable, and without the password there is no access to it. */
export type KeptSecrets = { secretKey: string; user: string; password: string; database: string };

export type TakeBackupOptions = HomeOptions & {
  /** The folder that contains the backups. */
  to: string;
  passphrase: string;
  secretKey: string;
  /** Throws if the secret key does not match the database. */
  checkKey(connection: EmbeddedConnection): Promise<void>;
  release: string;
};

export type BackupResult = { name: string; path: string; manifest: Manifest };

/**
 * Copies a running cluster: starts the backup mode of PostgreSQL, copies the files, and then the WAL of that time. The backup is built
 * under a temporary name, and gets its own after all of it is on disk.
 */
export async function takeBackup(options: TakeBackupOptions): Promise<BackupResult> {
  const to = await makeBackupFolder(options.to);
  const embedded = await openEmbedded(options);
  try {
    await options.checkKey(embedded.connection());
    const home = await openHome(options);
    const now = new Date();
    const name = `backup-${now
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replace(/[-:]/g, '')}-${randomBytes(4).toString('hex')}`;
    const draft = join(to, draftNameOf(name));
    // A checkpoint may take minutes. A timeout that an operator set for other users of the database must not end it.
    const client = new pg.Client({ ...embedded.connection(), options: '-c statement_timeout=1d' });
    client.on('error', () => {});
    await client.connect();
    try {
      await mkdir(draft, { mode: 0o700 });
      const facts = readFacts(home.dataDir);
      if (!facts) throw new BackupFailure('broken', `${home.dataDir}/postgres.json is missing`);
      const { user, password, database } = facts;
      const kept: KeptSecrets = { secretKey: options.secretKey, user, password, database };
      await writeSafely(join(draft, SECRETS), await closeEnvelope(JSON.stringify(kept), options.passphrase));
      const manifest = await copy(client, { home, draft, release: options.release });
      await writeSafely(join(draft, MANIFEST), `${JSON.stringify(manifest)}\n`);
      await syncFolder(draft);
      await rename(draft, join(to, name));
      await syncFolder(to);
      return { name, path: join(to, name), manifest };
    } finally {
      // A folder that is not renamed at this point is not a backup.
      await rm(draft, { recursive: true, force: true });
      await client.end();
    }
  } finally {
    await embedded.release();
  }
}

async function makeBackupFolder(to: string): Promise<string> {
  try {
    await mkdir(to, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new BackupFailure('unwritable', `${to} cannot be created: ${String(error)}`, error);
  }
  await sweepBackupDrafts(to);
  return to;
}

type CopyPaths = { home: Home; draft: string; release: string };

async function copy(client: pg.Client, { home, draft, release }: CopyPaths): Promise<Manifest> {
  const { name } = home.product;
  const slot = `${name}_backup_${randomBytes(4).toString('hex')}`;
  // A temporary slot of this connection: while it exists, no WAL file is removed.
  await client.query(`SELECT pg_create_physical_replication_slot($1, true, true)`, [slot]);
  const [begun] = await query<BackupStart>(
    client,
    `SELECT pg_backup_start($1, fast => true)::text AS lsn, clock_timestamp() AS at,
       current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS major`,
    [name],
  );
  const { files, folders } = await copyCluster(home, draft);
  const [ended] = await query<BackupStop>(
    client,
    `SELECT s.lsn::text, s.labelfile AS label, s.spcmapfile AS tablespaces, clock_timestamp() AS at
     FROM pg_backup_stop(wait_for_archive => false) s`,
  );
  if (!begun || !ended) throw new Error('PostgreSQL returned no facts about the backup');
  if (ended.tablespaces.trim() !== '')
    throw new BackupFailure('tablespaces', 'The database has tablespaces, which a backup does not support');
  await writeSafely(join(draft, DATA, 'backup_label'), ended.label);
  const named = async (path: string): Promise<BackupFile> => ({
    path,
    ...(await hashFile(join(draft, path))),
  });
  // Switches to a new WAL file, so that the file with the end of the copy is complete.
  await query(client, `SELECT pg_switch_wal()`);
  const [log] = await query<Log>(
    client,
    `SELECT system_identifier::text AS system, pg_walfile_name($1::pg_lsn) AS first, pg_walfile_name($2::pg_lsn) AS last
     FROM pg_control_system()`,
    [begun.lsn, ended.lsn],
  );
  if (!log) throw new Error('PostgreSQL returned no facts about its log');
  const wal = await copyWal({ data: home.data, first: log.first, last: log.last }, draft);
  const all = [...files, await named(`${DATA}/backup_label`), await named(SECRETS), ...wal];
  return {
    format: 1,
    release,
    postgres: begun.version,
    major: begun.major,
    systemId: log.system,
    timeline: Number.parseInt(log.first.slice(0, 8), 16),
    startLsn: begun.lsn,
    stopLsn: ended.lsn,
    firstWal: log.first,
    lastWal: log.last,
    startedAt: begun.at.toISOString(),
    endedAt: ended.at.toISOString(),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    folders,
    files: all,
  };
}

type BackupStart = { lsn: string; at: Date; version: string; major: number };
type BackupStop = { lsn: string; label: string; tablespaces: string; at: Date };
type Log = { system: string; first: string; last: string };

async function query<R extends object>(
  client: pg.Client,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  return (await client.query<R>(text, values)).rows;
}

/** Copies the WAL files of the range, compressed: the copied data files need them to become consistent. */
async function copyWal(
  from: { data: string; first: string; last: string },
  backup: string,
): Promise<BackupFile[]> {
  const folder = join(from.data, 'pg_wal');
  await mkdir(join(backup, WAL), { mode: 0o700 });
  const names = (await readdir(folder)).filter(
    (name) => (WAL_NAME.test(name) && name >= from.first && name <= from.last) || name.endsWith('.history'),
  );
  if (!names.includes(from.first) || !names.includes(from.last))
    throw new Error(`the log from ${from.first} to ${from.last} is incomplete in ${folder}`);
  const files: BackupFile[] = [];
  for (const name of names.toSorted()) {
    const path = `${WAL}/${name}.gz`;
    await compress(join(folder, name), join(backup, path));
    files.push({ path, ...(await hashFile(join(backup, path))) });
  }
  return files;
}

async function compress(from: string, to: string): Promise<void> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  await pipeline(createReadStream(from), gzip, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
