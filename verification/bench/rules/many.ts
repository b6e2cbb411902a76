import { costBetween, type CpuCost, median, totalCost, usagePair } from '../measure.ts';
import { ratio } from '../print.ts';
import { type Testbed, openTestbed } from '../testbed.ts';
import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { disableRule } from '../../../packages/server/src/modules/rules/switch-rule.ts';
import { preload } from '../processing/records.ts';
import { pause } from '../processing/visible.ts';
import { untilProcessed, withProjectLock } from '../processing/waiting.ts';
import { addInactiveUsers, makePeople, settle, userOf } from '../world.ts';
import type { Sizes } from './sizes.ts';
import { progress } from '../fill.ts';

/**
 * Measures the cost of an event, worker and PostgreSQL together. The event concerns one rule of a hundred, or that rule is the only one.
 * Each side is a server and a PostgreSQL of its own. They run in turn, and the ratio is computed pair by pair.
 *
 * The rule enrolls every user once. So an event of a user who has entered before is refused, and an event of a new user creates a run and a
 * draft. The other rules are of all kinds and use events that are never sent.
 */
export const KINDS = ['refused: entered before', 'fires: a run and a draft'] as const;
const EVENT = 'feature_used';

export type Side = { testbed: Testbed; workerPid: number; projectId: number };

export async function measureMany({ many: sizes }: Sizes): Promise<string[][]> {
  const sides: Side[] = [];
  try {
    for (const rules of [1, sizes.rules]) {
      progress(`a world of ${rules} rules`);
      sides.push(await openSide(rules, sizes));
    }
    const rows: string[][] = [];
    for (const kind of KINDS) rows.push(await compared(kind, { sides, sizes }));
    return rows;
  } finally {
    for (const { testbed } of sides) await testbed.close();
  }
}

type Kind = (typeof KINDS)[number];
type Compared = { sides: Side[]; sizes: Sizes['many'] };

async function compared(kind: Kind, { sides, sizes }: Compared): Promise<string[]> {
  const costs: number[][] = [];
  for (let run = 0; run <= sizes.pairs; run += 1) {
    progress(`${kind}, pair ${run} of ${sizes.pairs}`);
    const pair: number[] = [];
    for (const side of sides) pair.push(totalCost(await costOf(side, { kind, run, sizes })));
    // The first run warms up. After it the users of the first kind have entered.
    if (run > 0) costs.push(pair);
  }
  const of = (side: number): string =>
    `${median(costs.map((pair) => pair[side] ?? Number.NaN)).toFixed(1)} µs`;
  const ratios = costs.map(([single = Number.NaN, hundred = Number.NaN]) => hundred / single);
  const spread = `${ratio(Math.min(...ratios))} to ${ratio(Math.max(...ratios))}`;
  return [kind, of(0), of(1), ratio(median(ratios)), spread];
}

export async function openSide(rules: number, { people, events, pairs }: Sizes['many']): Promise<Side> {
  const testbed = await openTestbed();
  try {
    const { db } = testbed;
    const { id: projectId } = await testbed.project();
    await makePeople(testbed, { projectId, people: 0, lapsed: 0, eventsOfEach: 0 });
    await addInactiveUsers(testbed, { projectId, from: 0, count: people + (pairs + 1) * events });
    await disableShippedRules(testbed, projectId);
    const firingRule = { name: 'concerned', when: { event: EVENT }, steps: STEPS };
    for (const document of [firingRule, ...others(rules - 1)]) await createRule(db, { projectId, document });
    await settle(testbed.url);
    const worker = await testbed.serve('worker');
    progress('counting the events of the rules');
    while (await isCounting(db, projectId)) await pause(100);
    return { testbed, workerPid: worker.pid, projectId };
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

/** Returns whether stored events are still being counted. It happens once for each event that a condition uses without a time limit. */
async function isCounting(db: Testbed['db'], projectId: number): Promise<boolean> {
  const rows = await db.query(
    `SELECT 1 AS one FROM beckon.counted_event WHERE project_id = $1 AND NOT is_whole LIMIT 1`,
    [projectId],
  );
  return rows.length > 0;
}

/** Removes the rules that every project has from the start. They are disabled, but would make one rule five. */
async function disableShippedRules({ db }: Testbed, projectId: number): Promise<void> {
  const rows = await db.query<{ name: string }>(`SELECT name FROM beckon.rule WHERE project_id = $1`, [
    projectId,
  ]);
  for (const { name } of rows) await disableRule(db, { projectId, reference: name, actor: 'operator' });
}

const STEPS = [{ draft: 'welcome' }];

function others(count: number): object[] {
  const kinds: ((event: string) => object)[] = [
    (event) => ({
      when: { event, where: [{ property: 'amount', at_least: 5 }] },
      enrollment: { cooldown: '30d' },
    }),
    (event) => ({
      when: { absence_of: [`${event}_done`], since: { event }, for: '3d' },
      exits: { events: [`${event}_done`] },
    }),
    (event) => ({
      when: { relative_to: { event }, after: '2d' },
      only_if: { trait: 'plan', equals: 'free' },
    }),
    (event) => ({
      when: { event },
      only_if: { event, at_least: 3, within: '30d' },
      goal: { event: `${event}_done` },
    }),
    (event) => ({ when: { event }, exits: { when: { trait: 'seats', at_least: 100 } } }),
  ];
  return Array.from({ length: count }, (_, n) => ({
    name: `other_${n}`,
    ...kinds[n % kinds.length]?.(`never_sent_${n}`),
    steps: STEPS,
  }));
}

type Asked = { kind: Kind; run: number; sizes: Sizes['many'] };

/** Returns the CPU time for one event. */
export async function costOf(
  { testbed, workerPid, projectId }: Side,
  { kind, run, sizes }: Asked,
): Promise<CpuCost> {
  const { db, postgresPid } = testbed;
  const { events, people } = sizes;
  const personOf = (i: number): number => (kind === KINDS[0] ? i % people : people + run * events + i);
  const before = await withProjectLock(db, projectId, async () => {
    const at = new Date().toISOString();
    const records = Array.from({ length: events }, (_, i) => ({
      external_user_id: userOf(personOf(i)),
      name: EVENT,
      properties: { feature: 'export', amount: 10, place: `${run}-${i}` },
      occurred_at: at,
    }));
    await preload(db, { projectId, kind: 'events', records });
    return usagePair(workerPid, postgresPid);
  });
  await untilProcessed(db, { projectId, records: events });
  return costBetween(before, usagePair(workerPid, postgresPid), events);
}
