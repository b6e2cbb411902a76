import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { Fault } from '../base/fault.ts';
import { findProject } from '../features/projects/index.ts';
import {
  createTemplate,
  deleteTemplate,
  editTemplate,
  listLetters,
  previewLetter,
  showLetter,
} from '../flows/templates/index.ts';
import { OPERATOR, type Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { readLetterFile } from './template-file.ts';
import {
  describeLetter,
  describeLetters,
  describePreview,
  toListed,
  toPreview,
  toShown,
} from './template-output.ts';

type OfProject = { project: string } & OutputOptions;
type OfTemplate = OfProject & { template: string };
type Writing = { subject?: string; preheader?: string; keepOpen?: boolean };

const TEMPLATE_OPTION = ['--template <template>', 'its id or its name'] as const;
const FILE_OPTION = [
  '--file <file>',
  'a letter as .md, .mjml or .json: {"subject": "...", "preheader": "...", "format": "markdown", "body": "..."}',
] as const;
const KEEP_OPTION = ['--keep-open', 'drafts that wait already stay as they are'] as const;

export function addTemplateCommands(program: Command, operator: Operator): void {
  const template = program
    .command('template')
    .description('write letters, look at them, and see who uses what: in Markdown or MJML, with Liquid');
  addList(template, operator);
  addShow(template, operator);
  addCreate(template, operator);
  addUpdate(template, operator);
  addPreview(template, operator);
  addDelete(template, operator);
}

function addList(template: Command, operator: Operator): void {
  template
    .command('list')
    .description("list a project's letters, those that ship among them")
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          return (await listLetters(db, { projectId, now: db.clock.now() })).map(toListed);
        },
        show: describeLetters,
      }),
    );
}

function addShow(template: Command, operator: Operator): void {
  template
    .command('show')
    .description('show a letter with its versions, and of how many people is known what it reads')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...TEMPLATE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfTemplate) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          const asked = { projectId, reference: options.template, now: db.clock.now() };
          return toShown(await showLetter({ db, renderer: mailroom.renderer }, asked));
        },
        show: describeLetter,
      }),
    );
}

function addCreate(template: Command, operator: Operator): void {
  template
    .command('create')
    .description('make a letter; one that is called like a letter that ships takes its place')
    .requiredOption(...PROJECT_OPTION)
    .option('--template <name>', 'its name, by which rules find it; else as the file has it')
    .requiredOption(...FILE_OPTION)
    .option('--subject <subject>', 'instead of the one in the file')
    .option('--preheader <preheader>', 'instead of the one in the file')
    .option(...KEEP_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject & Writing & { template?: string; file: string }) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          const document = await documentOf(options, options.template);
          const follow = options.keepOpen !== true;
          return toWritten(
            await createTemplate(
              { db, renderer: mailroom.renderer },
              { projectId, document, follow, actor: OPERATOR },
            ),
          );
        },
        show: describeWritten,
      }),
    );
}

function addUpdate(template: Command, operator: Operator): void {
  template
    .command('update')
    .description('publish a new version; drafts that wait and that nobody touched say the new thing')
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...TEMPLATE_OPTION)
    .requiredOption(...FILE_OPTION)
    .option('--subject <subject>', 'instead of the one in the file')
    .option('--preheader <preheader>', 'instead of the one in the file')
    .option(...KEEP_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfTemplate & Writing & { file: string }) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { id: projectId } = await findProject(db, options.project);
          const edit = { projectId, reference: options.template, document: await documentOf(options) };
          const follow = options.keepOpen !== true;
          return toWritten(
            await editTemplate({ db, renderer: mailroom.renderer }, { ...edit, follow, actor: OPERATOR }),
          );
        },
        show: describeWritten,
      }),
    );
}

type Previewing = OfProject & { template?: string; file?: string; user?: string; html?: string };

function addPreview(template: Command, operator: Operator): void {
  template
    .command('preview')
    .description('show a letter as it would leave, to a user or to somebody made up, and store nothing')
    .requiredOption(...PROJECT_OPTION)
    .option(...TEMPLATE_OPTION)
    .option('--file <file>', 'a letter that is not stored, or what changes of one that is')
    .option('--user <user>', 'to whom it is written, by external_user_id')
    .option('--html <file>', 'where to write its HTML')
    .option(...JSON_OPTION)
    .action((options: Previewing) =>
      runOpened(operator, options, {
        work: async ({ db, mailroom }) => {
          const { template: reference = null, user: userId = null, file } = options;
          if (reference === null && file === undefined) throw nothingAsked();
          const { id: projectId } = await findProject(db, options.project);
          const document = file === undefined ? null : await readLetterFile(file);
          const asked = { projectId, reference, userId, document, now: db.clock.now() };
          const preview = toPreview(await previewLetter({ db, renderer: mailroom.renderer }, asked));
          if (options.html !== undefined) await writeFile(options.html, preview.html);
          return preview;
        },
        show: describePreview,
      }),
    );
}

function addDelete(template: Command, operator: Operator): void {
  template
    .command('delete')
    .description(
      'delete a letter with all its versions; the letter that ships under its name takes its place again',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption(...TEMPLATE_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfTemplate) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id: projectId } = await findProject(db, options.project);
          const wanted = { projectId, reference: options.template, actor: OPERATOR };
          const { template: gone, drafts } = await deleteTemplate(db, wanted);
          return { id: gone.id, name: gone.name, drafts };
        },
        show: ({ name, drafts }) => `Letter ${name} is deleted${followed(drafts)}`,
      }),
    );
}

/** What the command line says goes before what the file says. */
async function documentOf(options: Writing & { file: string }, name?: string): Promise<unknown> {
  const document = await readLetterFile(options.file);
  const { subject, preheader } = options;
  const said = Object.entries({ name, subject, preheader }).filter(([, value]) => value !== undefined);
  if (said.length === 0 || typeof document !== 'object' || document === null || Array.isArray(document))
    return document;
  return { ...document, ...Object.fromEntries(said) };
}

type Written = Awaited<ReturnType<typeof createTemplate>>;

function toWritten({ template: { id, name, version }, drafts }: Written) {
  return { id, name, version, drafts };
}

function describeWritten({ id, name, version, drafts }: ReturnType<typeof toWritten>): string {
  return `Letter ${name} has the id ${id}; version ${version} is published${followed(drafts)}`;
}

function followed(drafts: number): string {
  if (drafts === 0) return '';
  return drafts === 1
    ? '. 1 draft that waits says something else now'
    : `. ${drafts} drafts that wait say something else now`;
}

function nothingAsked(): Fault {
  const message = 'Say which letter: --template, --file, or both for a change that is not stored yet';
  return new Fault('validation_failed', { details: [{ message, field: 'template' }] });
}
