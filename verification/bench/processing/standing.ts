import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { percent } from '../print.ts';
import { openTestbed } from '../testbed.ts';
import { busyProject } from './latency.ts';
import { preload, uploadedUsers, backfillEvents } from './records.ts';
import type { Sizes } from './sizes.ts';
import { pause } from './visible.ts';
import { waitingOf } from './waiting.ts';
import { settle } from '../world.ts';

const QUIET_MS = 5_000;

/** Measures the CPU time and memory of a worker and its PostgreSQL while no record waits. A project with audiences exists. */
export async function idle(sizes: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    await busyProject(testbed, { ...sizes, people: 1_000, backfill: 1_000, batchRecords: 1_000 }, 1);
    await settle(testbed.url);
    const worker = await testbed.serve('worker');
    await pause(QUIET_MS);
    const used = (): ReturnType<typeof usageOf>[] => [usageOf(worker.pid), usageOfTree(testbed.postgresPid)];
    const [worker0, postgres0] = used();
    await pause(sizes.idleSeconds * 1_000);
    const [worker1, postgres1] = used();
    if (!worker0 || !worker1 || !postgres0 || !postgres1) throw new Error('no process was measured');
    const shares = [cpuBetween(worker0, worker1), cpuBetween(postgres0, postgres1)].map(
      (seconds) => seconds / sizes.idleSeconds,
    );
    return [[...shares, shares.reduce((a, b) => a + b, 0)].map(percent)];
  } finally {
    await testbed.close();
  }
}

const TABLES = [
  'person',
  'person_email',
  'event',
  'event_dedupe',
  'person_event',
  'event_volume',
  'event_property',
  'audience_member',
  'audience_timer',
  'audience_version',
  'audience_day',
  'activity',
] as const;

/** Imports a set of a thousand users and one of a thousand events three times each. The data must be the same before and after. */
export async function again(sizes: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const { world, project } = await busyProject(
      testbed,
      { ...sizes, people: 2_000, backfill: 1_000, batchRecords: 1_000 },
      1,
    );
    await testbed.serve('worker');
    const rows: string[][] = [];
    for (const [kind, records] of [
      ['users', uploadedUsers(world, { count: 1_000, run: 0 })],
      ['events', backfillEvents(world, { count: 1_000, run: 0 })],
    ] as const) {
      for (let time = 1; time <= 3; time += 1) {
        const before = await fingerprints(testbed.db, project.id);
        await preload(testbed.db, { projectId: project.id, kind, records });
        while ((await waitingOf(testbed.db, project.id)) > 0) await pause(20);
        const after = await fingerprints(testbed.db, project.id);
        const changedTables = TABLES.filter((table) => before.get(table) !== after.get(table));
        const result = time === 1 ? '' : changedTables.length === 0 ? 'nothing changed' : 'CHANGED';
        rows.push([`${kind}, import ${time}`, changedTables.join(', ') || 'none', result]);
      }
    }
    return rows;
  } finally {
    await testbed.close();
  }
}

type Db = Parameters<typeof waitingOf>[0];

/** Returns a checksum of every row of the project for each table, independent of the row order. */
async function fingerprints(db: Db, projectId: number): Promise<Map<string, string>> {
  const fingerprintsByTable = new Map<string, string>();
  for (const table of TABLES) {
    const rows = await db.query<{ print: string }>(
      `SELECT count(*) || ' ' || coalesce(sum(('x' || substr(md5(t::text), 1, 15))::bit(60)::bigint), 0) AS print
       FROM beckon.${table} t WHERE project_id = $1`,
      [projectId],
    );
    fingerprintsByTable.set(table, rows[0]?.print ?? '');
  }
  return fingerprintsByTable;
}
