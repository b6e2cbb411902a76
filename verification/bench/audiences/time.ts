import { type Live, withLive } from '../processing/live.ts';
import { pause, visibility } from '../processing/visible.ts';
import { fillInSteps } from '../fill.ts';
import { quantile } from '../measure.ts';
import { ms, formatMsOrNone, round } from '../print.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import { addInactiveUsers, makePeople, serveAudiences, settle, type World } from '../world.ts';
import type { Sizes } from './sizes.ts';

/**
 * Measures changes that only time causes: "no feature_used for 7 days", in a project of a million users. Users with a pending timer did it
 * once, seven days before that timer. Their timers are stored as processing would have left them. All others never did it, and are members.
 *
 * Lateness is the time in the change stream (`audience_joined`, the clock of the transaction that moved them) minus the exact moment, for
 * each user. `until` is when the last of them was committed, as a check every 20 ms saw it. First a thousand per second fall due, then a
 * burst of 50,000 within one second.
 */
export async function timeOnly(sizes: Sizes): Promise<{ rows: string[][]; live: string[][] }> {
  const testbed = await openTestbed();
  try {
    const project = await testbed.project();
    const steady = sizes.duePerSecond * sizes.dueSeconds;
    const world = { projectId: project.id, people: 0, lapsed: 0, eventsOfEach: 0 };
    await makePeople(testbed, world);
    await addInactiveUsers(testbed, { projectId: project.id, from: 0, count: sizes.people });
    const all = { ...world, people: sizes.people, withoutMoments: true };
    const [served] = await serveAudiences(testbed, all, [
      { name: 'quiet', definition: { not: { event: 'feature_used', within: '7d' } } },
    ]);
    if (!served) throw new Error('no audience');
    await settle(testbed.url);
    const api = await testbed.serve('all');
    const live: Live = { testbed, api, projects: [project], perSecond: sizes.perSecond };
    const before = await withLive(live, () => pause(sizes.liveSeconds * 1_000));
    const target = { testbed, world: all, versionId: served.versionId };
    const evenly = await withLive(live, () =>
      makeDue(target, { from: 0, count: steady, overMs: sizes.dueSeconds * 1_000 }),
    );
    const burst = await withLive(live, () =>
      makeDue(target, { from: steady, count: sizes.burst, overMs: 1_000 }),
    );
    const after = await withLive(live, () => pause(sizes.liveSeconds * 1_000));
    const rows = [
      formatLate(`${round(sizes.duePerSecond)} a second for ${sizes.dueSeconds} s`, evenly.result),
      formatLate(`${round(sizes.burst)} within a second`, burst.result),
    ];
    const lives = (
      [
        ['before', visibility(before.samples)],
        ['beside the steady ones', visibility(evenly.samples, evenly.result.span)],
        ['beside the burst', visibility(burst.samples, burst.result.span)],
        ['after', visibility(after.samples)],
      ] as const
    ).map(([name, latencies]) => [
      name,
      String(latencies?.samples ?? 0),
      formatMsOrNone(latencies?.p50 ?? null),
      formatMsOrNone(latencies?.p95 ?? null),
      formatMsOrNone(latencies?.p99 ?? null),
    ]);
    return { rows, live: lives };
  } finally {
    await testbed.close();
  }
}

type TimerTarget = { testbed: Testbed; world: World; versionId: number };
type Wave = { from: number; count: number; overMs: number };
type Late = {
  late: number[];
  missing: number;
  /** Adjacent entries of the change stream where the later one was due earlier, in another transaction. */
  outOfOrder: number;
  seconds: number;
  span: { from: number; to: number };
};

/** Five times what a fast disk needs. */
const PREPARE_MS_EACH = 1;
const GIVE_UP_MS = 120_000;

/** Writes evenly spaced timers that begin some seconds ahead, then waits until all of them have passed and were processed. */
async function makeDue(
  { testbed, world, versionId }: TimerTarget,
  { from, count, overMs }: Wave,
): Promise<Late> {
  const { db } = testbed;
  const firstAt = Date.now() + 3_000 + count * PREPARE_MS_EACH;
  await fillInSteps(testbed.url, { name: 'moments', rows: count }, async (client, a, b) => {
    const values = [world.projectId, from + a, from + b, new Date(firstAt), overMs / count, from];
    await client.query(EVENTS, values);
    await client.query(NO_MEMBERS, [world.projectId, versionId, from + a, from + b]);
    await client.query(MOMENTS, [...values, versionId]);
  });
  await db.query(COUNT, [world.projectId, versionId, count]);
  await db.query(
    `UPDATE beckon.project_timer SET next_at = least(next_at, $2::timestamptz) WHERE project_id = $1 AND work = 'process'`,
    [world.projectId, new Date(firstAt)],
  );
  if (Date.now() > firstAt)
    throw new Error('the moments came before they were all written: prepare for longer');
  await pause(firstAt - Date.now());
  const begun = performance.now();
  const giveUpAt = begun + overMs + GIVE_UP_MS;
  await pause(overMs - 100);
  while (performance.now() < giveUpAt && (await isDue(db, world.projectId))) await pause(20);
  const to = performance.now();
  return {
    ...(await lateness(db, world, { from, count })),
    seconds: (to - begun) / 1_000,
    span: { from: begun, to },
  };
}

const USER = `'u-' || substr(md5(n::text), 1, 16)`;
const MOMENT = `$4::timestamptz + floor((n - $6::int) * $5::float8) * interval '1 millisecond'`;

const EVENTS = `
  INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
  SELECT $1::bigint, at, gen_random_uuid(), ${USER}, 'feature_used', '{}', at, at, n, false
  FROM generate_series($2::int, $3::int - 1) AS n CROSS JOIN LATERAL (SELECT ${MOMENT} - interval '7 days' AS at) happened`;

const NO_MEMBERS = `
  DELETE FROM beckon.audience_member m USING (SELECT ${USER} AS user_id FROM generate_series($3::int, $4::int - 1) AS n) gone
  WHERE m.project_id = $1 AND m.version_id = $2 AND m.external_user_id = gone.user_id`;

const COUNT = `UPDATE beckon.audience_version SET members = members - $3::int WHERE project_id = $1 AND version_id = $2`;

const MOMENTS = `
  INSERT INTO beckon.audience_timer (project_id, external_user_id, version_id, at)
  SELECT $1::bigint, ${USER}, $7::bigint, ${MOMENT} FROM generate_series($2::int, $3::int - 1) AS n`;

type Db = Testbed['db'];

/** The users of the concurrent stream each have a timer a week ahead, so only timers that are due now count. */
async function isDue(db: Db, projectId: number): Promise<boolean> {
  const rows = await db.query(
    `SELECT 1 AS due FROM beckon.audience_timer WHERE project_id = $1 AND at <= now() LIMIT 1`,
    [projectId],
  );
  return rows.length > 0;
}

async function lateness(
  db: Db,
  { projectId }: World,
  { from, count }: { from: number; count: number },
): Promise<Pick<Late, 'late' | 'missing' | 'outOfOrder'>> {
  const rows = await db.query<{ late: number; at: Date; due: Date }>(
    `SELECT extract(epoch FROM c.at - e.due)::float8 * 1000 AS late, c.at, e.due
     FROM generate_series($2::int, $3::int - 1) AS n
     CROSS JOIN LATERAL (SELECT occurred_at + interval '7 days' AS due FROM beckon.event e
       WHERE e.project_id = $1 AND e.external_user_id = ${USER} AND e.name = 'feature_used' ORDER BY occurred_at LIMIT 1) e
     JOIN beckon.activity c ON c.project_id = $1 AND c.external_user_id = ${USER} AND c.kind = 'audience_joined'
     ORDER BY c.at, e.due`,
    [projectId, from, from + count],
  );
  let outOfOrder = 0;
  for (const [i, row] of rows.entries()) {
    const before = rows[i - 1];
    if (before && row.at > before.at && row.due < before.due) outOfOrder += 1;
  }
  return { late: rows.map(({ late }) => late), missing: count - rows.length, outOfOrder };
}

function formatLate(name: string, { late, missing, outOfOrder, seconds }: Late): string[] {
  if (late.length === 0) return [name, '0', 'none seen', '', '', '', String(missing), ''];
  return [
    name,
    round(late.length),
    ms(quantile(late, 0.5)),
    ms(quantile(late, 0.99)),
    ms(quantile(late, 1)),
    `${seconds.toFixed(1)} s`,
    String(missing),
    String(outOfOrder),
  ];
}
