import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { setSettings } from '../../../packages/server/src/modules/administration/set-settings.ts';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import { pause } from '../processing/visible.ts';
import { type Load, type LoadResult, startLoad } from '../load/index.ts';
import { median, usageOf } from '../measure.ts';
import { ratio, round, show } from '../print.ts';
import { type Testbed, openTestbed, type Project, type Server } from '../testbed.ts';
import { makePeople, ofEvent, serveAudiences, settle } from '../world.ts';
import { type Heap, watchHeap } from './heap.ts';
import { theilSen } from './slope.ts';

/**
 * Half an hour of ordinary operation: single events at a steady rate are processed and evaluated by audiences and rules. Every user gets a
 * draft repeatedly, some five per second, and the emails go to the test inbox. Once the product is warm it must not grow.
 */
const PER_SECOND = 300;
const COOLDOWN = '10m';
const MINUTE_MS = 60_000;
/** Comes before the first measured minute: the last code is compiled within this time. */
const WARM_UP_MINUTES = 25;
const HOUR_MINUTES = 60;
const USERS = 3_000;
const SEED = 1;
const QUEUES = [
  'ingest_queue',
  'ingest_queue_state',
  'project_timer',
  'project_lock',
  'send_lock',
  'audience_timer',
  'rule_timer',
];

type Reading = { minute: number; heap: number; rss: number; queues: number };

/** `npm run bench -- soak [--minutes=30] [--quick]` */
export async function benchSoak(args: string[]): Promise<void> {
  const minutesOption = args.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length);
  const minutes = Number(minutesOption ?? (args.includes('--quick') ? 1 : 30));
  await show(
    `${minutes} minutes at ${PER_SECOND} events a second (heap < 2 % an hour, resident ≤ 1.05 ×, queues ≤ 1.2 ×)`,
    ['', 'after warm-up', 'at the end', 'ratio', 'growth per hour, upper bound'],
    () => soak({ minutes, warmUp: args.includes('--quick') ? 0 : WARM_UP_MINUTES }),
  );
}

async function soak({ minutes, warmUp }: { minutes: number; warmUp: number }): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const project = await fill(testbed);
    const inspector = await freePort();
    const server = await testbed.serve('all', { nodeOptions: [`--inspect=127.0.0.1:${inspector}`] });
    const heap = await watchHeap(inspector);
    // Every user has an address before their first event.
    await startPosting({ server, project }, { kind: 'user', seconds: USERS / PER_SECOND + 2 }).result;
    const load = startPosting({ server, project }, { kind: 'event', seconds: (warmUp + minutes + 1) * 60 });
    await pause(warmUp * MINUTE_MS);
    const readings: Reading[] = [];
    for (let minute = 1; minute <= minutes; minute += 1) {
      await pause(MINUTE_MS);
      readings.push(await takeReading({ testbed, server, heap }, minute));
    }
    load.stop();
    const loadResult = await load.result;
    heap.close();
    return [
      ...figures(readings),
      ['responses by status', '', describeResponses(loadResult), '', ''],
      ['emails sent', '', String(await countSent(testbed)), '', ''],
    ];
  } finally {
    await testbed.close();
  }
}

type PostTarget = { server: Server; project: Project };
type PostOptions = { kind: 'user' | 'event'; seconds: number };

function startPosting({ server, project }: PostTarget, { kind, seconds }: PostOptions): Load {
  return startLoad({
    host: '127.0.0.1',
    port: server.port,
    request: {
      method: 'POST',
      path: `/api/v1/${kind}s`,
      projects: [project.secret],
      idempotencyKey: true,
      body: { kind },
      users: USERS,
      usersSeed: SEED,
    },
    mode: { kind: 'open', perSecond: PER_SECOND, connections: 32 },
    seconds,
  });
}

async function fill(testbed: Testbed): Promise<Project> {
  const { db } = testbed;
  const project = await testbed.project();
  const world = { projectId: project.id, people: 5_000, lapsed: 0, eventsOfEach: 2 };
  await makePeople(testbed, world);
  await serveAudiences(testbed, world, ofEvent('feature_used'));
  await setSettings(db, project.id, { quiet_hours: 'off', throttle: '300/m', frequency_cap: 'off' });
  const document = {
    name: 'used_again',
    when: { event: 'feature_used' },
    enrollment: { cooldown: COOLDOWN },
    deadline: '1m',
    steps: [{ draft: 'welcome' }],
  };
  await createRule(db, { projectId: project.id, document });
  await settle(testbed.url);
  return project;
}

/** A server that gets more than it can take refuses, and the reader of the table has to see it. */
function describeResponses({ statuses, lost }: LoadResult): string {
  const lostResponses = Object.entries(lost).filter(([, count]) => count > 0);
  return [...Object.entries(statuses), ...lostResponses]
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}

async function countSent({ db }: Testbed): Promise<number> {
  const [row] = await db.query<{ sent: number }>(
    `SELECT count(*)::int AS sent FROM beckon.draft WHERE state = 'sent'`,
  );
  return row?.sent ?? 0;
}

type ReadingSource = { testbed: Testbed; server: Server; heap: Heap };

async function takeReading({ testbed, server, heap }: ReadingSource, minute: number): Promise<Reading> {
  const [size] = await testbed.db.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relname = ANY($1)`,
    [QUEUES],
  );
  const rss = usageOf(server.pid).rssBytes;
  return { minute, heap: await heap.usedBytes(), rss, queues: size?.bytes ?? Number.NaN };
}

function figures(readings: Reading[]): string[][] {
  const medianOf = (name: 'heap' | 'rss', subset: Reading[]): number =>
    median(subset.map((each) => each[name]));
  const [early, late] = [readings.slice(10, 15), readings.slice(-5)];
  const first = early.length > 0 ? early : readings.slice(0, 1);
  const { upper } = theilSen(readings.map(({ minute, heap }) => [minute, heap]));
  const tenth = readings[9] ?? readings[0];
  const last = readings.at(-1);
  const formatMib = (bytes: number): string => `${round(bytes / 1024 ** 2)} MiB`;
  const row = (name: string, [from, to]: [number, number], more = ''): string[] => [
    name,
    formatMib(from),
    formatMib(to),
    ratio(to / from),
    more,
  ];
  const hourly = ((upper * HOUR_MINUTES) / medianOf('heap', readings)) * 100;
  return [
    row(
      'heap after garbage collection',
      [medianOf('heap', first), medianOf('heap', late)],
      `${hourly.toFixed(2)} %`,
    ),
    row('resident memory', [medianOf('rss', first), medianOf('rss', late)]),
    row('queue tables', [tenth?.queues ?? Number.NaN, last?.queues ?? Number.NaN]),
  ];
}
