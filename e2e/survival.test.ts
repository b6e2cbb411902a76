import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examine, survivor, type Survivor, writers } from '../packages/server/testing/oracles/survival.ts';

let dataDir: string;
let server: Survivor;
let secret: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'beckon-survival-'));
  server = await survivor(dataDir);
  await server.start();
  await server.product(['projects', 'create', 'Acme']);
  ({ secret } = (await server.product(['keys', 'create', '--name', 'server'])) as { secret: string });
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('loses and duplicates nothing when the server and PostgreSQL are killed under load, and replays the same bytes', async () => {
  const load = writers({ url: server.url, secret }, 8);
  const more = async (): Promise<void> => {
    const from = load.journal.acknowledged.size;
    while (load.journal.acknowledged.size < from + 100)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  for (let kill = 0; kill < 2; kill += 1) {
    await more();
    await server.killServer();
    await server.start();
    await more();
    server.killPostgres();
  }
  await more();
  await load.stop();
  const result = await examine(server, dataDir, { journal: load.journal, secret, replays: 100 });
  expect(load.journal.failures).toBeGreaterThan(0);
  expect(result).toEqual({ acknowledged: result.acknowledged, missing: [], doubled: [], otherBytes: 0 });
});

test('finishes requests under way on SIGTERM, and stops the database cleanly', async () => {
  const load = writers({ url: server.url, secret }, 8);
  while (load.journal.acknowledged.size < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.stop();
  await server.start();
  await load.stop();
  const result = await examine(server, dataDir, { journal: load.journal, secret, replays: 50 });
  expect(result).toMatchObject({ missing: [], doubled: [], otherBytes: 0 });
});
