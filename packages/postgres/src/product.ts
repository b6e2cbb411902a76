import { hash } from 'node:crypto';
import { join } from 'node:path';

/** How the program that embeds PostgreSQL appears in it, on disk and in messages. Installations keep these names for good. */
export type Product = {
  /**
   * The role, the database and the settings file; begins the names of sessions and slots, and labels base backups. At least four ASCII
   * letters.
   */
  name: string;
  /** In messages, such as `Beckon`. */
  title: string;
  /** Its command line, in advice. */
  command: string;
  /**
   * Contains the files that the account of PostgreSQL cannot reach below DATA_DIR, such as `/var/lib/<name>`. Only root uses it. Its parent
   * must belong to root, be readable by all users, and survive a reboot.
   */
  systemFolder: string;
};

/** The settings file, in the cluster's folder. */
export function confName({ name }: Product): string {
  return `${name}.conf`;
}

/** Numbers the advisory locks: the first four letters of the name, so that the numbers belong to one program. */
export function lockClass({ name }: Product): number {
  return Buffer.from(name, 'latin1').readInt32BE(0);
}

const HASH_CHARS = 16;

/** Returns the folder for files that the account of PostgreSQL could not reach below DATA_DIR. */
export function fallbackFolderFor(realDataDir: string, { systemFolder }: Product): string {
  return join(systemFolder, hash('sha256', realDataDir).slice(0, HASH_CHARS));
}
