import type { Command } from 'commander';
import { idMaker } from '../base/ids.ts';
import { findProject } from '../features/projects/index.ts';
import { sendTest } from '../flows/send-test.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type Options = { project: string; draft: string; to: string } & OutputOptions;

export function addSendTest(draft: Command, operator: Operator): void {
  draft
    .command('send-test')
    .description(
      'a copy of a draft to somebody of the team, as it would leave; nothing about the draft changes',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--draft <draft>', 'its id')
    .requiredOption('--to <address>', 'one of team_addresses; where letters stay in the outbox, any')
    .option(...JSON_OPTION)
    .action((options: Options) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom, tokenKeys, wayOut }) => {
          const { id: projectId } = await findProject(db, options.project);
          const deps = { db, mailroom, tokenKeys, newId: idMaker(db.clock), relay: await wayOut() };
          return sendTest(deps, { projectId, draftId: options.draft }, options.to);
        },
        show: ({ to, subject, reply }) => `“${subject}” went to ${to}: ${reply}`,
      }),
    );
}
