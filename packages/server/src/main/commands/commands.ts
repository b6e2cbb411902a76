import type { Command } from 'commander';
import { addBackupCommands } from './backup.ts';
import { addClassifyMailCommand } from './classify-mail.ts';
import { addConfirmRestoreCommand } from './confirm-restore.ts';
import { addDemoCommand } from './demo.ts';
import { addDistributeCommand } from './distribute.ts';
import { addDoctorCommands } from './doctor.ts';
import { addMigrateCommand } from './migrate.ts';
import type { Operator } from './operator.ts';
import { addReencryptCommand } from './re-encrypt-secrets.ts';
import { addResetAccessCommand } from './reset-access.ts';
import { addRestoreCommands } from './restore.ts';
import { addServeCommand } from './serve.ts';
import { addSupportBundleCommand } from './support-bundle.ts';
import { addUpgradeCommand } from './upgrade-database.ts';

const COMMANDS = [
  addServeCommand,
  addDoctorCommands,
  addResetAccessCommand,
  addDemoCommand,
  addBackupCommands,
  addRestoreCommands,
  addConfirmRestoreCommand,
  addMigrateCommand,
  addUpgradeCommand,
  addDistributeCommand,
  addReencryptCommand,
  addSupportBundleCommand,
  addClassifyMailCommand,
];

/** Adds the commands of `beckon-server`, which need the machine of the server. Product commands are in packages/cli. */
export function addCommands(program: Command, operator: Operator): void {
  for (const add of COMMANDS) add(program, operator);
}
