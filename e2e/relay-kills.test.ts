import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KindFindings, relaysUnderKills } from '../packages/server/testing/oracles/relay-survival.ts';

/** `RELAY_KILLS=100` sets the number of kills. Each takes about three seconds. */
const KILLS = Number(process.env['RELAY_KILLS'] ?? 4);
const KILL_MS = 10_000;
/** The time until every relay was asked, and every email has a result. */
const END_MS = 240_000;

let dataDir: string;
let found: KindFindings[] = [];
beforeAll(
  async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'beckon-relays-'));
    found = await relaysUnderKills(dataDir, { kills: KILLS });
    for (const kind of found) process.stdout.write(`${JSON.stringify(kind)}\n`);
  },
  KILLS * KILL_MS + END_MS,
);
afterAll(() => rm(dataDir, { recursive: true, force: true }));

describe('a server that is killed between a request to a provider and its answer', () => {
  test('sends no email twice', () => {
    expect(found.map(({ kind, doubled }) => [kind, doubled])).toEqual(found.map(({ kind }) => [kind, []]));
    expect(found.map(({ kills }) => kills)).toEqual(found.map(() => KILLS));
    for (const { emails, acceptedBefore } of found) {
      expect(acceptedBefore).toBeGreaterThan(emails / 4);
      expect(acceptedBefore).toBeLessThan((emails * 3) / 4);
    }
  });

  test('asks no relay against a check, after its window, or without a key', () => {
    expect(found.map(({ kind, against }) => [kind, against])).toEqual(found.map(({ kind }) => [kind, []]));
  });

  test('settles every other email of a kind with a key, and leaves those of the other kinds unknown', () => {
    expect(found.map(({ kind, wrong }) => [kind, wrong])).toEqual(found.map(({ kind }) => [kind, []]));
    for (const { hasKey, asked, emails } of found)
      expect(asked).toBeGreaterThanOrEqual(hasKey ? emails / 2 : 0);
  });
});
