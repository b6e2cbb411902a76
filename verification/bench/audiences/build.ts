import { createAudience } from '../../../packages/server/src/modules/audiences/change-audience.ts';
import { type Live, withLive } from '../digest/live.ts';
import { pause, type Visibility, visibility } from '../digest/visible.ts';
import { msOrNone, round } from '../print.ts';
import { type Ground, openGround } from '../stage.ts';
import { addSilent, makePeople, settle } from '../world.ts';
import type { Sizes } from './sizes.ts';
import { listRuleNeeds } from '../../../packages/server/src/modules/rules/runs/rules-in-force.ts';

/**
 * Measures how long it takes to compute the members of a new definition, in a project of a million users. Some thousand of these users did
 * something. It also measures the effect on the live stream of the same project in that time.
 */
const ACTIVE = 10_000;
const GIVE_UP_MS = 1_800_000;

export async function build(sizes: Sizes): Promise<string[][]> {
  const ground = await openGround();
  try {
    const project = await ground.project();
    const active = Math.min(ACTIVE, sizes.people / 2);
    const world = { projectId: project.id, people: active, lapsed: 0, eventsOfEach: 4 };
    await makePeople(ground, world);
    await addSilent(ground, { projectId: project.id, from: active, count: sizes.people - active });
    await settle(ground.url);
    const api = await ground.serve('all');
    const live: Live = { ground, api, projects: [project], perSecond: sizes.perSecond };
    const before = await withLive(live, () => pause(sizes.liveSeconds * 1_000));
    const rows = [['no build', '', '', '', ...shown(visibility(before.samples))]];
    for (const [name, definition] of DEFINITIONS) {
      const done = await withLive(live, async () => {
        const from = performance.now();
        const members = await built(ground, { projectId: project.id, name, definition });
        return { from, to: performance.now(), members };
      });
      const { from, to, members } = done.result;
      rows.push([
        name,
        `${((to - from) / 1_000).toFixed(1)} s`,
        round((sizes.people / (to - from)) * 1_000),
        round(members),
        ...shown(visibility(done.samples, done.result)),
      ]);
    }
    return rows;
  } finally {
    await ground.close();
  }
}

function shown(seen: Visibility | null): string[] {
  return [msOrNone(seen?.p95 ?? null), msOrNone(seen?.p99 ?? null), String(seen?.samples ?? 0)];
}

const DEFINITIONS: [string, object][] = [
  ['a trait', { trait: 'seats', at_least: 4 }],
  ['a count in 30 days', { event: 'report_exported', at_least: 3, within: '30d' }],
];

type New = { projectId: number; name: string; definition: object };

/** Waits until the audience is visible, checking every 50 ms. Returns its number of members. */
async function built({ db }: Ground, wanted: New): Promise<number> {
  const { id } = await createAudience({ db, listRuleNeeds }, wanted);
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (performance.now() < giveUpAt) {
    const rows = await db.query<{ members: number }>(
      `SELECT members FROM beckon.audience_version WHERE project_id = $1 AND audience_id = $2 AND state = 'served'`,
      [wanted.projectId, id],
    );
    if (rows[0]) return rows[0].members;
    await pause(50);
  }
  throw new Error(`${wanted.name} was not built within ${GIVE_UP_MS / 60_000} minutes`);
}
