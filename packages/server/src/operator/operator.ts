import type { Clock } from '../base/clock.ts';
import type { TokenKeys } from '../base/letter-token.ts';
import type { Sealer } from '../base/seal.ts';
import type { MailSettings } from '../features/domains/index.ts';
import type { Pepper } from '../features/keys/index.ts';
import type { SuppressionHasher } from '../features/suppressions/index.ts';
import type { OpenStripe } from '../flows/imports/index.ts';
import type { Mailroom } from '../flows/send-drafts/index.ts';
import type { Database, Distributed } from '../io/db/index.ts';
import type { Resolver } from '../io/dns/index.ts';
import type { Relay } from '../io/mail/index.ts';
import type { Listed, Pruned, Restored, Taken, Upgraded, Verified } from '../io/embedded/index.ts';
import type { Outbound } from '../io/outbound/index.ts';
import type { Inspection } from './checks.ts';

/** The installation as a command sees it, while the server runs and while it does not. */
export type Opened = {
  db: Database;
  pepper: Pepper;
  sealer: Sealer;
  /** Hashes the suppressed addresses of erased users. */
  hasher: SuppressionHasher;
  resolver: Resolver;
  mail: MailSettings;
  mailroom: Mailroom;
  /** Of what letters carry about themselves. */
  tokenKeys: TokenKeys;
  /** By which letters leave; opened when it is asked for. */
  wayOut: () => Promise<Pick<Relay, 'hand'>>;
  /** The way to names that customers gave; whoever opens it closes it. */
  openOutbound: () => Outbound;
  /** What may be an endpoint, and as whom it is told. */
  webhooks: { allowPrivate: boolean; agent: string };
  /** How many projects an organization may have. */
  projectsMax: number;
  /** How imports read Stripe. */
  openStripe: OpenStripe;
  /** A migrated database of its own beside ours, in which time goes as this clock says; closing drops it. */
  openScratch: (clock: Clock) => Promise<{ db: Database; close(): Promise<void> }>;
  close(): Promise<void>;
};

export type Served = {
  /** Where people reach it. */
  url: string;
  /** Where the first person signs up; null: somebody owns this installation. */
  setUpUrl: string | null;
  warnings: string[];
  /** Takes nothing new, answers what is under way, then lets go of the database. */
  stop(): Promise<void>;
};

/** Of the embedded database; of another one only the secret key. */
export type Backups = {
  dataDir: string;
  backupDir: string | null;
  isEmbedded: boolean;
  take(to: string): Promise<Taken>;
  list(folder: string): Promise<Listed[]>;
  verify(from: string): Promise<Verified>;
  prune(folder: string, keep: number): Promise<Pruned>;
  restore(restoring: {
    from: string;
    until: number | null;
    timeline: number | null;
    dataDir: string;
  }): Promise<Restored>;
  /** Towards the PostgreSQL of this release; the old files are kept until they are discarded. */
  upgrade(): Promise<Upgraded>;
  discardOld(): Promise<string[]>;
  /** The secret key, closed by the passphrase, as the text of a file; and the way back. */
  closeSecretKey(): Promise<string>;
  openSecretKey(file: string): Promise<string>;
};

/** What the commands are handed by `main`: they themselves read no environment and own no process. */
export type Operator = {
  open(): Promise<Opened>;
  migrate(): Promise<{ applied: string[] }>;
  distribute(): Promise<Distributed>;
  inspect(): Promise<Inspection>;
  backups(): Promise<Backups>;
  serve(options: { logTo: 'stdout' | 'stderr' }): Promise<Served>;
  /** Calls back at each SIGTERM and SIGINT; the answer takes the listener off. */
  onSignal(listener: (signal: string) => void): () => void;
  print(text: string): void;
  complain(text: string): void;
  /** The exit code once everything has come to its end. */
  setExitCode(code: number): void;
};

/** For people, 2 is a command that was not understood, 1 one that did not succeed. */
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** Who did it, where a command is what moved something. */
export const OPERATOR = 'operator';
