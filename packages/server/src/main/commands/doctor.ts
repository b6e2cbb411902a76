import type { Command } from 'commander';
import { systemClock } from '../../platform/time/clock.ts';
import { checkBackups } from './check-backup.ts';
import { checkDatabase } from './check-database.ts';
import { checkConfig, checkDataDir, checkHost, checkNode } from './check-host.ts';
import { checkMailIn, checkPorts, checkRelay } from './check-network.ts';
import { checkPublicUrl, checkTls } from './check-tls.ts';
import { type InstallationCheck, type Inspection, showChecks } from './checks.ts';
import { addCommand } from './command.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';

export function addDoctorCommands(program: Command, operator: Operator): void {
  const add = (parent: Command, { check, ...about }: ChecksSpec): Command =>
    addCommand(parent, operator, {
      ...about,
      async work() {
        const checks = await check(await operator.inspect());
        if (checks.some(({ state }) => state === 'fail')) operator.setExitCode(EXIT_FAILED);
        return checks;
      },
      text: showChecks,
    });
  const help = 'Check the installation and suggest fixes';
  add(program, { name: 'doctor', help, check: checkEverything });
  add(program.command('config').description('Check the configuration'), {
    name: 'check',
    help: 'Check every environment variable without opening anything',
    check: async ({ nodeVersion, config }) => [checkNode(nodeVersion), ...checkConfig(config)],
  });
}

type ChecksSpec = {
  name: string;
  help: string;
  check: (inspection: Inspection) => Promise<InstallationCheck[]>;
};

async function checkEverything(inspection: Inspection): Promise<InstallationCheck[]> {
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
