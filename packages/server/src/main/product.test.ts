import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '@beckon/postgres';
import { readFacts } from '../../../postgres/src/facts.ts';
import { fallbackFolderFor, lockClass } from '../../../postgres/src/product.ts';
import { silentLog } from '../platform/log.ts';
import { PRODUCT } from './product.ts';

test('PRODUCT keeps the names that installations have on disk and in the database', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-product-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const embedded = await openEmbedded({ product: PRODUCT, dataDir, log: silentLog, print: () => {} });
  onTestFinished(() => embedded.release());
  expect(embedded.connection()).toMatchObject({ user: 'beckon', database: 'beckon' });
  const cluster = resolve(dataDir, readFacts(dataDir)?.data ?? '');
  expect(existsSync(join(cluster, 'beckon.conf'))).toBe(true);
  const client = new pg.Client(embedded.connection());
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND (classid, objid) = (1650811755, 1)`,
  );
  await client.end();
  expect(rows).toEqual([{ name: `beckon hold ${process.pid}` }]);
});

test('PRODUCT places files that PostgreSQL cannot reach below /var/lib/beckon', () => {
  expect(fallbackFolderFor('/root/data', PRODUCT)).toMatch(/^\/var\/lib\/beckon\/[0-9a-f]{16}$/);
  expect(lockClass(PRODUCT)).toBe(0x6265636b);
});
