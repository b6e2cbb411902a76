import type { Command } from 'commander';
import { checkConfig, checkNode } from './check-machine.ts';
import { showChecks } from './checks.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';

/** For before a start: `doctor` looks at everything that the configuration leads to, this at what it says alone. */
export function addConfigCommands(program: Command, operator: Operator): void {
  program
    .command('config')
    .description('what the environment says')
    .command('check')
    .description(
      'look at every variable without opening anything: what is wrong, and what is probably not meant',
    )
    .option(...JSON_OPTION)
    .action((options: OutputOptions) =>
      run(operator, options, {
        async work() {
          const { nodeVersion, config } = await operator.inspect();
          const checks = [checkNode(nodeVersion), ...checkConfig(config)];
          if (checks.some((check) => check.state === 'fail')) operator.setExitCode(EXIT_FAILED);
          return checks;
        },
        show: showChecks,
      }),
    );
}
