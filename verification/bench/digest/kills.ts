import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processUnderKills } from '../../../packages/server/testing/oracles/processing-survival.ts';
import { round } from '../print.ts';

/** Kills the worker with SIGKILL at random moments of processing, then compares every user with the model of the contract. */
export async function kills({ quick }: { quick: boolean }): Promise<string[][]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'beckon-digest-kills-'));
  try {
    const ordeal = quick ? { records: 10_000, kills: 4 } : { records: 200_000, kills: 50 };
    const verdict = await processUnderKills(dataDir, ordeal);
    const { records, hits, people, wrong } = verdict;
    return [[round(records), String(verdict.kills), String(hits), round(people), String(wrong.length)]];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
