import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { addBackupCommands } from './backup.ts';
import { addClassifyMailCommand } from './classify-mail.ts';
import { addCommand, withInstallation } from './command.ts';
import { addDoctorCommands } from './doctor.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';
import { addConfirmRestoreCommand, addRestoreCommands } from './restore.ts';
import { addServeCommand } from './serve.ts';
import {
  DEMO_DAYS,
  DEMO_NAME,
  makeDemo,
  removeDemos,
  secretKinds,
  supportBundle,
} from '../../modules/operations/index.ts';
import { findProject, listOrganizations, readEmail, resetAccess } from '../../modules/workspace/index.ts';
import { silentLog } from '../../platform/log.ts';

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

const PROGRESS_DAYS = 15;

function addDemoCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'demo',
    help: `Create the project ${DEMO_NAME} with ${DEMO_DAYS} days of sample data. It never sends an email.`,
    options: (command) => command.option('--remove', 'Delete all demo projects'),
    work: async ({ remove }: { remove?: boolean }) => (remove ? removeAll(operator) : create(operator)),
    text: (result) => {
      if (!Array.isArray(result))
        return `Created project ${result.id}, ${result.name}, with ${result.rows} rows. Delete it with: beckon-server demo --remove`;
      return result.length === 0
        ? 'No demo project exists'
        : result.map(({ id, name }) => `Deleted project ${id}, ${name}`).join('\n');
    },
  });
}

function create(operator: Operator) {
  return withInstallation(operator, async (installation) => {
    const [organization] = await listOrganizations(installation.db);
    const { project, rows } = await makeDemo({
      ...installation,
      log: silentLog,
      organizationId: organization?.id ?? null,
      onProgress: printProgress(operator),
    });
    return { id: project.id, name: project.name, rows };
  });
}

/** A demo takes about twenty seconds, so its progress is shown. */
function printProgress(operator: Operator): (part: number) => void {
  return (part) => {
    const day = Math.round(part * DEMO_DAYS);
    if (day % PROGRESS_DAYS === 0) operator.printError(`Day ${day} of ${DEMO_DAYS}`);
  };
}

function removeAll(operator: Operator) {
  return withInstallation(operator, async ({ db }) =>
    (await removeDemos(db)).map(({ id, name }) => ({ id, name })),
  );
}

function addDistributeCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'distribute',
    help: 'Distribute the tables over the machines of a Citus cluster. Blocks writes: use a maintenance window.',
    work: () => operator.distribute(),
    text: ({ tables, before, workers }) => {
      const machines = workers === 1 ? '1 machine' : `${workers} machines`;
      const counts =
        tables.length === 0
          ? `All ${before} tables are already distributed over ${machines}`
          : `Distributed ${tables.length} tables over ${machines}. ${before} were distributed before.\nRestart every Beckon process: each reads at its start that the tables are distributed`;
      return workers > 0
        ? counts
        : `${counts}\nThe cluster has no other machine yet. Add one with citus_add_node, then move rows with citus_rebalance_start`;
    },
  });
}

function addMigrateCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'migrate',
    help: 'Upgrade the database to the schema of this release',
    work: () => operator.migrate(),
    text: ({ applied }) =>
      applied.length === 0 ? 'The database is up to date' : `Applied ${applied.join(', ')}`,
  });
}

function addReencryptCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 're-encrypt-secrets',
    help: 'Re-encrypt what SECRET_KEY_PREVIOUS encrypted with SECRET_KEY. Workers do the same every ten minutes.',
    work: () =>
      withInstallation(operator, async (installation) => {
        const unreadable: string[] = [];
        const log = {
          ...silentLog,
          warn: (facts: object) =>
            void unreadable.push(
              Object.entries(facts)
                .flatMap(([name, id]) => (name === 'err' ? [] : String(id)))
                .join(' '),
            ),
        };
        const reencrypted: Record<string, number> = {};
        for (const [kind, reencrypt] of secretKinds({ ...installation, log }))
          reencrypted[kind] = await reencrypt();
        if (unreadable.length > 0) operator.setExitCode(EXIT_FAILED);
        return { re_encrypted: reencrypted, unreadable };
      }),
    text: ({ re_encrypted: counts, unreadable }) => {
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const lines = Object.entries(counts).map(([kind, count]) => `  ${kind.replaceAll('_', ' ')}: ${count}`);
      const head = `Re-encrypted ${total} secrets:`;
      if (unreadable.length === 0) return [head, ...lines].join('\n');
      const tail = `${unreadable.length} secrets cannot be decrypted with SECRET_KEY or SECRET_KEY_PREVIOUS:`;
      return [head, ...lines, tail, ...unreadable.map((id) => `  ${id}`)].join('\n');
    },
  });
}

type Options = { owner?: boolean; withoutTwoFactor?: boolean };

function addResetAccessCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'reset-access',
    help: 'Print a link that lets a member sign in again; without an email address, the setup link of a new installation',
    options: (command) =>
      command
        .argument('[email]', 'Email address of the member')
        .option(
          '--owner',
          'Make the account an owner, and create it if needed. Removes two-factor authentication.',
        )
        .option('--without-two-factor', 'Remove two-factor authentication from the account'),
    work: ({ owner = false, withoutTwoFactor = false }: Options, [email]) =>
      withInstallation(operator, async ({ db, sendServices }) => {
        const { url, link } = await resetAccess(db, sendServices.outlet.publicUrl, {
          email: email === undefined ? undefined : readEmail(email),
          asOwner: owner,
          clearsTwoFactor: withoutTwoFactor,
        });
        return { url, expires_at: link.expiresAt };
      }),
    text: ({ url, expires_at }) => `${url}\n\nThe link works once, until ${expires_at.toISOString()}`,
  });
}

function addUpgradeCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'upgrade-database',
    help: 'Copy an embedded database of an older PostgreSQL into a new one. Stop the server first.',
    options: (command) =>
      command.option('--discard-old', 'Delete the old database that an earlier upgrade kept'),
    async work({ discardOld }: { discardOld?: boolean }) {
      const backups = await operator.backups();
      if (discardOld) return { removed: await backups.discardOld() };
      if (!backups.isEmbedded)
        throw new Error('DATABASE_URL is set. Upgrade that database with its own tools.');
      const { from, to, tables, kept } = await backups.upgrade();
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      return { from, to, tables: tables.length, rows, kept };
    },
    text: (result) =>
      'kept' in result
        ? `Upgraded PostgreSQL ${result.from} to ${result.to}. ${result.rows} rows of ${result.tables} tables are the same. ` +
          `The old database is in ${result.kept}. Delete it with: beckon-server upgrade-database --discard-old`
        : result.removed.length === 0
          ? 'No old database is kept'
          : `Deleted ${result.removed.join(', ')}`,
  });
}

type BundleOptions = { project: string; out?: string };

function addSupportBundleCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'support-bundle',
    help: 'Write a support bundle of a project as JSON: numbers, states and settings, without secrets or personal data',
    options: (command) =>
      command
        .requiredOption('--project <project>', 'ID or name of the project')
        .option('--out <file>', 'Write to this new file, readable by you alone, instead of stdout'),
    async work({ project, out }: BundleOptions) {
      const bundle = await withInstallation(operator, async ({ db, mail, sendServices, installed }) => {
        const { id: projectId } = await findProject(db, project);
        const server = { ...installed, transport: sendServices.outlet.kind };
        return { installed: server, ...(await supportBundle(db, { projectId, mail })) };
      });
      if (out === undefined) return bundle;
      const text = `${JSON.stringify(bundle, null, 2)}\n`;
      await writeFile(out, text, { flag: 'wx', mode: 0o600 });
      return { file: out, bytes: Buffer.byteLength(text) };
    },
    text: (result) =>
      'file' in result ? `Wrote ${result.bytes} bytes to ${result.file}` : JSON.stringify(result, null, 2),
  });
}
