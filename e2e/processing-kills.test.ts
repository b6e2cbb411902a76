import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processUnderKills } from '../packages/server/testing/oracles/processing-survival.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'beckon-processing-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

test('applies every record once, in the order of acceptance, while the worker is killed with SIGKILL during processing', async () => {
  const result = await processUnderKills(dataDir, { records: 20_000, kills: 6 });
  expect(result.hits).toBeGreaterThan(0);
  expect(result).toMatchObject({ records: 20_000, wrong: [] });
});
