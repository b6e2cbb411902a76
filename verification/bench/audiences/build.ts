import { createAudience } from '../../../packages/server/src/modules/audiences/change-audience.ts';
import { type Live, withLive } from '../processing/live.ts';
import { pause, type Visibility, visibility } from '../processing/visible.ts';
import { formatMsOrNone, round } from '../print.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import { addInactiveUsers, makePeople, settle } from '../world.ts';
import type { Sizes } from './sizes.ts';
import { listRuleNeeds } from '../../../packages/server/src/modules/rules/runs/rules-in-force.ts';

/**
 * Measures how long it takes to compute the members of a new definition, in a project of a million users. Some thousand of these users did
 * something. It also measures the effect on the live stream of the same project in that time.
 */
const ACTIVE = 10_000;
const GIVE_UP_MS = 1_800_000;

export async function build(sizes: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const project = await testbed.project();
    const active = Math.min(ACTIVE, sizes.people / 2);
    const world = { projectId: project.id, people: active, lapsed: 0, eventsOfEach: 4 };
    await makePeople(testbed, world);
    await addInactiveUsers(testbed, { projectId: project.id, from: active, count: sizes.people - active });
    await settle(testbed.url);
    const api = await testbed.serve('all');
    const live: Live = { testbed, api, projects: [project], perSecond: sizes.perSecond };
    const before = await withLive(live, () => pause(sizes.liveSeconds * 1_000));
    const rows = [['no build', '', '', '', ...formatLatencies(visibility(before.samples))]];
    for (const [name, definition] of DEFINITIONS) {
      const result = await withLive(live, async () => {
        const from = performance.now();
        const members = await buildAudience(testbed, { projectId: project.id, name, definition });
        return { from, to: performance.now(), members };
      });
      const { from, to, members } = result.result;
      rows.push([
        name,
        `${((to - from) / 1_000).toFixed(1)} s`,
        round((sizes.people / (to - from)) * 1_000),
        round(members),
        ...formatLatencies(visibility(result.samples, result.result)),
      ]);
    }
    return rows;
  } finally {
    await testbed.close();
  }
}

function formatLatencies(latencies: Visibility | null): string[] {
  return [
    formatMsOrNone(latencies?.p95 ?? null),
    formatMsOrNone(latencies?.p99 ?? null),
    String(latencies?.samples ?? 0),
  ];
}

const DEFINITIONS: [string, object][] = [
  ['a trait', { trait: 'seats', at_least: 4 }],
  ['a count in 30 days', { event: 'report_exported', at_least: 3, within: '30d' }],
];

type New = { projectId: number; name: string; definition: object };

/** Waits until the audience is visible, checking every 50 ms. Returns its number of members. */
async function buildAudience({ db }: Testbed, audience: New): Promise<number> {
  const { id } = await createAudience({ db, listRuleNeeds }, audience);
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (performance.now() < giveUpAt) {
    const rows = await db.query<{ members: number }>(
      `SELECT members FROM beckon.audience_version WHERE project_id = $1 AND audience_id = $2 AND state = 'served'`,
      [audience.projectId, id],
    );
    if (rows[0]) return rows[0].members;
    await pause(50);
  }
  throw new Error(`${audience.name} was not built within ${GIVE_UP_MS / 60_000} minutes`);
}
