import { openGround, type Ground, type Target } from '../stage.ts';

export type { Target } from '../stage.ts';

/** The product as it runs in production, next to a baseline route: each in a process of its own, over one embedded PostgreSQL. */
export type Stage = Pick<Ground, 'postgresPid' | 'db' | 'url' | 'project' | 'close'> & {
  real: Target;
  bare: Target;
};

export async function openStage(): Promise<Stage> {
  const ground = await openGround();
  try {
    // Accepted records stay in the ingest queue: processing has its own benchmarks.
    const real = await ground.serve('api');
    const bare = await ground.script('verification/bench/accept/bare.ts');
    return { ...ground, real, bare };
  } catch (error) {
    await ground.close();
    throw error;
  }
}
