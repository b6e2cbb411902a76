import { type Command, InvalidArgumentError } from 'commander';
import { Fault } from '../base/fault.ts';
import {
  listAudiences,
  listMembers,
  type Member,
  MEMBERS_PAGE_MAX,
  previewDefinition,
  showAudience,
} from '../features/audiences/index.ts';
import { findProject } from '../features/projects/index.ts';
import { createAudience } from '../flows/create-audience.ts';
import { deleteAudience } from '../flows/delete-audience.ts';
import { editAudience } from '../flows/edit-audience.ts';
import type { Tx } from '../io/db/index.ts';
import { addAudienceTest } from './audience-test.ts';
import { describeAudience, describePreview, printable, toListed, toShown } from './audience-output.ts';
import { readJsonFile } from './json-file.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;
type OfAudience = OfProject & { audience: string };

const AUDIENCE_OPTION = ['--audience <audience>', 'its id or its name'] as const;
const FILE_KEYS = ['name', 'definition'];
const MEMBERS_SHOWN = 1_000;

export function addAudienceCommands(program: Command, operator: Operator): void {
  const audience = program
    .command('audience')
    .description('make, change and read audiences: who is meant, by traits, events and other audiences');
  addCreate(audience, operator);
  addEdit(audience, operator);
  addDelete(audience, operator);
  addList(audience, operator);
  addShow(audience, operator);
  addMembers(audience, operator);
  addPreview(audience, operator);
  addAudienceTest(audience, operator);
}

function addCreate(audience: Command, operator: Operator): void {
  audience
    .command('create')
    .description('make an audience; its members are found in the background')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--file <file>', 'JSON: {"name": "...", "definition": {...}}')
    .option(...JSON_OPTION)
    .action((options: OfProject & { file: string }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { name, definition } = await readJsonFile(options.file, FILE_KEYS);
          const { id: projectId } = await findProject(db, options.project);
          const wanted = { projectId, name: readText(name), definition };
          return findListed(db, projectId, (await createAudience(db, wanted)).id);
        },
        show: ({ id, name, sentence }) =>
          `Audience ${name} has the id ${id}\n\nWho is meant: ${printable(sentence)}`,
      }),
    );
}

function addEdit(audience: Command, operator: Operator): void {
  audience
    .command('edit')
    .description(
      'change its name, its definition or both; the old definition answers until the new one is built',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...AUDIENCE_OPTION)
    .requiredOption('--file <file>', 'JSON with what changes: {"name": "...", "definition": {...}}')
    .option(...JSON_OPTION)
    .action((options: OfAudience & { file: string }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { name, definition } = await readJsonFile(options.file, FILE_KEYS);
          const { id: projectId } = await findProject(db, options.project);
          const newName = name === undefined ? undefined : readText(name);
          const edit = { projectId, reference: options.audience, name: newName, definition };
          return findListed(db, projectId, (await editAudience(db, edit)).id);
        },
        show: ({ name, state, sentence }) =>
          `Audience ${name} is ${state}\n\nWho is meant: ${printable(sentence)}`,
      }),
    );
}

function addDelete(audience: Command, operator: Operator): void {
  audience
    .command('delete')
    .description('delete an audience that no other one refers to')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...AUDIENCE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfAudience) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { id, name } = await deleteAudience(db, { projectId, reference: options.audience });
          return { id, name };
        },
        show: ({ name }) => `Audience ${name} is deleted`,
      }),
    );
}

function addList(audience: Command, operator: Operator): void {
  audience
    .command('list')
    .description("list a project's audiences")
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db }) =>
          (await listAudiences(db, (await findProject(db, options.project)).id)).map(toListed),
        show: (rows) =>
          table(
            rows.map(({ id, name, state, members, progress, sentence }) => ({
              id,
              name,
              state,
              members,
              progress: progress && `${progress.built}/${progress.users}`,
              sentence,
            })),
            'This project has no audience yet: audience create makes one',
          ),
      }),
    );
}

function addShow(audience: Command, operator: Operator): void {
  audience
    .command('show')
    .description('show an audience with its definition, its growth and some of its members')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...AUDIENCE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfAudience) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const now = new Date(db.clock.now());
          return toShown(await showAudience(db, { projectId, reference: options.audience, now }));
        },
        show: describeAudience,
      }),
    );
}

function addMembers(audience: Command, operator: Operator): void {
  audience
    .command('members')
    .description('list who is in an audience, in the order of their ids')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...AUDIENCE_OPTION)
    .option('--limit <number>', 'no more than so many', readCount, MEMBERS_SHOWN)
    .option('--after <external_user_id>', 'only those behind this one')
    .option(...JSON_OPTION)
    .action((options: OfAudience & { limit: number; after?: string }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { audience: reference, limit, after } = options;
          return readPages(db, { projectId, reference, limit, after: after ?? null });
        },
        show: (rows) => table(rows, 'Nobody is in this audience'),
      }),
    );
}

function addPreview(audience: Command, operator: Operator): void {
  audience
    .command('preview')
    .description('count whom a definition would hold for now, and make nothing')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--file <file>', 'JSON as for create; the name may be left out')
    .option(...JSON_OPTION)
    .action((options: OfProject & { file: string }) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { definition } = await readJsonFile(options.file, FILE_KEYS);
          const { id: projectId } = await findProject(db, options.project);
          const now = new Date(db.clock.now());
          const { uncountedEvents, count, sample, sentence } = await db.transaction((tx) =>
            previewDefinition(tx, { projectId, definition, now }),
          );
          return { count, sample, sentence, uncounted_events: uncountedEvents };
        },
        show: describePreview,
      }),
    );
}

async function findListed(tx: Tx, projectId: number, id: string): Promise<ReturnType<typeof toListed>> {
  const found = (await listAudiences(tx, projectId)).find((one) => one.id === id);
  if (found) return toListed(found);
  throw new Fault('not_found', { details: [{ message: 'The audience was deleted meanwhile' }] });
}

/** A page at a time, so that no statement is long. */
async function readPages(
  tx: Tx,
  wanted: { projectId: number; reference: string; limit: number; after: string | null },
): Promise<Member[]> {
  const members: Member[] = [];
  let after = wanted.after;
  while (members.length < wanted.limit) {
    const limit = Math.min(wanted.limit - members.length, MEMBERS_PAGE_MAX);
    const page = await listMembers(tx, { ...wanted, after, limit });
    members.push(...page);
    after = page.at(-1)?.external_user_id ?? null;
    if (page.length < limit) break;
  }
  return members;
}

function readText(name: unknown): string {
  if (typeof name === 'string') return name;
  throw new Fault('validation_failed', { details: [{ message: 'name must be a text', field: 'name' }] });
}

function readCount(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}
