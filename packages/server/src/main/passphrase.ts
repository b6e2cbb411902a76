import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { BackupFailure, PASSPHRASE_MIN_CHARS } from '../platform/postgres/index.ts';
import type { Config } from './config.ts';

type Given = Pick<Config, 'backupPassphrase'>;
/** Null without a terminal. */
type Ask = ((question: string) => Promise<string>) | null;

/** Returns the passphrase of an existing backup. */
export async function openingPassphrase({ backupPassphrase }: Given, ask = terminal()): Promise<string> {
  return backupPassphrase ?? type(ask);
}

/**
 * Returns the passphrase of a new backup. It is typed twice: a typing error would lock the backup for good, and appear only at a restore.
 */
export async function closingPassphrase({ backupPassphrase }: Given, ask = terminal()): Promise<string> {
  if (backupPassphrase !== null) return backupPassphrase;
  const typed = await type(ask);
  if ((await ask?.('Repeat the passphrase: ')) !== typed)
    throw new BackupFailure('no_passphrase', 'The two passphrases differ. No backup was made');
  return typed;
}

async function type(ask: Ask): Promise<string> {
  if (ask === null)
    throw new BackupFailure(
      'no_passphrase',
      'A backup contains the secret key, encrypted with a passphrase. Set BACKUP_PASSPHRASE, or run this at a terminal',
    );
  const typed = await ask('Passphrase of the backup: ');
  if (typed.length < PASSPHRASE_MIN_CHARS)
    throw new BackupFailure(
      'no_passphrase',
      `The passphrase must have at least ${PASSPHRASE_MIN_CHARS} characters`,
    );
  return typed;
}

function terminal(): Ask {
  return process.stdin.isTTY ? askHidden : null;
}

/** The input is not shown. */
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
