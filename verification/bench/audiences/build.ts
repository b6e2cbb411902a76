import { createAudience } from '../../../packages/server/src/modules/audiences/change-audience.ts';
import { listRuleNeeds } from '../../../packages/server/src/modules/rules/runs/rules-in-force.ts';
import { parsePredicate } from '../../../packages/server/src/platform/predicate/parse.ts';
import { predicateSql } from '../../../packages/server/src/platform/predicate/sql.ts';
import { sqlParams } from '../../../packages/server/src/platform/predicate/sql-values.ts';
import { progress, withClient } from '../fill.ts';
import { formatMsOrNone, ratio, round } from '../print.ts';
import { type Live, withLive } from '../processing/live.ts';
import { pause, type Visibility, visibility } from '../processing/visible.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import { addInactiveUsers, makePeople, settle } from '../world.ts';
import type { Sizes } from './sizes.ts';

/**
 * Measures how long it takes to find the members of a new definition in a project of a million users. Some thousand of them did something.
 * Each definition is built once alone and once beside a live stream of the same project, whose latency is measured too.
 *
 * The baseline is one `INSERT … SELECT` over the same users, into an empty table with the same indexes, that stores the same members. A
 * second one stores the same due times.
 */
const ACTIVE = 10_000;
const GIVE_UP_MS = 1_800_000;
const POLL_MS = 20;
const PROGRESS_EVERY_MS = 5_000;

const DEFINITIONS: [string, object][] = [
  ['a trait', { trait: 'seats', at_least: 4 }],
  ['a count in 30 days', { event: 'report_exported', at_least: 3, within: '30d' }],
  ['nothing for 7 days', { not: { event: 'report_exported', within: '7d' } }],
];

export type BuildTables = { alone: string[][]; live: string[][] };

export async function build(sizes: Sizes): Promise<BuildTables> {
  const testbed = await openTestbed();
  try {
    const project = await testbed.project();
    const active = Math.min(ACTIVE, sizes.buildPeople / 2);
    const world = { projectId: project.id, people: active, lapsed: 0, eventsOfEach: 4 };
    await makePeople(testbed, world);
    await addInactiveUsers(testbed, {
      projectId: project.id,
      from: active,
      count: sizes.buildPeople - active,
    });
    await settle(testbed.url);
    const baselines: number[] = [];
    for (const [, definition] of DEFINITIONS)
      baselines.push(await insertSelect(testbed, { projectId: project.id, definition }));
    const api = await testbed.serve('all');
    const alone: string[][] = [];
    for (const [i, [name, definition]] of DEFINITIONS.entries()) {
      const built = await buildAudience(testbed, { projectId: project.id, name, definition });
      alone.push([name, ...formatBuilt(built), ...formatBaseline(built, baselines[i] ?? Number.NaN)]);
    }
    const stream: Live = { testbed, api, projects: [project], perSecond: sizes.buildPerSecond };
    const before = await withLive(stream, () => pause(sizes.liveSeconds * 1_000));
    const live = [['no build', '', '', '', ...formatLatencies(visibility(before.samples))]];
    for (const [name, definition] of DEFINITIONS) {
      const audience = { projectId: project.id, name: `${name}, live`, definition };
      const { result, samples } = await withLive(stream, () => buildAudience(testbed, audience));
      live.push([name, ...formatBuilt(result), ...formatLatencies(visibility(samples, result))]);
    }
    return { alone, live };
  } finally {
    await testbed.close();
  }
}

type New = { projectId: number; name: string; definition: object };
type Built = { from: number; to: number; people: number; members: number };

function perSecondOf({ from, to, people }: Built): number {
  return (people / (to - from)) * 1_000;
}

function formatBuilt(built: Built): string[] {
  const seconds = ((built.to - built.from) / 1_000).toFixed(1);
  return [`${seconds} s`, round(perSecondOf(built)), round(built.members)];
}

function formatBaseline(built: Built, baselineMs: number): string[] {
  return [`${(baselineMs / 1_000).toFixed(1)} s`, ratio((built.to - built.from) / baselineMs)];
}

function formatLatencies(latencies: Visibility | null): string[] {
  return [
    formatMsOrNone(latencies?.p95 ?? null),
    formatMsOrNone(latencies?.p99 ?? null),
    String(latencies?.samples ?? 0),
  ];
}

type VersionRow = { state: string; built: number; members: number };

/**
 * Waits until the audience is served. The clock starts when the first users are evaluated, because a worker looks for new definitions once
 * per second.
 */
async function buildAudience({ db }: Testbed, audience: New): Promise<Built> {
  const { id } = await createAudience({ db, listRuleNeeds }, audience);
  const giveUpAt = performance.now() + GIVE_UP_MS;
  let start: { from: number; built: number } | null = null;
  let printedAt = performance.now();
  while (performance.now() < giveUpAt) {
    const [row] = await db.query<VersionRow>(
      `SELECT state, built, members FROM beckon.audience_version WHERE project_id = $1 AND audience_id = $2`,
      [audience.projectId, id],
    );
    const now = performance.now();
    if (row && row.built > 0) start ??= { from: now, built: row.built };
    if (row?.state === 'served' && start)
      return { from: start.from, to: now, people: row.built - start.built, members: row.members };
    if (now - printedAt >= PROGRESS_EVERY_MS) {
      printedAt = now;
      progress(`${audience.name}: ${round(row?.built ?? 0)} users evaluated`);
    }
    await pause(POLL_MS);
  }
  throw new Error(`${audience.name} was not built within ${GIVE_UP_MS / 60_000} minutes`);
}

/** Returns the milliseconds of both statements with their commits. */
function insertSelect({ url }: Testbed, { projectId, definition }: Omit<New, 'name'>): Promise<number> {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const { predicate } = parsed;
  return withClient(url, async (client) => {
    await client.query('DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare');
    for (const name of ['audience_member', 'audience_timer'])
      await client.query(`CREATE TABLE bare.${name} (LIKE beckon.${name} INCLUDING ALL)`);
    const params = sqlParams([projectId, new Date()]);
    const holds = predicateSql(predicate, { params, projectId: '$1', now: '$2', versionId: () => null });
    const startedAt = performance.now();
    await client.query(
      `INSERT INTO bare.audience_member (project_id, external_user_id, version_id, since)
       SELECT $1, p.external_user_id, 1, $2::timestamptz FROM beckon.person p WHERE p.project_id = $1 AND ${holds}`,
      params.values,
    );
    if ('within' in definition || 'not' in definition) await client.query(DUE_TIMES, [projectId]);
    return performance.now() - startedAt;
  });
}

/** The due times of all users with such events. Few users have any, so their exact values do not matter. */
const DUE_TIMES = `
  INSERT INTO bare.audience_timer (project_id, external_user_id, version_id, at)
  SELECT $1::bigint, e.external_user_id, 1, max(e.occurred_at) + interval '30 days' FROM beckon.event e
  WHERE e.project_id = $1 AND e.name = 'report_exported' GROUP BY 2`;
