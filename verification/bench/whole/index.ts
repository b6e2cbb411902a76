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
import { countWrites, writeBare } from '../digest/bare.ts';
import { pause } from '../digest/visible.ts';
import { waitingOf } from '../digest/waiting.ts';
import { cpuBetween, median, usageOf, usageOfTree } from '../measure.ts';
import { micros, ratio, round, show } from '../print.ts';
import { type Ground, openGround, type Project, type Server } from '../stage.ts';
import { addSilent, makePeople, ofEvent, serveAudiences, settle } from '../world.ts';
import { copyAll, openAll } from './bare.ts';
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
  const wanted = args.filter((arg) => !arg.startsWith('--'));
  const wants = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
  if (wants('rate'))
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
      () => sustained(quick ? QUICK : FULL),
    );
  if (wants('second-worker'))
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

async function sustained(sizes: Sizes): Promise<string[][]> {
  const rows: string[][] = [];
  const ratios: number[] = [];
  for (let pair = 1; pair <= sizes.pairs; pair += 1) {
    const done = await onePair(sizes);
    const { events, drafts, seconds, bareSeconds, bareRows, productCpu, postgresCpu } = done;
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
      `${round(done.logBytes / events)} B`,
      `${round(done.storedBytes / events)} B`,
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
  const ground = await openGround();
  try {
    const project = await fill(ground, sizes);
    const server = await ground.serve('all');
    const load = startLoad({ server, project, sizes });
    const regulated = regulate(ground, { load, projectId: project.id });
    await pause(WARM_UP_MS);
    await regulated.drain();
    await copyAll(ground.url);
    const writes = await countWrites(ground);
    const before = await countsOf(ground, project.id);
    const used = [usageOf(server.pid), usageOfTree(ground.postgresPid)] as const;
    const startedAt = performance.now();
    regulated.go();
    await pause(sizes.seconds * 1_000);
    await regulated.drain();
    const seconds = (performance.now() - startedAt) / 1_000;
    const [product, postgres] = [usageOf(server.pid), usageOfTree(ground.postgresPid)];
    await regulated.stop();
    const after = await countsOf(ground, project.id);
    const bare = await openAll(ground.url, { projectId: project.id, written: await writes.done() });
    await server.stop();
    await settle(ground.url);
    const written = await writeBare(ground.url, bare);
    return {
      events: after.events - before.events,
      drafts: after.drafts - before.drafts,
      seconds,
      bareSeconds: written.seconds,
      bareRows: written.rows,
      productCpu: cpuBetween(used[0], product),
      postgresCpu: cpuBetween(used[1], postgres),
      logBytes: after.logBytes - before.logBytes,
      storedBytes: after.storedBytes - before.storedBytes,
    };
  } finally {
    await ground.close();
  }
}

async function fill(ground: Ground, { busy, fresh }: Sizes): Promise<Project> {
  const { db } = ground;
  const project = await ground.project();
  const world = { projectId: project.id, people: busy, lapsed: 0, eventsOfEach: 2 };
  await makePeople(ground, world);
  await addSilent(ground, { projectId: project.id, from: busy, count: fresh + 1 });
  const shipped = await db.query<{ name: string }>('SELECT name FROM beckon.rule WHERE project_id = $1', [
    project.id,
  ]);
  for (const { name } of shipped)
    await disableRule(db, { projectId: project.id, reference: name, actor: 'operator' });
  for (const document of RULES) await createRule(db, { projectId: project.id, document });
  await serveAudiences(ground, world, ofEvent('feature_used'));
  await settle(ground.url);
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

type Loading = { server: Server; project: Project; sizes: Sizes };

function startLoad({ server, project, sizes }: Loading): ChildProcess {
  const child = fork(join(import.meta.dirname, 'load-process.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const task = { ...sizes, port: server.port, secret: project.secret, connections: CONNECTIONS };
  child.send({ start: task } satisfies ToLoad);
  return child;
}

type Regulated = { go(): void; drain(): Promise<void>; stop(): Promise<void> };

function regulate(ground: Ground, { load, projectId }: { load: ChildProcess; projectId: number }): Regulated {
  const tell = (what: ToLoad): void => void load.send(what);
  const state = { isOn: true, isHeld: false };
  const watching = (async () => {
    for (; state.isOn; await pause(20)) {
      if (state.isHeld) continue;
      const waiting = await waitingOf(ground.db, projectId);
      if (waiting > PAUSE_AT) tell('pause');
      else if (waiting < GO_AT) tell('go');
    }
  })();
  return {
    go() {
      state.isHeld = false;
      tell('go');
    },
    async drain() {
      state.isHeld = true;
      tell('pause');
      // Requests under way at the time of the pause are accepted a moment later.
      for (let quiet = 0; quiet < 5; await pause(20))
        quiet = (await waitingOf(ground.db, projectId)) > 0 ? 0 : quiet + 1;
    },
    async stop() {
      state.isOn = false;
      await watching;
      const told = once(load, 'message') as Promise<[FromLoad]>;
      tell('stop');
      await told;
    },
  };
}

type Counts = Record<'events' | 'drafts' | 'logBytes' | 'storedBytes', number>;

async function countsOf({ db }: Ground, projectId: number): Promise<Counts> {
  const rows = await db.query<Counts>(
    `SELECT (SELECT count(*) FROM beckon.event WHERE project_id = $1) AS events, (SELECT count(*) FROM beckon.draft WHERE project_id = $1) AS drafts,
            (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint AS "logBytes",
            (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = 'beckon'::regnamespace AND c.relkind = 'r')::bigint AS "storedBytes"`,
    [projectId],
  );
  if (!rows[0]) throw new Error('nothing was counted');
  return rows[0];
}
