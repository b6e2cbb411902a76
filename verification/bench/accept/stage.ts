import { openTestbed, type Testbed, type Target } from '../testbed.ts';

export type { Target } from '../testbed.ts';

/** The product as it runs in production, next to a baseline route: each in a process of its own, over one embedded PostgreSQL. */
export type Stage = Pick<Testbed, 'postgresPid' | 'db' | 'url' | 'project' | 'close'> & {
  real: Target;
  baseline: Target;
};

export async function openStage(): Promise<Stage> {
  const testbed = await openTestbed();
  try {
    // Accepted records stay in the ingest queue: processing has its own benchmarks.
    const real = await testbed.serve('api');
    const baseline = await testbed.script('verification/bench/accept/baseline.ts');
    return { ...testbed, real, baseline };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}
