/**
 * Measures the whole path at a sustained rate. Events over HTTP in batches of a hundred are accepted, processed, and evaluated by five
 * audiences and two rules. One event in twenty causes a draft. One process does all of it; PostgreSQL and the load share the machine. The
 * baseline is bare SQL that writes the same rows.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { disableRule } from '../../../packages/server/src/modules/rules/switch-rule.ts';
import { countWrites, writeBaseline } from '../processing/baseline.ts';
import { pause } from '../processing/visible.ts';
import { waitingOf } from '../processing/waiting.ts';
import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { micros, ratio, round, show } from '../print.ts';
import { type Testbed, openTestbed, type Project, type Server } from '../testbed.ts';
import { addInactiveUsers, makePeople, ofEvent, serveAudiences, settle } from '../world.ts';
import { copyTables, openBaseline } from './baseline.ts';
import type { FromLoad, ToLoad } from './load-process.ts';
import { secondWorker } from './second-worker.ts';

type Sizes = { busy: number; fresh: number; seconds: number; pairs: number };
const FULL: Sizes = { busy: 10_000, fresh: 400_000, seconds: 60, pairs: 3 };
const QUICK: Sizes = { busy: 1_000, fresh: 20_000, seconds: 4, pairs: 1 };

const CONNECTIONS = 8;
const WARM_UP_MS = 5_000;
/** No more records may wait than are processed in some tenths of a second: a rate that only fills a queue is not sustained. */
const [PAUSE_AT, GO_AT] = [4_000, 2_000];

/** `npm run bench -- whole [rate | second-worker] [--quick]` */
export async function benchWhole(args: string[]): Promise<void> {
  const quick = args.includes('--quick');
  const names = args.filter((arg) => !arg.startsWith('--'));
  const isSelected = (name: string): boolean => names.length === 0 || names.includes(name);
  if (isSelected('rate'))
    await show(
      'Ingest, processing, rules and drafts at a sustained rate, against bare SQL that writes the same rows (target: ≥ 0.25)',
      [
        '',
        'events /s',
        'drafts /s',
        'bare SQL, events /s',
        'ratio',
        'rows per event',
        'Beckon CPU per event',
        'PostgreSQL CPU per event',
        'WAL per event',
        'stored per event',
      ],
      () => measureSustained(quick ? QUICK : FULL),
    );
  if (isSelected('second-worker'))
    await show(
      'A second worker (target: 0.8 × of the rate that the free cores allow; CPU per record ≤ 1.15 ×)',
      [
        '',
        'one worker, records /s',
        'two workers, records /s',
        'ratio',
        'target',
        'cores busy with one',
        'CPU per record, one',
        'CPU per record, two',
        'ratio',
      ],
      () => secondWorker({ quick }),
    );
}

async function measureSustained(sizes: Sizes): Promise<string[][]> {
  const rows: string[][] = [];
  const ratios: number[] = [];
  for (let pair = 1; pair <= sizes.pairs; pair += 1) {
    const result = await onePair(sizes);
    const { events, drafts, seconds, bareSeconds, bareRows, productCpu, postgresCpu } = result;
    ratios.push(bareSeconds / seconds);
    rows.push([
      `pair ${pair}`,
      round(events / seconds),
      round(drafts / seconds),
      round(events / bareSeconds),
      ratio(bareSeconds / seconds),
      (bareRows / events).toFixed(2),
      micros((productCpu / events) * 1e6),
      micros((postgresCpu / events) * 1e6),
      `${round(result.logBytes / events)} B`,
      `${round(result.storedBytes / events)} B`,
    ]);
  }
  return [...rows, ['median', '', '', '', ratio(median(ratios)), '', '', '', '', '']];
}

type Pair = {
  events: number;
  drafts: number;
  seconds: number;
  bareSeconds: number;
  bareRows: number;
  productCpu: number;
  postgresCpu: number;
  /** Bytes of the write-ahead log. `storedBytes` are those of tables and indexes. */
  logBytes: number;
  storedBytes: number;
};

async function onePair(sizes: Sizes): Promise<Pair> {
  const testbed = await openTestbed();
  try {
    const project = await fill(testbed, sizes);
    const server = await testbed.serve('all');
    const load = startLoad({ server, project, sizes });
    const regulatedLoad = regulate(testbed, { load, projectId: project.id });
    await pause(WARM_UP_MS);
    await regulatedLoad.drain();
    await copyTables(testbed.url);
    const writes = await countWrites(testbed);
    const before = await countsOf(testbed, project.id);
    const usageBefore = [usageOf(server.pid), usageOfTree(testbed.postgresPid)] as const;
    const startedAt = performance.now();
    regulatedLoad.go();
    await pause(sizes.seconds * 1_000);
    await regulatedLoad.drain();
    const seconds = (performance.now() - startedAt) / 1_000;
    const [product, postgres] = [usageOf(server.pid), usageOfTree(testbed.postgresPid)];
    await regulatedLoad.stop();
    const after = await countsOf(testbed, project.id);
    const baseline = await openBaseline(testbed.url, {
      projectId: project.id,
      writeResult: await writes.result(),
    });
    await server.stop();
    await settle(testbed.url);
    const writeResult = await writeBaseline(testbed.url, baseline);
    return {
      events: after.events - before.events,
      drafts: after.drafts - before.drafts,
      seconds,
      bareSeconds: writeResult.seconds,
      bareRows: writeResult.rows,
      productCpu: cpuBetween(usageBefore[0], product),
      postgresCpu: cpuBetween(usageBefore[1], postgres),
      logBytes: after.logBytes - before.logBytes,
      storedBytes: after.storedBytes - before.storedBytes,
    };
  } finally {
    await testbed.close();
  }
}

async function fill(testbed: Testbed, { busy, fresh }: Sizes): Promise<Project> {
  const { db } = testbed;
  const project = await testbed.project();
  const world = { projectId: project.id, people: busy, lapsed: 0, eventsOfEach: 2 };
  await makePeople(testbed, world);
  await addInactiveUsers(testbed, { projectId: project.id, from: busy, count: fresh + 1 });
  const shipped = await db.query<{ name: string }>('SELECT name FROM beckon.rule WHERE project_id = $1', [
    project.id,
  ]);
  for (const { name } of shipped)
    await disableRule(db, { projectId: project.id, reference: name, actor: 'operator' });
  for (const document of RULES) await createRule(db, { projectId: project.id, document });
  await serveAudiences(testbed, world, ofEvent('feature_used'));
  await settle(testbed.url);
  return project;
}

/** The first rule enrolls every user once. The second is evaluated for every user and enrolls none. */
const RULES = [
  { name: 'first_use', when: { event: 'feature_used' }, steps: [{ draft: 'welcome' }] },
  {
    name: 'large_and_busy',
    when: { event: 'feature_used', where: [{ property: 'amount', at_least: 5 }] },
    only_if: { trait: 'seats', at_least: 1_000 },
    steps: [{ draft: 'welcome' }],
  },
];

type LoadOptions = { server: Server; project: Project; sizes: Sizes };

function startLoad({ server, project, sizes }: LoadOptions): ChildProcess {
  const child = fork(join(import.meta.dirname, 'load-process.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const task = { ...sizes, port: server.port, secret: project.secret, connections: CONNECTIONS };
  child.send({ start: task } satisfies ToLoad);
  return child;
}

type RegulatedLoad = { go(): void; drain(): Promise<void>; stop(): Promise<void> };

function regulate(
  testbed: Testbed,
  { load, projectId }: { load: ChildProcess; projectId: number },
): RegulatedLoad {
  const send = (command: ToLoad): void => void load.send(command);
  const state = { isOn: true, isHeld: false };
  const watching = (async () => {
    for (; state.isOn; await pause(20)) {
      if (state.isHeld) continue;
      const waiting = await waitingOf(testbed.db, projectId);
      if (waiting > PAUSE_AT) send('pause');
      else if (waiting < GO_AT) send('go');
    }
  })();
  return {
    go() {
      state.isHeld = false;
      send('go');
    },
    async drain() {
      state.isHeld = true;
      send('pause');
      // Requests under way at the time of the pause are accepted a moment later.
      for (let quiet = 0; quiet < 5; await pause(20))
        quiet = (await waitingOf(testbed.db, projectId)) > 0 ? 0 : quiet + 1;
    },
    async stop() {
      state.isOn = false;
      await watching;
      const reply = once(load, 'message') as Promise<[FromLoad]>;
      send('stop');
      await reply;
    },
  };
}

type Counts = Record<'events' | 'drafts' | 'logBytes' | 'storedBytes', number>;

async function countsOf({ db }: Testbed, projectId: number): Promise<Counts> {
  const rows = await db.query<Counts>(
    `SELECT (SELECT count(*) FROM beckon.event WHERE project_id = $1) AS events, (SELECT count(*) FROM beckon.draft WHERE project_id = $1) AS drafts,
            (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint AS "logBytes",
            (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind = 'r')::bigint AS "storedBytes"`,
    [projectId],
  );
  if (!rows[0]) throw new Error('no row was counted');
  return rows[0];
}
