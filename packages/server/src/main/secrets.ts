import { randomBytes } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { openSuppressionHasher, type SuppressionHasher } from '../modules/sending/index.ts';
import type { TokenKeys } from '../platform/crypto/email-token.ts';
import { createEncrypter, type Encrypter } from '../platform/crypto/encrypt.ts';
import { deriveKey, equalInConstantTime, type Pepper } from '../platform/crypto/hash.ts';
import type { Tx } from '../platform/db/statements.ts';
import type { Clock } from '../platform/time/clock.ts';

/**
 * Opens the installation's secret key. The environment sets it or, with the embedded database, it is generated once into
 * `DATA_DIR/secret.key`. The database keeps a check value derived from the key, so a wrong key is refused at start. Otherwise every API key
 * would be unknown and every stored secret unreadable.
 */
export async function openSecrets(deps: { db: Tx; clock: Clock }, config: SecretConfig): Promise<Secrets> {
  const { db, clock } = deps;
  const storedCheck = await findCheck(db);
  const secret = config.secretKey ?? (await readKeyFile(config)) ?? (await makeKeyFile(config, storedCheck));
  if (storedCheck === undefined) await insertCheck(db, { check: checkOf(secret), at: new Date(clock.now()) });
  const stored = storedCheck ?? (await findCheck(db));
  const previous = config.secretKeyPrevious;
  const match = matchOf(stored, secret, previous);
  if (match === 'none') throw new Error(wrongKey(config));
  // From here on the database requires the new key; a hash under the old one is renewed on its next use.
  if (match === 'previous') await updateCheck(db, { from: stored, to: checkOf(secret) });
  const encrypter = createEncrypter(secret, previous, 'secrets at rest');
  return {
    pepper: { current: pepperOf(secret), previous: previous === null ? null : pepperOf(previous) },
    encrypter,
    hasher: await openSuppressionHasher({ db, clock, encrypter }),
    tokenKeys: [
      deriveKey(secret, 'email tokens'),
      ...(previous === null ? [] : [deriveKey(previous, 'email tokens')]),
    ],
    teamSecrets: [teamSecretOf(secret), ...(previous === null ? [] : [teamSecretOf(previous)])],
  };
}

/** Checks the key without changing anything. Returns why the server would refuse it, or null. */
export async function findSecretFault(db: Tx, config: SecretConfig): Promise<string | null> {
  const stored = await findCheck(db);
  if (stored === undefined) return null;
  const secret = config.secretKey ?? (await readKeyFile(config));
  if (secret === undefined) return lostKeyFile(config);
  return matchOf(stored, secret, config.secretKeyPrevious) === 'none' ? wrongKey(config) : null;
}

/** Returns why a backup must not keep this key, or null if it is the current one: a previous key opens nothing. */
export async function findKeyFault(
  db: Tx,
  { secretKey, config }: { secretKey: string; config: SecretConfig },
): Promise<string | null> {
  const [row] = await db.query<{ there: boolean }>(
    `SELECT to_regclass('beckon.installation') IS NOT NULL AS there`,
  );
  const stored = row?.there ? await findCheck(db) : undefined;
  if (stored === undefined) return 'The database was never set up, so there is nothing to back up';
  const match = matchOf(stored, secretKey, config.secretKeyPrevious);
  if (match === 'current') return null;
  return match === 'previous'
    ? 'The database still requires the key in SECRET_KEY_PREVIOUS. Start the server with the new one first, or set SECRET_KEY to the old one'
    : `${sourceOf(config)} is not the secret key of this database, so the backup would be unusable. Set SECRET_KEY to the value that the server uses`;
}

/** The keys that are derived from the one secret. None of them reveals anything about another. */
export type Secrets = {
  pepper: Pepper;
  encrypter: Encrypter;
  hasher: SuppressionHasher;
  tokenKeys: TokenKeys;
  /** Keys that sign sessions; the current one first. */
  teamSecrets: [string, ...string[]];
};

function teamSecretOf(secret: string): string {
  return deriveKey(secret, 'team sessions').toString('hex');
}

/** Returns the key itself, for a backup; null if it does not exist yet. */
export async function readSecretKey(config: SecretConfig): Promise<string | null> {
  return config.secretKey ?? (await readKeyFile(config)) ?? null;
}

export type SecretConfig = Pick<Config, 'dataDir' | 'secretKey' | 'secretKeyPrevious'>;

function matchOf(
  stored: Buffer | undefined,
  secret: string,
  previous: string | null,
): 'current' | 'previous' | 'none' {
  if (!stored) return 'none';
  if (equalInConstantTime(stored, checkOf(secret))) return 'current';
  return previous !== null && equalInConstantTime(stored, checkOf(previous)) ? 'previous' : 'none';
}

function wrongKey(config: SecretConfig): string {
  return `${sourceOf(config)} is not the secret key of this database. Use the right one. To replace it, set SECRET_KEY_PREVIOUS to the old one`;
}

function sourceOf(config: SecretConfig): string {
  return config.secretKey === null ? keyFilePath(config) : 'SECRET_KEY';
}

function lostKeyFile(config: SecretConfig): string {
  return `${keyFilePath(config)} is missing, but the database was set up with it. Restore it from a backup, or set SECRET_KEY to its content`;
}

/** Writes the key to a file of its own and links it into place: the first process wins, and no process reads half a file. */
async function makeKeyFile(config: SecretConfig, storedCheck: Buffer | undefined): Promise<string> {
  if (storedCheck !== undefined) throw new Error(lostKeyFile(config));
  const path = keyFilePath(config);
  await mkdir(config.dataDir, { recursive: true });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`);
    await giveToOwner(file, config.dataDir);
    await file.sync();
    await link(draft, path).catch(unlessItExists);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
  await syncFolder(config.dataDir);
  const made = await readKeyFile(config);
  if (made === undefined) throw new Error(`${path} could not be read after it was written`);
  return made;
}

/** Gives the key file to the owner of the folder. A key owned by root would lock that owner out at their next start. */
async function giveToOwner(file: FileHandle, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await file.chown(uid, gid);
}

/** The file of a generated key, in DATA_DIR. */
export const SECRET_KEY_FILE = 'secret.key';

function keyFilePath(config: SecretConfig): string {
  return join(config.dataDir, SECRET_KEY_FILE);
}

async function readKeyFile(config: SecretConfig): Promise<string | undefined> {
  const path = keyFilePath(config);
  try {
    const text = (await readFile(path, 'utf8')).trim();
    if (text === '') throw new Error(`${path} is empty. Restore it from a backup`);
    return text;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function unlessItExists(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A new name is durable only once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function checkOf(secret: string): Buffer {
  return deriveKey(secret, 'check value');
}

function pepperOf(secret: string): Buffer {
  return deriveKey(secret, 'api-key pepper');
}

async function findCheck(db: Tx): Promise<Buffer | undefined> {
  const rows = await db.query<{ secret_check: Buffer }>(`SELECT secret_check FROM beckon.installation`);
  return rows[0]?.secret_check;
}

/** Stores the first check value. If two processes set up one database at once, the second is then checked against the first. */
async function insertCheck(db: Tx, row: { check: Buffer; at: Date }): Promise<void> {
  await db.query(
    `INSERT INTO beckon.installation (secret_check, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
    [row.check, row.at],
  );
}

async function updateCheck(db: Tx, { from, to }: { from: Buffer | undefined; to: Buffer }): Promise<void> {
  await db.query(`UPDATE beckon.installation SET secret_check = $2 WHERE secret_check = $1`, [from, to]);
}

type SecretSources = Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'smtpUrl' | 'database' | 'model'>;

/** Returns the secrets of the environment, which must never be printed, even when a server repeats what it received. */
export function configSecrets(config: SecretSources): string[] {
  const { secretKey, secretKeyPrevious, smtpUrl, database, model } = config;
  const passwords = [smtpUrl, database?.url, database?.adminUrl].map((url) => (url ? passwordOf(url) : ''));
  return [secretKey, secretKeyPrevious, model?.apiKey, ...passwords].filter(
    (secret): secret is string => typeof secret === 'string' && secret !== '',
  );
}

function passwordOf(url: string): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
