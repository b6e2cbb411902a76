import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { systemClock } from '../base/clock.ts';
import { createLog, type Log } from '../base/log.ts';
import { carryAcceptance } from '../flows/restore-guard.ts';
import { type Database, openDatabase } from '../io/db/index.ts';
import { readFile } from 'node:fs/promises';
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
} from '../io/embedded/index.ts';
import type { Backups } from '../operator/index.ts';
import type { Config } from './config.ts';
import { readSecretKey } from './secrets.ts';

/** What the commands about backups are handed. The passphrase is asked for where it is needed, and never printed. */
export function openBackups(config: Config, { print, version }: BackupVoice): Backups {
  const log = createLog('warn', 2);
  const home = { dataDir: config.dataDir, log, print: (line: string) => print(line) };
  const passphrase = (): Promise<string> => passphraseOf(config);
  return {
    dataDir: config.dataDir,
    backupDir: config.backupDir,
    isEmbedded: config.database === null,
    async take(to) {
      const secretKey = await requireSecretKey(config);
      return takeBackup({
        ...home,
        backupDir: config.backupDir,
        to,
        passphrase: await passphrase(),
        secretKey,
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
      return closeEnvelope(JSON.stringify({ secretKey }), await passphrase());
    },
    async openSecretKey(file) {
      const text = await openEnvelope(await readFile(file, 'utf8'), await passphrase());
      return (JSON.parse(text) as { secretKey: string }).secretKey;
    },
  };
}

/** From the one to the other, while both are served. */
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

type BackupVoice = { print: (line: string) => void; version: string };

async function requireSecretKey(config: Config): Promise<string> {
  const secretKey = await readSecretKey(config);
  if (secretKey === null)
    throw new BackupFailure(
      'not_found',
      `${config.dataDir} holds no installation: there is nothing to back up`,
    );
  return secretKey;
}

async function passphraseOf({ backupPassphrase }: Config): Promise<string> {
  if (backupPassphrase !== null) return backupPassphrase;
  if (!process.stdin.isTTY)
    throw new BackupFailure(
      'no_passphrase',
      'A backup holds the secret key, closed by a passphrase: set BACKUP_PASSPHRASE, or start this at a terminal',
    );
  const typed = await askHidden('Passphrase of the backup: ');
  if (typed.length < PASSPHRASE_MIN_CHARS)
    throw new BackupFailure(
      'no_passphrase',
      `The passphrase must have at least ${PASSPHRASE_MIN_CHARS} characters`,
    );
  return typed;
}

/** What is typed is not shown. */
function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
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
