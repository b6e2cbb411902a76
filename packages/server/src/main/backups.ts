import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import {
  BackupFailure,
  closeEnvelope,
  discardOld,
  type EmbeddedConnection,
  listBackups,
  openEnvelope,
  PASSPHRASE_MIN_CHARS,
  pruneBackups,
  restoreBackup,
  takeBackup,
  upgradeDatabase,
  verifyBackup,
} from '@beckon/postgres';
import type { Backups } from './commands/operator.ts';
import type { Config } from './config.ts';
import { openDataLocation, FOR_A_MOMENT } from './prepare.ts';
import { PRODUCT } from './product.ts';
import { findKeyFault, readSecretKey, SECRET_KEY_FILE } from './secrets.ts';
import { upgradeSchema } from './upgrade-schema.ts';
import { carryAcceptance } from '../modules/sending/index.ts';
import type { ConnectionSource } from '../platform/db/connections.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import { createLog, type Log } from '../platform/log.ts';
import { systemClock } from '../platform/time/clock.ts';

/** Opens the backup functions for the commands. The passphrase is requested only when it is needed, and never printed. */
export function openBackups(config: Config, { print, version }: BackupVoice): Backups {
  const log = createLog('warn', 2);
  const home = { product: PRODUCT, dataDir: config.dataDir, log, print: (line: string) => print(line) };
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
    restore: (restoring) =>
      restoreBackup({ ...home, ...restoring, passphrase, secretKeyFile: SECRET_KEY_FILE }),
    upgrade: () => upgradeDatabase({ ...home, schema: upgradeSchema, carry: (ends) => carry(ends, log) }),
    discardOld: () => discardOld(config.dataDir),
    async closeSecretKey() {
      const secretKey = await requireSecretKey(config);
      const location = await openDataLocation(config, home);
      try {
        await checkKey(location.connection(), { secretKey, config, log });
      } finally {
        await location.release();
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

type PassphraseConfig = Pick<Config, 'backupPassphrase'>;
/** Null without a terminal. */
type Prompt = ((label: string) => Promise<string>) | null;

/** Returns the passphrase of an existing backup. */
export async function openingPassphrase(
  { backupPassphrase }: PassphraseConfig,
  prompt = terminal(),
): Promise<string> {
  return backupPassphrase ?? promptPassphrase(prompt);
}

/**
 * Returns the passphrase of a new backup. It is typed twice: a typing error would lock the backup for good, and appear only at a restore.
 */
export async function closingPassphrase(
  { backupPassphrase }: PassphraseConfig,
  prompt = terminal(),
): Promise<string> {
  if (backupPassphrase !== null) return backupPassphrase;
  const typed = await promptPassphrase(prompt);
  if ((await prompt?.('Repeat the passphrase: ')) !== typed)
    throw new BackupFailure('no_passphrase', 'The two passphrases differ. No backup was made');
  return typed;
}

async function promptPassphrase(prompt: Prompt): Promise<string> {
  if (prompt === null)
    throw new BackupFailure(
      'no_passphrase',
      'A backup contains the secret key, encrypted with a passphrase. Set BACKUP_PASSPHRASE, or run this at a terminal',
    );
  const typed = await prompt('Passphrase of the backup: ');
  if (typed.length < PASSPHRASE_MIN_CHARS)
    throw new BackupFailure(
      'no_passphrase',
      `The passphrase must have at least ${PASSPHRASE_MIN_CHARS} characters`,
    );
  return typed;
}

function terminal(): Prompt {
  return process.stdin.isTTY ? promptHidden : null;
}

/** The input is not shown. */
function promptHidden(label: string): Promise<string> {
  process.stderr.write(label);
  const mutedOutput = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  const lines = createInterface({ input: process.stdin, output: mutedOutput, terminal: true });
  return new Promise((resolve, reject) => {
    lines.question('', (typed) => {
      lines.close();
      process.stderr.write('\n');
      resolve(typed);
    });
    lines.once('SIGINT', () => {
      lines.close();
      process.stderr.write('\n');
      reject(new BackupFailure('no_passphrase', 'No passphrase was given'));
    });
  });
}
