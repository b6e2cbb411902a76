import type { Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { checkBackups } from './check-backup.ts';
import { checkDatabase } from './check-database.ts';
import { checkHost } from './check-host.ts';
import { checkConfig, checkDataDir, checkNode } from './check-machine.ts';
import { checkMailIn } from './check-mail-in.ts';
import { checkPorts, checkRelay } from './check-network.ts';
import { checkPublicUrl, checkTls } from './check-tls.ts';
import { type Check, type Inspection, showChecks } from './checks.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';

export function addDoctorCommand(program: Command, operator: Operator): void {
  program
    .command('doctor')
    .description('look whether everything is as it should be, and say what to do where not')
    .option(...JSON_OPTION)
    .action((options: OutputOptions) =>
      run(operator, options, {
        async work() {
          const checks = await examine(await operator.inspect());
          if (checks.some((check) => check.state === 'fail')) operator.setExitCode(EXIT_FAILED);
          return checks;
        },
        show: showChecks,
      }),
    );
}

async function examine(inspection: Inspection): Promise<Check[]> {
  const { config } = inspection;
  const checks = [checkNode(inspection.nodeVersion), ...checkConfig(config)];
  if ('faults' in config) return checks;
  return [
    ...checks,
    ...(await checkDataDir(config)),
    ...(await checkBackups(config, systemClock.now())),
    ...(await checkHost(config)),
    ...(await checkDatabase(inspection, config)),
    ...(await checkTls(config, systemClock.now())),
    ...(await checkPublicUrl(config)),
    ...(await checkPorts(config)),
    ...(await checkRelay(config)),
    ...(await checkMailIn(config)),
  ];
}
