import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { setSettings } from '../../../packages/server/src/modules/administration/set-settings.ts';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import { pause } from '../digest/visible.ts';
import { type Load, type LoadResult, startLoad } from '../load/index.ts';
import { median, usageOf } from '../measure.ts';
import { ratio, round, show } from '../print.ts';
import { type Ground, openGround, type Project, type Server } from '../stage.ts';
import { makePeople, ofEvent, serveAudiences, settle } from '../world.ts';
import { type Heap, watchHeap } from './heap.ts';
import { theilSen } from './slope.ts';

/**
 * Half an hour of ordinary operation: single events at a steady rate are processed and evaluated by audiences and rules. Every user gets a
 * draft repeatedly, some five per second, and the emails go to the test inbox. Once the product is warm it must not grow.
 */
const PER_SECOND = 300;
const EMAIL_EACH = '10m';
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

type Look = { minute: number; heap: number; rss: number; queues: number };

/** `npm run bench -- soak [--minutes=30] [--quick]` */
export async function benchSoak(args: string[]): Promise<void> {
  const given = args.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length);
  const minutes = Number(given ?? (args.includes('--quick') ? 1 : 30));
  await show(
    `${minutes} minutes at ${PER_SECOND} events a second (heap < 2 % an hour, resident ≤ 1.05 ×, queues ≤ 1.2 ×)`,
    ['', 'after warm-up', 'at the end', 'ratio', 'growth per hour, upper bound'],
    () => soak({ minutes, warmUp: args.includes('--quick') ? 0 : WARM_UP_MINUTES }),
  );
}

async function soak({ minutes, warmUp }: { minutes: number; warmUp: number }): Promise<string[][]> {
  const ground = await openGround();
  try {
    const project = await fill(ground);
    const inspector = await freePort();
    const server = await ground.serve('all', { nodeOptions: [`--inspect=127.0.0.1:${inspector}`] });
    const heap = await watchHeap(inspector);
    // Every user has an address before their first event.
    await startPosting({ server, project }, { kind: 'user', seconds: USERS / PER_SECOND + 2 }).result;
    const load = startPosting({ server, project }, { kind: 'event', seconds: (warmUp + minutes + 1) * 60 });
    await pause(warmUp * MINUTE_MS);
    const looks: Look[] = [];
    for (let minute = 1; minute <= minutes; minute += 1) {
      await pause(MINUTE_MS);
      looks.push(await look({ ground, server, heap }, minute));
    }
    load.stop();
    const posted = await load.result;
    heap.close();
    return [
      ...figures(looks),
      ['responses by status', '', answersOf(posted), '', ''],
      ['emails sent', '', String(await sentOf(ground)), '', ''],
    ];
  } finally {
    await ground.close();
  }
}

type To = { server: Server; project: Project };
type Posted = { kind: 'user' | 'event'; seconds: number };

function startPosting({ server, project }: To, { kind, seconds }: Posted): Load {
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

async function fill(ground: Ground): Promise<Project> {
  const { db } = ground;
  const project = await ground.project();
  const world = { projectId: project.id, people: 5_000, lapsed: 0, eventsOfEach: 2 };
  await makePeople(ground, world);
  await serveAudiences(ground, world, ofEvent('feature_used'));
  await setSettings(db, project.id, { quiet_hours: 'off', throttle: '300/m', frequency_cap: 'off' });
  const document = {
    name: 'used_again',
    when: { event: 'feature_used' },
    enrollment: { cooldown: EMAIL_EACH },
    deadline: '1m',
    steps: [{ draft: 'welcome' }],
  };
  await createRule(db, { projectId: project.id, document });
  await settle(ground.url);
  return project;
}

/** A server that gets more than it can take refuses, and the reader of the table has to see it. */
function answersOf({ statuses, lost }: LoadResult): string {
  const silent = Object.entries(lost).filter(([, count]) => count > 0);
  return [...Object.entries(statuses), ...silent].map(([what, count]) => `${what}: ${count}`).join(', ');
}

async function sentOf({ db }: Ground): Promise<number> {
  const [row] = await db.query<{ sent: number }>(
    `SELECT count(*)::int AS sent FROM beckon.draft WHERE state = 'sent'`,
  );
  return row?.sent ?? 0;
}

type Watched = { ground: Ground; server: Server; heap: Heap };

async function look({ ground, server, heap }: Watched, minute: number): Promise<Look> {
  const [size] = await ground.db.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
     WHERE c.relnamespace = 'beckon'::regnamespace AND c.relname = ANY($1)`,
    [QUEUES],
  );
  const rss = usageOf(server.pid).rssBytes;
  return { minute, heap: await heap.usedBytes(), rss, queues: size?.bytes ?? Number.NaN };
}

function figures(looks: Look[]): string[][] {
  const of = (name: 'heap' | 'rss', some: Look[]): number => median(some.map((each) => each[name]));
  const [early, late] = [looks.slice(10, 15), looks.slice(-5)];
  const first = early.length > 0 ? early : looks.slice(0, 1);
  const { upper } = theilSen(looks.map(({ minute, heap }) => [minute, heap]));
  const tenth = looks[9] ?? looks[0];
  const last = looks.at(-1);
  const mb = (bytes: number): string => `${round(bytes / 1024 ** 2)} MiB`;
  const row = (name: string, [from, to]: [number, number], more = ''): string[] => [
    name,
    mb(from),
    mb(to),
    ratio(to / from),
    more,
  ];
  const hourly = ((upper * HOUR_MINUTES) / of('heap', looks)) * 100;
  return [
    row('heap after garbage collection', [of('heap', first), of('heap', late)], `${hourly.toFixed(2)} %`),
    row('resident memory', [of('rss', first), of('rss', late)]),
    row('queue tables', [tenth?.queues ?? Number.NaN, last?.queues ?? Number.NaN]),
  ];
}
