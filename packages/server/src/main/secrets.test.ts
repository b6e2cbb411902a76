import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fixedClock } from '../../testing/factories/clock.ts';
import { openTestDatabase } from '../../testing/factories/database.ts';
import { silentLog } from '../platform/log.ts';
import { createKey } from '../modules/ingest/keys/change-key.ts';
import { createProject } from '../modules/administration/create-project.ts';
import type { Pepper } from '../platform/crypto/hash.ts';
import { keyring } from '../modules/ingest/keys/keyring.ts';
import { findSecretFault, openSecrets, type SecretConfig } from './secrets.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
let dataDir: string;

async function reset(): Promise<void> {
  for (const table of ['installation', 'suppression_key']) await db.query(`DELETE FROM beckon.${table}`);
}
beforeEach(async () => {
  await reset();
  dataDir = await mkdtemp(join(tmpdir(), 'beckon-secrets-'));
  folders.push(dataDir);
});
const configWith = (secretKey: string | null, secretKeyPrevious: string | null = null): SecretConfig => ({
  dataDir: join(dataDir, 'data'),
  secretKey,
  secretKeyPrevious,
});
const open = async (config: SecretConfig) => (await openSecrets({ db, clock }, config)).pepper;

test('creates a secret key once, for its owner alone, and reuses it at the next start', async () => {
  const first = await open(configWith(null));
  const path = join(dataDir, 'data', 'secret.key');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readFile(path, 'utf8')).trim()).toMatch(/^[\w-]{43}$/);
  expect(await open(configWith(null))).toEqual(first);
  expect(await readdir(join(dataDir, 'data'))).toEqual(['secret.key']);
});

test.skipIf(process.getuid?.() !== 0)(
  "gives a key that root creates in another user's folder to that user alone",
  async () => {
    const folder = join(dataDir, 'data');
    await mkdir(folder);
    await chown(folder, 1000, 1001);
    await open(configWith(null));
    const { uid, gid, mode } = await stat(join(folder, 'secret.key'));
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 1000, gid: 1001, mode: 0o600 });
  },
);

test('ends with one key after many concurrent starts on an empty directory', async () => {
  for (let round = 0; round < 20; round += 1) {
    await rm(join(dataDir, 'data'), { recursive: true, force: true });
    await reset();
    const peppers = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        // Each starts a few turns after the previous one, so that they meet at every step.
        for (let round = 0; round < index; round += 1) await new Promise(setImmediate);
        return open(configWith(null));
      }),
    );
    expect(new Set(peppers.map((pepper) => pepper.current.toString('hex'))).size).toBe(1);
    expect(await open(configWith(null))).toEqual(peppers[0]);
    expect(await readdir(join(dataDir, 'data'))).toEqual(['secret.key']);
  }
});

test('refuses a wrong SECRET_KEY, and leaves the database with the correct one', async () => {
  const right = await open(configWith(OLD));
  await expect(open(configWith(NEW))).rejects.toThrow('SECRET_KEY is not the secret key of this database');
  await expect(open(configWith(NEW, 'x'.repeat(32)))).rejects.toThrow('SECRET_KEY_PREVIOUS');
  expect(await open(configWith(OLD))).toEqual(right);
});

test('refuses a wrong key file, and names its path', async () => {
  await open(configWith(null));
  const path = join(dataDir, 'data', 'secret.key');
  await writeFile(path, `${NEW}\n`);
  await expect(open(configWith(null))).rejects.toThrow(`${path} is not the secret key`);
  await writeFile(path, '\n');
  await expect(open(configWith(null))).rejects.toThrow(`${path} is empty`);
});

test('does not recreate a lost key file for a database that needs the old one', async () => {
  await open(configWith(null));
  await rm(join(dataDir, 'data', 'secret.key'));
  await expect(open(configWith(null))).rejects.toThrow(
    'secret.key is missing, but the database was set up with it',
  );
  expect(await readdir(join(dataDir, 'data'))).toEqual([]);
});

test('replaces the previous key for good, without losing an API key', async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const before = await open(configWith(OLD));
  const { secret } = await createKey({ db, pepper: before.current }, { projectId, label: 'server' });
  const during = await open(configWith(NEW, OLD));
  expect(during.previous).toEqual(before.current);
  expect((await keyring({ db, pepper: during, log: silentLog }).verify(secret)).state).toBe('live');
  const after = await open(configWith(NEW));
  expect(after.current).toEqual(during.current);
  expect((await keyring({ db, pepper: after, log: silentLog }).verify(secret)).state).toBe('live');
  await expect(open(configWith(OLD))).rejects.toThrow('not the secret key');
});

test('accepts every API key in all processes during a rotation in the order of the guide', async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const { current: pepper } = await open(configWith(OLD));
  const { secret } = await createKey({ db, pepper }, { projectId, label: 'server' });
  const stateBy = async (by: Pepper) =>
    (await keyring({ db, pepper: by, log: silentLog }).verify(secret)).state;
  const first = await open(configWith(OLD, NEW));
  const swapped = await open(configWith(NEW, OLD));
  // Each process renews the hash under its own key, and finds it under the other's. A process with the old order may start again.
  for (const by of [
    first,
    swapped,
    first,
    await open(configWith(OLD, NEW)),
    await open(configWith(NEW, OLD)),
  ])
    expect(await stateBy(by)).toBe('live');
  expect(await stateBy(await open(configWith(NEW)))).toBe('live');
});

describe('openSecrets', () => {
  const address = { projectId: 1, kind: 'email', value: 'ada@example.com' } as const;
  const hashWith = async (config: SecretConfig): Promise<string> =>
    (await openSecrets({ db, clock }, config)).hasher.hash(address).value;

  test('keeps the suppression key when SECRET_KEY changes', async () => {
    const before = await hashWith(configWith(OLD));
    expect(await hashWith(configWith(NEW, OLD))).toBe(before);
    // The key was re-encrypted, so the old secret is not needed any more.
    expect(await hashWith(configWith(NEW))).toBe(before);
  });

  test('creates one suppression key when several processes start at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      await reset();
      const hashes = await Promise.all(Array.from({ length: 8 }, () => hashWith(configWith(OLD))));
      expect(new Set(hashes).size).toBe(1);
      expect(await hashWith(configWith(OLD))).toBe(hashes[0]);
    }
  });

  test('creates another suppression key for another installation', async () => {
    const first = await hashWith(configWith(OLD));
    await reset();
    expect(await hashWith(configWith(OLD))).not.toBe(first);
  });

  test('fails with instructions if neither secret key opens the suppression key', async () => {
    await hashWith(configWith(OLD));
    await db.query('DELETE FROM beckon.installation');
    await expect(hashWith(configWith(NEW))).rejects.toThrow(
      'Set SECRET_KEY_PREVIOUS to that secret key and start again',
    );
  });
});

test('the check value reveals neither the key nor the pepper', async () => {
  const { current } = await open(configWith(OLD));
  const [row] = await db.query<{ secret_check: Buffer }>('SELECT secret_check FROM beckon.installation');
  expect(row?.secret_check).toHaveLength(32);
  expect(row?.secret_check.equals(current)).toBe(false);
  expect(row?.secret_check.includes(Buffer.from(OLD))).toBe(false);
});

test('findSecretFault creates no key and changes no check value', async () => {
  expect(await findSecretFault(db, configWith(null))).toBeNull();
  expect(await readdir(dataDir)).toEqual([]);
  await open(configWith(OLD));
  expect(await findSecretFault(db, configWith(OLD))).toBeNull();
  expect(await findSecretFault(db, configWith(NEW, OLD))).toBeNull();
  expect(await findSecretFault(db, configWith(NEW))).toContain('not the secret key');
  expect(await findSecretFault(db, configWith(null))).toContain('is missing');
  await open(configWith(OLD));
});
