import { systemClock } from '../platform/time/clock.ts';
import { createLog, type Log } from '../platform/log.ts';
import { carryAcceptance } from '../modules/sending/index.ts';
import type { ConnectionSource } from '../platform/db/connection.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import { readFile } from 'node:fs/promises';
import {
  BackupFailure,
  closeEnvelope,
  discardOld,
  type EmbeddedConnection,
  listBackups,
  openEnvelope,
  pruneBackups,
  restoreBackup,
  takeBackup,
  upgradeDatabase,
  verifyBackup,
} from '../platform/postgres/index.ts';
import type { Backups } from './commands/operator.ts';
import type { Config } from './config.ts';
import { closingPassphrase, openingPassphrase } from './passphrase.ts';
import { FOR_A_MOMENT, findPlace } from './prepare.ts';
import { findKeyFault, readSecretKey } from './secrets.ts';

/** Opens the backup functions for the commands. The passphrase is requested only when it is needed, and never printed. */
export function openBackups(config: Config, { print, version }: BackupVoice): Backups {
  const log = createLog('warn', 2);
  const home = { dataDir: config.dataDir, log, print: (line: string) => print(line) };
  const passphrase = (): Promise<string> => openingPassphrase(config);
  return {
    dataDir: config.dataDir,
    backupDir: config.backupDir,
    isEmbedded: config.database === null,
    async take(to) {
      const secretKey = await requireSecretKey(config);
      const check = { secretKey, config, log };
      return takeBackup({
        ...home,
        backupDir: config.backupDir,
        to,
        passphrase: await closingPassphrase(config),
        secretKey,
        checkKey: (connection) => checkKey(connection, check),
        release: version,
      });
    },
    list: (folder) => listBackups(folder),
    verify: (from) => verifyBackup(from),
    prune: (folder, keep) => pruneBackups(folder, keep),
    restore: (restoring) => restoreBackup({ ...home, ...restoring, passphrase }),
    upgrade: () => upgradeDatabase({ ...home, carry: (ends) => carry(ends, log) }),
    discardOld: () => discardOld(config.dataDir),
    async closeSecretKey() {
      const secretKey = await requireSecretKey(config);
      const place = await findPlace(config, home);
      try {
        await checkKey(place.connection(), { secretKey, config, log });
      } finally {
        await place.release();
      }
      return closeEnvelope(JSON.stringify({ secretKey }), await closingPassphrase(config));
    },
    async openSecretKey(file) {
      const text = await openEnvelope(await readFile(file, 'utf8'), await passphrase());
      return (JSON.parse(text) as { secretKey: string }).secretKey;
    },
  };
}

/** Copies from one database to the other while both are running. */
async function carry(ends: { from: EmbeddedConnection; to: EmbeddedConnection }, log: Log): Promise<void> {
  const open = (at: EmbeddedConnection): Promise<Database> =>
    openDatabase({ connection: () => at, clock: systemClock, log, poolMax: 1 });
  const from = await open(ends.from);
  try {
    const to = await open(ends.to);
    try {
      await carryAcceptance({ from, to });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

type KeyCheck = { secretKey: string; config: Config; log: Log };

/**
 * Checks the key before a backup. Without SECRET_KEY here, an outdated `secret.key` would be backed up every night, and found out only at
 * the restore.
 */
async function checkKey(
  connection: ReturnType<ConnectionSource>,
  { secretKey, config, log }: KeyCheck,
): Promise<void> {
  const db = await openDatabase({ ...FOR_A_MOMENT, connection: () => connection, log });
  try {
    const fault = await findKeyFault(db, { secretKey, config });
    if (fault !== null) throw new BackupFailure('other_key', fault);
  } finally {
    await db.close();
  }
}

type BackupVoice = { print: (line: string) => void; version: string };

async function requireSecretKey(config: Config): Promise<string> {
  const secretKey = await readSecretKey(config);
  if (secretKey === null)
    throw new BackupFailure('not_found', `${config.dataDir} contains no installation to back up`);
  return secretKey;
}
