import type { Command } from 'commander';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';

export function addDistributeCommand(program: Command, operator: Operator): void {
  program
    .command('distribute')
    .description(
      'spread the database over the machines of its Citus cluster; in a window, for it holds up who writes',
    )
    .option(...JSON_OPTION)
    .action((options: OutputOptions) =>
      run(operator, options, { work: () => spread(operator, options), show: toWords }),
    );
}

type Spread = Awaited<ReturnType<Operator['distribute']>>;

async function spread(operator: Operator, { json }: OutputOptions): Promise<Spread> {
  const done = await operator.distribute();
  if (done.workers === 0 && !json)
    operator.complain(
      'Warning: there is no other machine yet, so every row stays on this one. Add some with citus_add_node, and move rows there with citus_rebalance_start',
    );
  return done;
}

function toWords({ tables, before, workers }: Spread): string {
  const machines = workers === 1 ? '1 machine' : `${workers} machines`;
  if (tables.length === 0) return `All ${before} tables are spread already; rows lie on ${machines}`;
  const others = before === 0 ? '' : `; ${before} were before`;
  return `Spread ${tables.length} tables over ${machines}${others}`;
}
