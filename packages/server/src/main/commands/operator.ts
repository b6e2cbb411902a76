import type {
  ListedBackup,
  PruneResult,
  RestoreResult,
  BackupResult,
  UpgradeResult,
  VerifyResult,
} from '@beckon/postgres';
import type { Pepper } from '../../platform/crypto/hash.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Encrypter } from '../../platform/crypto/encrypt.ts';
import type { MailSettings, SuppressionHasher } from '../../modules/sending/index.ts';
import type { ReencryptDeps } from '../../modules/operations/index.ts';
import type { SendServices } from '../../modules/delivery/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { DistributeResult } from '../../platform/db/distribute.ts';
import type { Inspection } from './checks.ts';

/** The database and the secrets, opened for one command, whether the server runs or not. */
export type OpenInstallation = {
  db: Database;
  pepper: Pepper;
  encrypter: Encrypter;
  /** Hashes the suppressed addresses of erased users. */
  hasher: SuppressionHasher;
  teamSecrets: ReencryptDeps['teamSecrets'];
  mail: MailSettings;
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  /** The part of a support bundle about the server itself. */
  installed: { release: { version: string; node: string }; has_model: boolean };
  /** A second, migrated database whose time is this clock. `close` drops it. */
  openScratch: (clock: Clock) => Promise<{ db: Database; close(): Promise<void> }>;
  close(): Promise<void>;
};

export type OperatorServer = {
  /** The public address. */
  url: string;
  /** The link by which the first owner signs up; null once the installation has an owner. */
  setUpUrl: string | null;
  warnings: string[];
  /** Accepts no new work, finishes work in progress, and closes the database. */
  stop(): Promise<void>;
};

/** Backups of the embedded database; of another database, only of the secret key. */
export type Backups = {
  dataDir: string;
  backupDir: string | null;
  isEmbedded: boolean;
  take(to: string): Promise<BackupResult>;
  list(folder: string): Promise<ListedBackup[]>;
  verify(from: string): Promise<VerifyResult>;
  prune(folder: string, keep: number): Promise<PruneResult>;
  restore(options: {
    from: string;
    until: number | null;
    timeline: number | null;
    dataDir: string;
  }): Promise<RestoreResult>;
  /** Upgrades to the PostgreSQL of this release, and keeps the old files until `discardOld`. */
  upgrade(): Promise<UpgradeResult>;
  discardOld(): Promise<string[]>;
  /** Encrypts the secret key with the passphrase, as the text of a file, and decrypts such a file. */
  closeSecretKey(): Promise<string>;
  openSecretKey(file: string): Promise<string>;
};

/** The functions of `main` for the commands, which read no environment and use no process themselves. */
export type Operator = {
  open(): Promise<OpenInstallation>;
  migrate(): Promise<{ applied: string[] }>;
  distribute(): Promise<DistributeResult>;
  inspect(): Promise<Inspection>;
  backups(): Promise<Backups>;
  serve(options: { logTo: 'stdout' | 'stderr' }): Promise<OperatorServer>;
  /** Calls back at each SIGTERM and SIGINT. The returned function removes the listener. */
  onSignal(listener: (signal: string) => void): () => void;
  print(text: string): void;
  printError(text: string): void;
  setExitCode(code: number): void;
};

export const EXIT_FAILED = 1;
/** Invalid command or option. */
export const EXIT_USAGE = 2;

/** The actor of these commands in the history of a draft and in the audit log. */
export const OPERATOR = 'operator';
