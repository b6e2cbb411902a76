import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/factories/database.ts';
import type { Backups } from './commands/operator.ts';
import { openBackups } from './backups.ts';
import { type Config, loadConfig } from './config.ts';
import { openForCommand } from './prepare.ts';

const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)];
const voice = { print: () => {}, version: '0.0.0' };
const base = await mkdtemp(join(tmpdir(), 'beckon-backup-key-'));
const testDb = await testDatabase();
afterAll(async () => {
  await testDb.drop();
  await rm(base, { recursive: true, force: true });
});

function configOf(dataDir: string, more: Record<string, string>): Config {
  const env = { DATA_DIR: join(base, dataDir), BACKUP_PASSPHRASE: 'correct horse battery staple' };
  return loadConfig({ ...env, ...more }, () => '');
}

async function setUp(config: Config): Promise<void> {
  await (await openForCommand(config, voice)).close();
}

/** Leaves the key file from before the server got SECRET_KEY. */
async function leaveOldFile(dataDir: string): Promise<void> {
  await mkdir(join(base, dataDir), { recursive: true });
  await writeFile(join(base, dataDir, 'secret.key'), OLD);
}

test('keeps only the current key of an external database, not the previous one', async () => {
  const backups = (more: Record<string, string>): Backups =>
    openBackups(configOf('none', { DATABASE_URL: testDb.url, ...more }), voice);
  const rotated = { SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD };
  await setUp(configOf('none', { DATABASE_URL: testDb.url, SECRET_KEY: OLD }));
  await expect(backups(rotated).closeSecretKey()).rejects.toThrow(/still requires .* SECRET_KEY_PREVIOUS/);
  await setUp(configOf('none', { DATABASE_URL: testDb.url, ...rotated }));
  const file = join(base, 'key.encrypted');
  await writeFile(file, await backups(rotated).closeSecretKey());
  expect(await backups({ SECRET_KEY: NEW }).openSecretKey(file)).toBe(NEW);
  await expect(backups({ SECRET_KEY: OLD }).closeSecretKey()).rejects.toMatchObject({ code: 'other_key' });
}, 60_000);

test('makes no backup with the old key file when SECRET_KEY is missing, and says what to set', async () => {
  const config = configOf('embedded', { SECRET_KEY: NEW });
  await setUp(config);
  await leaveOldFile('embedded');
  const to = join(base, 'backups');
  const blind = openBackups(configOf('embedded', {}), voice);
  await expect(blind.take(to)).rejects.toThrow(/secret\.key is not .* Set SECRET_KEY to the value/);
  expect(await readdir(to)).toEqual([]);
  const { name } = await openBackups(config, voice).take(to);
  expect(await readdir(to)).toEqual([name]);
}, 120_000);
