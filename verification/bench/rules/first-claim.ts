import { ms, round } from '../print.ts';
import { openTestbed } from '../testbed.ts';
import { settle } from '../world.ts';
import { pause } from '../processing/visible.ts';
import { claimsOf } from './claims.ts';
import { openSender } from './senders.ts';
import type { Sizes } from './sizes.ts';
import { progress } from '../fill.ts';
import { allSent, openWorld, writeDrafts, writeWaitingDrafts, ring, type World } from './world.ts';

/**
 * Measures how late a draft is claimed that falls due at a random moment while very many others wait. Each draft is written at most half a
 * second before its deadline and sets the alarm, as processing does.
 */
export async function firstClaim({ first: sizes }: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const { waiting, fresh, overMs } = sizes;
    const world = await openWorld(testbed, { people: 2 * fresh });
    progress(`${waiting} drafts that wait`);
    await writeWaitingDrafts(world, waiting);
    const sender = await openSender(testbed);
    await settle(testbed.url);
    await sender.begin();
    progress(`${fresh} fresh ones to warm up`);
    await putFresh({ ...testbed, world }, { fresh, overMs: overMs / 10 });
    progress(`${fresh} fresh ones`);
    const since = Date.now();
    await putFresh({ ...testbed, world }, { fresh, overMs });
    const { drafts, batches, late, submittedP99 } = await claimsOf(world, since);
    return [
      [
        round(waiting),
        round(drafts),
        ms(late.p50),
        ms(late.p99),
        ms(late.max),
        ms(submittedP99),
        round(batches),
        String(fresh - drafts),
      ],
    ];
  } finally {
    await testbed.close();
  }
}

type Place = { db: Parameters<typeof ring>[0]; world: World };

const AHEAD_MS = 500;

async function putFresh(
  { db, world }: Place,
  { fresh, overMs }: { fresh: number; overMs: number },
): Promise<void> {
  const from = Date.now() + AHEAD_MS;
  const moments = Array.from({ length: fresh }, () => from + Math.random() * overMs).toSorted(
    (a, b) => a - b,
  );
  for (const at of moments) {
    await pause(at - Math.random() * AHEAD_MS - Date.now());
    await writeDrafts(world, { count: 1, firstAt: at, overMs: 0 });
    await ring(db, world.projectId, at);
  }
  await allSent(db, world.projectId, from + overMs + 1);
}
