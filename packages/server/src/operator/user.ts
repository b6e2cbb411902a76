import { type Command, InvalidArgumentError } from 'commander';
import { idMaker } from '../base/ids.ts';
import { listShown } from '../features/people/index.ts';
import { findProject } from '../features/projects/index.ts';
import { type ErasedPerson, erasePerson } from '../flows/erase-person.ts';
import { exportPerson } from '../flows/export-person.ts';
import { showPerson, type WholePerson } from '../flows/show-person.ts';
import type { Tx } from '../io/db/index.ts';
import { EXIT_FAILED, type Operator } from './operator.ts';
import { describeError, JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';
import { writePieces } from './write-pieces.ts';

type OfProject = { project: string } & OutputOptions;
type OfUser = OfProject & { user: string };

const USER_OPTION = ['--user <user>', 'the id under which your product knows them'] as const;
const LISTED = 100;
const LISTED_MAX = 1_000;

export function addUserCommands(program: Command, operator: Operator): void {
  const user = program
    .command('user')
    .description('show, export and erase what is known of the tracked users');
  addList(user, operator);
  addShow(user, operator);
  addErase(user, operator);
  addExport(user, operator);
}

function addList(user: Command, operator: Operator): void {
  user
    .command('list')
    .description('list users in the order of their ids')
    .requiredOption(...PROJECT_OPTION)
    .option('--limit <number>', `no more than so many, at most ${LISTED_MAX}`, readLimit, LISTED)
    .option('--after <external_user_id>', 'only those behind this one')
    .option(...JSON_OPTION)
    .action((options: OfProject & { limit: number; after?: string }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { limit, after = null } = options;
          const people = await listShown(db, { projectId, after, limit });
          return people.map(({ external_user_id, email, first_seen_at, last_seen_at }) => ({
            external_user_id,
            email,
            first_seen_at,
            last_seen_at,
          }));
        },
        show: (rows) => table(rows, 'There is nobody'),
      }),
    );
}

function addShow(user: Command, operator: Operator): void {
  user
    .command('show')
    .description(
      'show a user with their traits, audiences, newest 1,000 events, drafts, decisions and outcomes',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...USER_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfUser) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return showPerson(db, { projectId, userId: options.user });
        },
        show: describePerson,
      }),
    );
}

function describePerson({
  traits,
  audiences,
  events,
  drafts,
  decisions,
  runs,
  outcomes,
  ...person
}: WholePerson): string {
  const named = Object.entries(traits).map(([trait, value]) => ({ trait, value }));
  const done = events.map(({ occurred_at, name, properties }) => ({ occurred_at, name, properties }));
  return [
    table([person], ''),
    table(named, 'They have no traits'),
    table(audiences, 'They are in no audience'),
    table(done, 'Nothing happened yet'),
    table(
      drafts.map(({ id, state, rule, subject, deadline_at, reason }) => ({
        id,
        state,
        rule,
        subject,
        deadline_at,
        reason,
      })),
      'No letter was drafted',
    ),
    table(
      decisions.map(({ at, rule, reason, count }) => ({ at, rule, reason, count })),
      'No rule was considered',
    ),
    table(
      runs.map(({ rule, state, waits_for, next_at, end_reason }) => ({
        rule,
        state,
        waits_for,
        next_at,
        end_reason,
      })),
      'They are under way in no rule',
    ),
    table(
      outcomes.map(({ occurred_at, type, rule, detail }) => ({ occurred_at, became: type, rule, detail })),
      'Nothing became of any letter yet',
    ),
  ].join('\n\n');
}

function addErase(user: Command, operator: Operator): void {
  user
    .command('erase')
    .description(
      'remove all that is known of a user, for good, and drop what they sent that still waits; ' +
        'a suppression of their address and the topics that it refused stay as keyed hashes',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...USER_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfUser) =>
      runOpened(operator, options, {
        work: async ({ db, hasher }) => {
          const { id: projectId } = await findProject(db, options.project);
          return erasePerson({ db, newId: idMaker(db.clock), hasher }, { projectId, userId: options.user });
        },
        show: describeErased,
      }),
    );
}

function describeErased({ external_user_id, erased_at, seq, removed }: ErasedPerson): string {
  const rows = Object.entries(removed).flatMap(([name, count]) =>
    count > 0 ? [{ table: name, removed: count }] : [],
  );
  const what = table(rows, 'Nothing was known of them yet');
  const head = `Erased at ${erased_at}: ${JSON.stringify(external_user_id)}`;
  return `${head}\n\n${what}\n\nWhat was accepted before sequence ${seq} and still waits is dropped when its turn comes`;
}

function addExport(user: Command, operator: Operator): void {
  user
    .command('export')
    .description('write everything that is kept about a user as one JSON value')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...USER_OPTION)
    .option('--file <file>', 'into this new file, readable by you alone; else it is printed')
    .option(...JSON_OPTION)
    .action((options: OfUser & { file?: string }) =>
      options.file === undefined
        ? printExport(operator, options)
        : runOpened(operator, options, {
            work: async ({ db }) => {
              const { id: projectId } = await findProject(db, options.project);
              const { file = '' } = options;
              return {
                file,
                bytes: await writePieces(file, exportPerson(db, { projectId, userId: options.user })),
              };
            },
            show: ({ file, bytes }) => `${bytes} bytes were written to ${file}`,
          }),
    );
}

/** Piece by piece, a line each: it may be larger than memory, and white space between the pieces changes nothing. */
async function printExport(operator: Operator, options: OfUser): Promise<void> {
  try {
    const opened = await operator.open();
    try {
      await printPieces(operator, opened.db, options);
    } finally {
      await opened.close();
    }
  } catch (error) {
    operator.complain(describeError(error, options.json ?? false));
    operator.setExitCode(EXIT_FAILED);
  }
}

async function printPieces(operator: Operator, db: Tx, { project, user: userId }: OfUser): Promise<void> {
  const { id: projectId } = await findProject(db, project);
  for await (const piece of exportPerson(db, { projectId, userId })) operator.print(piece);
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LISTED_MAX) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LISTED_MAX}.`);
}
