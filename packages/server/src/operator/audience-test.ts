import type { Command } from 'commander';
import { findProject } from '../features/projects/index.ts';
import { type Tested, testAudience } from '../flows/digest/index.ts';
import { printable } from './audience-output.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type Options = { project: string; audience: string; user: string } & OutputOptions;

export function addAudienceTest(audience: Command, operator: Operator): void {
  audience
    .command('test')
    .description('why a person is in an audience or is not, condition by condition')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--audience <audience>', 'its id or its name')
    .requiredOption('--user <user>', 'the external_user_id')
    .option(...JSON_OPTION)
    .action((options: Options) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const wanted = { projectId, reference: options.audience, userId: options.user };
          const { audienceId, name, isMember, explained } = await testAudience(db, wanted);
          return { id: audienceId, name, external_user_id: options.user, member: isMember, ...explained };
        },
        show: ({ name, external_user_id: user, member, ...explained }) =>
          [
            `${printable(user)} ${MEMBERSHIP[String(member)]} ${printable(name)}`,
            '',
            ...lines(explained, 0),
          ].join('\n'),
      }),
    );
}

const MEMBERSHIP: Record<string, string> = {
  true: 'is in',
  false: 'is not in',
  null: 'will be told, once it is built, whether they are in',
};

function lines({ sentence, holds, until, of = [] }: Tested['explained'], depth: number): string[] {
  const certain = until === null ? '' : `  (until ${until})`;
  const line = `${'  '.repeat(depth)}${holds ? 'yes' : 'no '}  ${printable(sentence)}${certain}`;
  return [line, ...of.flatMap((part) => lines(part, depth + 1))];
}
