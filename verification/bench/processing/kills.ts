import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processUnderKills } from '../../../packages/server/testing/oracles/processing-survival.ts';
import { round } from '../print.ts';

/** Kills the worker with SIGKILL at random moments of processing, then compares every user with the model of the contract. */
export async function kills({ quick }: { quick: boolean }): Promise<string[][]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-processing-kills-'));
  try {
    const options = quick ? { records: 10_000, kills: 4 } : { records: 200_000, kills: 50 };
    const result = await processUnderKills(dataDir, options);
    const { records, hits, people, wrong } = result;
    return [[round(records), String(result.kills), String(hits), round(people), String(wrong.length)]];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
