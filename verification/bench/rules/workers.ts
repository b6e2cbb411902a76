import { median } from '../measure.ts';
import { ratio, round } from '../print.ts';
import { openTestbed } from '../testbed.ts';
import { doubles, sendBacklog, sendSteadily, type SendRun, type Stage } from './due.ts';
import { openSender, type SenderProcess } from './senders.ts';
import type { Sizes } from './sizes.ts';
import { progress } from '../fill.ts';
import { openWorld } from './world.ts';

/**
 * Compares the cost of an email if two workers send for one project with the cost for one: CPU time of the senders and of PostgreSQL. Both
 * processes run and are warm all the time; in the runs of one the other is idle. They run in turn, and the ratio is computed pair by pair.
 */
export async function workers({ workers: sizes }: Sizes): Promise<string[][]> {
  const testbed = await openTestbed();
  try {
    const { drafts, overMs, warmUp, pairs } = sizes;
    const world = await openWorld(testbed, { people: 2 * warmUp + 4 * pairs * drafts });
    const [firstSender, secondSender] = [await openSender(testbed), await openSender(testbed)];
    const stage = (senders: SenderProcess[]): Stage => ({ testbed, world, senders });
    for (const sender of [firstSender, secondSender])
      await sendBacklog(stage([sender]), { count: warmUp, overMs });
    const loads = [
      ['all due at once', sendBacklog],
      [`over ${overMs / 1_000} s`, sendSteadily],
    ] as const;
    const rows: string[][] = [];
    for (const [name, send] of loads) {
      const ratios: number[] = [];
      for (let pair = 1; pair <= pairs; pair += 1) {
        progress(`workers, ${name}, pair ${pair} of ${pairs}`);
        const alone = await send(stage([firstSender]), { count: drafts, overMs });
        const both = await send(stage([firstSender, secondSender]), { count: drafts, overMs });
        ratios.push(costOf(both) / costOf(alone));
        rows.push([`${name}: one`, ...formatRun(alone), '']);
        rows.push([`${name}: two`, ...formatRun(both), ratio(costOf(both) / costOf(alone))]);
      }
      rows.push([`${name}: median`, '', '', '', '', '', '', '', ratio(median(ratios))]);
    }
    return rows;
  } finally {
    await testbed.close();
  }
}

function costOf({ cpu, drafts }: SendRun): number {
  return ((cpu.sender + cpu.postgres) / drafts) * 1e6;
}

function formatRun(sendRun: SendRun): string[] {
  const { drafts, seconds, batches, cpu, outOfOrder } = sendRun;
  return [
    round(drafts / seconds),
    (drafts / batches).toFixed(1),
    `${round((cpu.sender / drafts) * 1e6)} µs`,
    `${round((cpu.postgres / drafts) * 1e6)} µs`,
    `${round(costOf(sendRun))} µs`,
    String(outOfOrder),
    doubles(sendRun),
  ];
}
