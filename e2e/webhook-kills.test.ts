import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhooksUnderKills } from '../packages/server/testing/oracles/webhook-survival.ts';

/** `WEBHOOK_KILLS=200` sets the number of kills. Each takes about three seconds. */
const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 12);
const KILL_MS = 5_000;
/** The time until every hit is classified and the last attempt of a delivery is made. */
const END_MS = 120_000;

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'beckon-webhooks-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

test(
  'delivers every outcome under one id to every subscribed endpoint, and records an attempt for every POST, while workers and API are killed with SIGKILL',
  async () => {
    const result = await webhooksUnderKills(dataDir, { kills: KILLS, apiKills: Math.ceil(KILLS / 7) });
    process.stdout.write(`${JSON.stringify({ ...result, wrong: result.wrong.length })}\n`);
    expect(result.wrong).toEqual([]);
    expect(result.inFlight).toBeGreaterThan(0);
    expect(result.exhausted).toBeGreaterThan(0);
    expect(result.hits).toBeGreaterThan(0);
    expect(result.deliveries).toBeGreaterThan(result.outcomes);
  },
  KILLS * KILL_MS + END_MS,
);
