import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhooksUnderKills } from '../packages/server/testkit/webhook-survival.ts';

/** `WEBHOOK_KILLS=200` for as many as one has time for: each takes about three seconds. */
const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 12);
const KILL_MS = 5_000;
/** Until every hit is judged and the last try of a delivery is made. */
const END_MS = 120_000;

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'beckon-webhooks-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

test(
  'kill -9 of the worker and of who takes hits while outcomes pour in: every outcome is told under one id to every endpoint that wants it, and no POST is without its attempt',
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
