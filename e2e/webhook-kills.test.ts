import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhooksUnderKills } from '../packages/server/testkit/webhook-survival.ts';

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
    const verdict = await webhooksUnderKills(dataDir, { kills: KILLS, apiKills: Math.ceil(KILLS / 7) });
    process.stdout.write(`${JSON.stringify({ ...verdict, wrong: verdict.wrong.length })}\n`);
    expect(verdict.wrong).toEqual([]);
    expect(verdict.inHand).toBeGreaterThan(0);
    expect(verdict.exhausted).toBeGreaterThan(0);
    expect(verdict.hits).toBeGreaterThan(0);
    expect(verdict.deliveries).toBeGreaterThan(verdict.outcomes);
  },
  KILLS * KILL_MS + END_MS,
);
