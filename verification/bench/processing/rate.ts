import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { ratio, round } from '../print.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import { audiences, makePeople, serveAudiences, settle, type World } from '../world.ts';
import { copyBefore, countWrites, openBaseline, writeBaseline } from './baseline.ts';
import { backfillEvents, lapsedOf, preload, uploadedUsers } from './records.ts';
import type { Sizes } from './sizes.ts';
import { untilProcessed, withProjectLock } from './waiting.ts';

/**
 * Measures how fast bulk records are processed, compared with how fast a minimal loop writes the same rows into the same tables
 * (`baseline.ts`). The world of 20 audiences is that of `world.ts`: an event or a user affects 5 of them, and 1 % change a membership.
 *
 * The ingest queue is filled while the benchmark holds the project lock. Then the lock is released, and the worker, which is warm, begins.
 * The measured time is from the first completed batch until no record waits.
 */
export async function rate(sizes: Sizes, kind: 'events' | 'users'): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const runs = sizes.pairs + 1;
    const { id: projectId } = await testbed.project();
    const lapsed = runs * lapsedOf(sizes.batchRecords);
    const world = { projectId, people: sizes.people + lapsed, lapsed, eventsOfEach: 4 };
    await makePeople(testbed, world);
    await serveAudiences(testbed, world, audiences(20));
    const worker = await testbed.serve('worker');
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const pair = await onePair({ testbed, world, kind, workerPid: worker.pid }, sizes.batchRecords, run);
      // The first run warms both sides up.
      if (run === 0) continue;
      ratios.push(pair.processed / pair.baseline);
      rows.push([`pair ${run}`, ...formatPair(pair)]);
    }
    return [...rows, ['median', '', '', ratio(median(ratios)), '', '', '', '']];
  } finally {
    await testbed.close();
  }
}

type Run = { testbed: Testbed; world: World; kind: 'events' | 'users'; workerPid: number };
type Pair = {
  processed: number;
  baseline: number;
  rowsWritten: number;
  moved: number;
  workerMicros: number;
  postgresMicros: number;
};

async function onePair(run: Run, count: number, nth: number): Promise<Pair> {
  const { testbed, world, kind, workerPid } = run;
  const { db, url } = testbed;
  const { projectId } = world;
  await copyBefore(url);
  const { writes, since, before } = await withProjectLock(db, projectId, async () => {
    const records = (kind === 'events' ? backfillEvents : uploadedUsers)(world, { count, run: nth });
    await preload(db, { projectId, kind, records });
    await settle(url);
    return {
      writes: await countWrites(testbed),
      since: await databaseTime(testbed),
      before: { worker: usageOf(workerPid), postgres: usageOfTree(testbed.postgresPid) },
    };
  });
  const { perSecond } = await untilProcessed(db, { projectId, records: count });
  const after = { worker: usageOf(workerPid), postgres: usageOfTree(testbed.postgresPid) };
  const writeCounts = await writes.result();
  const baseline = await openBaseline(testbed, { projectId, since, writeCounts });
  await settle(url);
  const { seconds, rows } = await writeBaseline(url, baseline);
  return {
    processed: perSecond,
    baseline: count / seconds,
    rowsWritten: rows / count,
    moved: await movesOf(testbed, projectId, since),
    workerMicros: (cpuBetween(before.worker, after.worker) / count) * 1e6,
    postgresMicros: (cpuBetween(before.postgres, after.postgres) / count) * 1e6,
  };
}

function formatPair(pair: Pair): string[] {
  return [
    round(pair.processed),
    round(pair.baseline),
    ratio(pair.processed / pair.baseline),
    pair.rowsWritten.toFixed(2),
    round(pair.moved),
    `${round(pair.workerMicros)} µs`,
    `${round(pair.postgresMicros)} µs`,
  ];
}

async function databaseTime({ db }: Testbed): Promise<Date> {
  const rows = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now ?? new Date();
}

/** Returns the number of joins and leaves, from the change stream. */
async function movesOf({ db }: Testbed, projectId: number, since: Date): Promise<number> {
  const rows = await db.query<{ moved: number }>(
    `SELECT coalesce(sum((detail ->> 'joined')::int + (detail ->> 'left')::int), 0)::float8 AS moved
     FROM beckon.activity WHERE project_id = $1 AND at >= $2 AND kind = 'bulk_change'`,
    [projectId, since],
  );
  return rows[0]?.moved ?? 0;
}
