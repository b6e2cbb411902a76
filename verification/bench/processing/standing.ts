import { cpuBetween, usageOf, usageOfTree } from '../measure.ts';
import { progress } from '../fill.ts';
import { openTestbed } from '../testbed.ts';
import { busyProject } from './latency.ts';
import { withLive } from './live.ts';
import { preload, uploadedUsers, backfillEvents } from './records.ts';
import type { Sizes } from './sizes.ts';
import { pause } from './visible.ts';
import { waitingOf } from './waiting.ts';
import { settle } from '../world.ts';

const LOAD_MS = 10_000;
const LOAD_PER_SECOND = 200;

/**
 * Measures the CPU time of the server and its PostgreSQL in the second minute after a load, while nothing is due. A project with audiences
 * exists. The first minute is left out, because PostgreSQL then writes and cleans up what the load left.
 */
export async function idle(sizes: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const { project } = await busyProject(
      testbed,
      { ...sizes, people: 1_000, backfill: 1_000, batchRecords: 1_000 },
      1,
    );
    await settle(testbed.url);
    const server = await testbed.serve('all');
    const live = { testbed, api: server, projects: [project], perSecond: LOAD_PER_SECOND };
    await withLive(live, () => pause(LOAD_MS));
    progress(`idle: measured in ${sizes.idleAfterSeconds} s, for ${sizes.idleSeconds} s`);
    await pause(sizes.idleAfterSeconds * 1_000);
    const used = (): ReturnType<typeof usageOf>[] => [usageOf(server.pid), usageOfTree(testbed.postgresPid)];
    const [server0, postgres0] = used();
    await pause(sizes.idleSeconds * 1_000);
    const [server1, postgres1] = used();
    if (!server0 || !server1 || !postgres0 || !postgres1) throw new Error('no process was measured');
    const seconds = [cpuBetween(server0, server1), cpuBetween(postgres0, postgres1)];
    return [[...seconds, seconds.reduce((a, b) => a + b, 0)].map((each) => `${each.toFixed(2)} s`)];
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
