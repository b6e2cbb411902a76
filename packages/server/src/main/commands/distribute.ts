import type { Command } from 'commander';
import { addCommand } from './command.ts';
import type { Operator } from './operator.ts';

export function addDistributeCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'distribute',
    help: 'Distribute the tables over the machines of a Citus cluster. Blocks writes: use a maintenance window.',
    work: () => operator.distribute(),
    text: ({ tables, before, workers }) => {
      const machines = workers === 1 ? '1 machine' : `${workers} machines`;
      const counts =
        tables.length === 0
          ? `All ${before} tables are already distributed over ${machines}`
          : `Distributed ${tables.length} tables over ${machines}. ${before} were distributed before`;
      return workers > 0
        ? counts
        : `${counts}\nThe cluster has no other machine yet. Add one with citus_add_node, then move rows with citus_rebalance_start`;
    },
  });
}
