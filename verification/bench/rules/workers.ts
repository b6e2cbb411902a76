import { median } from '../measure.ts';
import { ratio, round } from '../print.ts';
import { openGround } from '../stage.ts';
import { doubles, sendBacklog, sendSteadily, type Sent, type Stage } from './due.ts';
import { openSender, type SenderProcess } from './senders.ts';
import type { Sizes } from './sizes.ts';
import { progress } from '../fill.ts';
import { openWorld } from './world.ts';

/**
 * Compares the cost of an email if two workers send for one project with the cost for one: CPU time of the senders and of PostgreSQL. Both
 * processes run and are warm all the time; in the runs of one the other is idle. They run in turn, and the ratio is computed pair by pair.
 */
export async function workers({ workers: sizes }: Sizes): Promise<string[][]> {
  const ground = await openGround();
  try {
    const { drafts, overMs, warmUp, pairs } = sizes;
    const world = await openWorld(ground, { people: 2 * warmUp + 4 * pairs * drafts });
    const [one, two] = [await openSender(ground), await openSender(ground)];
    const stage = (senders: SenderProcess[]): Stage => ({ ground, world, senders });
    for (const sender of [one, two]) await sendBacklog(stage([sender]), { count: warmUp, overMs });
    const loads = [
      ['all due at once', sendBacklog],
      [`over ${overMs / 1_000} s`, sendSteadily],
    ] as const;
    const rows: string[][] = [];
    for (const [name, send] of loads) {
      const ratios: number[] = [];
      for (let pair = 1; pair <= pairs; pair += 1) {
        progress(`workers, ${name}, pair ${pair} of ${pairs}`);
        const alone = await send(stage([one]), { count: drafts, overMs });
        const both = await send(stage([one, two]), { count: drafts, overMs });
        ratios.push(costOf(both) / costOf(alone));
        rows.push([`${name}: one`, ...shown(alone), '']);
        rows.push([`${name}: two`, ...shown(both), ratio(costOf(both) / costOf(alone))]);
      }
      rows.push([`${name}: median`, '', '', '', '', '', '', '', ratio(median(ratios))]);
    }
    return rows;
  } finally {
    await ground.close();
  }
}

function costOf({ cpu, drafts }: Sent): number {
  return ((cpu.sender + cpu.postgres) / drafts) * 1e6;
}

function shown(sent: Sent): string[] {
  const { drafts, seconds, batches, cpu, outOfOrder } = sent;
  return [
    round(drafts / seconds),
    (drafts / batches).toFixed(1),
    `${round((cpu.sender / drafts) * 1e6)} µs`,
    `${round((cpu.postgres / drafts) * 1e6)} µs`,
    `${round(costOf(sent))} µs`,
    String(outOfOrder),
    doubles(sent),
  ];
}
