import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PostgresLog } from './log.ts';
import { silentLog } from '../testkit/silent-log.ts';
import { type Embedded, openEmbedded } from './embedded.ts';
import {
  isResponding,
  queryEmbedded,
  livingPostmaster,
  makeTestDirectory,
  soon,
  type TestDirectory,
} from '../testkit/directory.ts';
import { TEST_PRODUCT } from '../testkit/product.ts';

let base = '';
let directory: TestDirectory;
let errors: string[] = [];
const opened: Embedded[] = [];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'beckon-archiving-'));
  await chmod(base, 0o755);
  directory = await makeTestDirectory(join(base, 'data'));
  errors = [];
});
afterEach(async () => {
  for (const embedded of opened.splice(0)) await embedded.release();
  await directory.clear();
  await rm(base, { recursive: true, force: true });
}, 60_000);

const log: PostgresLog = { ...silentLog, error: (_fields, event) => void errors.push(event) };

async function openArchiving(): Promise<Embedded> {
  const embedded = await openEmbedded({
    product: TEST_PRODUCT,
    dataDir: directory.dataDir,
    backupDir: join(base, 'backups'),
    log,
    print: () => {},
  });
  opened.push(embedded);
  return embedded;
}

async function modeOf(embedded: Embedded): Promise<string> {
  const [row] = await queryEmbedded<{ archive_mode: string }>(embedded, 'SHOW archive_mode');
  return row?.archive_mode ?? '';
}

test('restarts a leftover PostgreSQL that does not archive its WAL if BACKUP_DIR is set', async () => {
  const user = await directory.startUser();
  user.signalGroup('SIGKILL');
  await user.ended;
  const postmaster = await livingPostmaster(directory.dataDir);
  expect(postmaster).toBeGreaterThan(0);
  const embedded = await openArchiving();
  expect(await modeOf(embedded)).toBe('on');
  expect(await livingPostmaster(directory.dataDir)).not.toBe(postmaster);
  expect(errors).toEqual([]);
}, 60_000);

test('keeps PostgreSQL running if it has other users or an operator archives the WAL differently, and logs it', async () => {
  const other = await directory.open();
  const embedded = await openArchiving();
  expect(errors).toEqual(['postgres.not_archiving']);
  expect(await modeOf(embedded)).toBe('off');
  expect(await isResponding(other)).toBe(true);
  await other.release();
  await embedded.release();

  const again = await openArchiving();
  expect(await modeOf(again)).toBe('on');
  expect(errors).toHaveLength(1);
  await queryEmbedded(again, `ALTER SYSTEM SET archive_command = 'cp %p /elsewhere/%f'`);
  await queryEmbedded(again, `SELECT pg_reload_conf()`);
  // A connection opened after the reload has the new value.
  await soon(async () => {
    const [setting] = await queryEmbedded<{ archive_command: string }>(again, `SHOW archive_command`);
    return setting?.archive_command === 'cp %p /elsewhere/%f';
  });
  const pid = await livingPostmaster(directory.dataDir);
  await openArchiving();
  expect(errors).toEqual(['postgres.not_archiving', 'postgres.not_archiving']);
  expect(await livingPostmaster(directory.dataDir)).toBe(pid);
}, 60_000);
