import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { ratio, round } from '../print.ts';
import { type Ground, openGround } from '../stage.ts';
import { audiences, makePeople, serveAudiences, settle, type World } from '../world.ts';
import { copyBefore, countWrites, openBare, writeBare } from './bare.ts';
import { backfillEvents, lapsedOf, preload, uploadedUsers } from './records.ts';
import type { Sizes } from './sizes.ts';
import { drained, withTurnHeld } from './waiting.ts';

/**
 * Measures how fast bulk records are processed, compared with how fast a minimal loop writes the same rows into the same tables
 * (`bare.ts`). The world of 20 audiences is that of `world.ts`: an event or a user affects 5 of them, and 1 % change a membership.
 *
 * The ingest queue is filled while the benchmark holds the project lock. Then the lock is released, and the worker, which is warm, begins.
 * The measured time is from the first completed batch until no record waits.
 */
export async function rate(sizes: Sizes, kind: 'events' | 'users'): Promise<string[][]> {
  const ground = await openGround();
  try {
    const runs = sizes.pairs + 1;
    const { id: projectId } = await ground.project();
    const lapsed = runs * lapsedOf(sizes.batchRecords);
    const world = { projectId, people: sizes.people + lapsed, lapsed, eventsOfEach: 4 };
    await makePeople(ground, world);
    await serveAudiences(ground, world, audiences(20));
    const worker = await ground.serve('worker');
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const pair = await onePair({ ground, world, kind, workerPid: worker.pid }, sizes.batchRecords, run);
      // The first run warms both sides up.
      if (run === 0) continue;
      ratios.push(pair.digest / pair.bare);
      rows.push([`pair ${run}`, ...shown(pair)]);
    }
    return [...rows, ['median', '', '', ratio(median(ratios)), '', '', '', '']];
  } finally {
    await ground.close();
  }
}

type Run = { ground: Ground; world: World; kind: 'events' | 'users'; workerPid: number };
type Pair = {
  digest: number;
  bare: number;
  rowsWritten: number;
  moved: number;
  workerMicros: number;
  postgresMicros: number;
};

async function onePair(run: Run, count: number, nth: number): Promise<Pair> {
  const { ground, world, kind, workerPid } = run;
  const { db, url } = ground;
  const { projectId } = world;
  await copyBefore(url);
  const { writes, since, before } = await withTurnHeld(db, projectId, async () => {
    const made = (kind === 'events' ? backfillEvents : uploadedUsers)(world, { count, run: nth });
    await preload(db, { projectId, kind, records: made });
    await settle(url);
    return {
      writes: await countWrites(ground),
      since: await databaseTime(ground),
      before: { worker: usageOf(workerPid), postgres: usageOfTree(ground.postgresPid) },
    };
  });
  const { perSecond } = await drained(db, { projectId, records: count });
  const after = { worker: usageOf(workerPid), postgres: usageOfTree(ground.postgresPid) };
  const written = await writes.done();
  const bare = await openBare(ground, { projectId, since, written });
  await settle(url);
  const { seconds, rows } = await writeBare(url, bare);
  return {
    digest: perSecond,
    bare: count / seconds,
    rowsWritten: rows / count,
    moved: await movesOf(ground, projectId, since),
    workerMicros: (cpuBetween(before.worker, after.worker) / count) * 1e6,
    postgresMicros: (cpuBetween(before.postgres, after.postgres) / count) * 1e6,
  };
}

function shown(pair: Pair): string[] {
  return [
    round(pair.digest),
    round(pair.bare),
    ratio(pair.digest / pair.bare),
    pair.rowsWritten.toFixed(2),
    round(pair.moved),
    `${round(pair.workerMicros)} µs`,
    `${round(pair.postgresMicros)} µs`,
  ];
}

async function databaseTime({ db }: Ground): Promise<Date> {
  const rows = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now ?? new Date();
}

/** Returns the number of joins and leaves, from the change stream. */
async function movesOf({ db }: Ground, projectId: number, since: Date): Promise<number> {
  const rows = await db.query<{ moved: number }>(
    `SELECT coalesce(sum((detail ->> 'joined')::int + (detail ->> 'left')::int), 0)::float8 AS moved
     FROM beckon.activity WHERE project_id = $1 AND at >= $2 AND kind = 'bulk_change'`,
    [projectId, since],
  );
  return rows[0]?.moved ?? 0;
}
