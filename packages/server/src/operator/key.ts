import { type Command, Option } from 'commander';
import { KEY_ENVIRONMENTS, type KeyEnvironment, listKeys } from '../features/keys/index.ts';
import { findPair, findProject } from '../features/projects/index.ts';
import { createKey } from '../flows/create-key.ts';
import { revokeKey } from '../flows/revoke-key.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;

export function addKeyCommands(program: Command, operator: Operator): void {
  const key = program.command('key').description('make, list and revoke API keys');
  addCreate(key, operator);
  key
    .command('list')
    .description("list a project's keys, revoked ones too")
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { sandboxId } = await findPair(db, projectId);
          const own = await listKeys(db, projectId);
          const keys = sandboxId === null ? own : [...own, ...(await listKeys(db, sandboxId))];
          return keys.map((one) => ({
            id: one.id,
            label: one.label,
            display: one.display,
            created_at: one.createdAt,
            last_used_at: one.lastUsedAt,
            client: one.client && `${one.client.name}/${one.client.version}`,
            revoked_at: one.revokedAt,
          }));
        },
        show: (rows) => table(rows, 'This project has no key yet: key create makes one'),
      }),
    );
  key
    .command('revoke')
    .description('end a key for good, at once')
    .requiredOption('--key <id>', 'its id, as key list shows it')
    .option(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: { key: string; project?: string } & OutputOptions) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const projectId = options.project && (await findProject(db, options.project)).id;
          const revoked = await revokeKey(db, { id: options.key, ...(projectId ? { projectId } : {}) });
          return { id: revoked.id, label: revoked.label, revoked_at: revoked.revokedAt };
        },
        show: ({ label, revoked_at }) => `Key ${label} is revoked since ${revoked_at.toISOString()}`,
      }),
    );
}

function addCreate(key: Command, operator: Operator): void {
  key
    .command('create')
    .description('make a key; its secret is shown this once')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--name <label>', 'what it is for, such as the server that will hold it')
    .addOption(
      new Option(
        '--env <env>',
        'live, or test: for the sandbox of the project (settings set sandbox=on opens it); that of the project where it is left out',
      ).choices(KEY_ENVIRONMENTS),
    )
    .option(...JSON_OPTION)
    .action((options: OfProject & { name: string; env?: KeyEnvironment }) =>
      runInRealTime(operator, options, {
        work: async ({ db, pepper }) => {
          const { id: projectId } = await findProject(db, options.project);
          const wanted = { projectId, label: options.name, ...(options.env && { env: options.env }) };
          const { id, secret } = await createKey({ db, pepper: pepper.current }, wanted);
          return { id, secret };
        },
        show: ({ id, secret }) => `${secret}\n\nKeep it now: it is not shown again. The key's id is ${id}`,
      }),
    );
}
