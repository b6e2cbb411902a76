import type { Command } from 'commander';
import type { Import as Shown, ImportKind } from '@beckon/contract/dashboard';
import { listImportRows } from '../features/imports/index.ts';
import { findProject } from '../features/projects/index.ts';
import type { Bringing } from './import-run.ts';
import { describeImport } from './import-output.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runInRealTime } from './run.ts';
import { table } from './table.ts';

/** What checks records is read when something is imported, and by no other command. */
const flows = () => import('../flows/imports/index.ts');
const runs = () => import('./import-run.ts');

type OfProject = { project: string } & OutputOptions;
type OfFile = OfProject & Bringing & { file: string };
type OfStripe = OfProject & Bringing & { keyFile: string };

export function addImportCommands(program: Command, operator: Operator): void {
  const group = program
    .command('import')
    .description('bring in users and events from a file, or what Stripe knows; no letter goes out for it');
  for (const kind of ['users', 'events'] as const) addFile(group, kind, operator);
  addStripe(group, operator);
  addList(group, operator);
  addMove(group, operator, {
    name: 'pause',
    text: 'stop one after the rows that it has in hand',
    act: 'pauseImport',
  });
  addMove(group, operator, {
    name: 'cancel',
    text: 'end one for good; what it brought stays',
    act: 'cancelImport',
  });
  addResume(group, operator);
}

function addFile(group: Command, kind: 'users' | 'events', operator: Operator): void {
  const command = group
    .command(kind)
    .description(`bring in ${kind} from CSV with a header, or from JSON lines`)
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--file <file>', 'the file')
    .option('--map <field=column>', 'which column a field is read from; again for each field', collect, [])
    .option('--types <field=type>', 'text, number, boolean, date or json; again for each field', collect, [])
    .option('--dry-run', 'check it, say what it comes to, and take nothing')
    .option(...JSON_OPTION);
  if (kind === 'events')
    command
      .option('--name <event>', 'the name of all events, where no column holds it')
      .option('--equal-rows-are-one', 'take rows without a time and an id; equal ones are one event')
      .option('--live <count>', 'let rules fire; with the number of events that the check counts');
  command.action((options: OfFile) =>
    runInRealTime(operator, options, {
      work: async (opened) => {
        const { id: projectId } = await findProject(opened.db, options.project);
        return told(
          operator,
          options,
          await (await runs()).bringFile({ operator, opened, projectId }, kind, options),
        );
      },
      show: describeImport,
    }),
  );
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function addStripe(group: Command, operator: Operator): void {
  group
    .command('stripe')
    .description('bring in customers, subscriptions and invoices as lifecycle events; no rule fires for them')
    .requiredOption(...PROJECT_OPTION)
    .option('--key-file <file>', 'a file with the restricted key, or - for what is piped', '-')
    .option(
      '--unmatched-as-customers',
      'customers whom nobody is known for become users under their cus_… id',
    )
    .option('--dry-run', 'check it, say what it comes to, and take nothing')
    .option(...JSON_OPTION)
    .action((options: OfStripe) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { id: projectId } = await findProject(opened.db, options.project);
          return told(
            operator,
            options,
            await (await runs()).bringStripe({ operator, opened, projectId }, options),
          );
        },
        show: describeImport,
      }),
    );
}

/** It succeeded where it came to the end that was asked for, and every row came to something. */
function told(operator: Operator, { dryRun }: Pick<Bringing, 'dryRun'>, one: Shown): Shown {
  const isThrough = one.state === (dryRun ? 'checked' : 'done');
  if (!isThrough || one.problem !== null || one.progress.rejected > 0) operator.setExitCode(EXIT_FAILED);
  return one;
}

function addList(group: Command, operator: Operator): void {
  const LISTED_MAX = 200;
  group
    .command('list')
    .description('the newest imports of a project')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const rows = await listImportRows(db, { projectId, after: null, offset: 0, limit: LISTED_MAX });
          return (await flows()).showImports(db, rows, byName);
        },
        show: (rows) => table(rows.map(rowOf), 'Nothing was imported'),
      }),
    );
  group
    .command('show <import>')
    .description('one import: how far it is, what its check found, what it brought')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((id: string, options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { foundImport, showImport } = await flows();
          return showImport(db, await foundImport(db, { projectId, id }), byName);
        },
        show: describeImport,
      }),
    );
}

function rowOf({ id, kind, name, state, progress }: Shown): Record<string, unknown> {
  const { rows, rejected } = progress;
  return { id, kind: kind satisfies ImportKind, name, state, rows, rejected };
}

const byName = (actor: string): string => actor;

type MoveOf = {
  name: string;
  text: string;
  act: 'pauseImport' | 'cancelImport';
};

function addMove(group: Command, operator: Operator, { name, text, act }: MoveOf): void {
  group
    .command(`${name} <import>`)
    .description(text)
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((id: string, options: OfProject) =>
      runInRealTime(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { [act]: move, showImport } = await flows();
          return showImport(db, await move(db, { projectId, id }), byName);
        },
        show: describeImport,
      }),
    );
}

function addResume(group: Command, operator: Operator): void {
  group
    .command('resume <import>')
    .description('go on with a paused one, to its end')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((id: string, options: OfProject) =>
      runInRealTime(operator, options, {
        work: async (opened) => {
          const { id: projectId } = await findProject(opened.db, options.project);
          const one = await (await flows()).resumeImport(opened.db, { projectId, id });
          return told(operator, {}, await (await runs()).followImport({ operator, opened, projectId }, one));
        },
        show: describeImport,
      }),
    );
}
