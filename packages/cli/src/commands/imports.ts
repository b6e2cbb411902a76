import type { Import } from '@beckon/contract/dashboard';
import type { CellType } from '@beckon/contract/files';
import { requireAnswer, usage } from '../failure.ts';
import { call, custom, list, type Noun } from '../framework/declare.ts';
import {
  flag,
  longOf,
  repeatable,
  oneOf,
  type Option,
  pairOf,
  readInput,
  required,
  text,
  whole,
} from '../framework/options.ts';
import { fields } from '../output/auto.ts';
import { canPrompt, type Shell } from '../shell.ts';
import { FOLLOW_ROUTES, followImport, importFile, runImport, UPLOAD_ROUTES } from './import-run.ts';
import { importView } from './import-views.ts';

const IMPORT = { import: 'Import ID' };
const RESUME = 'POST /projects/:project/imports/:import/resume';
const KEY_FILE = text('--stripe-key-file <file>', 'File that holds the restricted Stripe key; - reads stdin');
const DRY_RUN = flag('--dry-run', 'Only check the data and show what the import would do');

const CELL_TYPES = ['text', 'number', 'boolean', 'date', 'json'] as const satisfies CellType[];

/** How columns become fields. */
const MAPPING_OPTIONS = {
  map: pairs(
    '--map <field=column>',
    'Column that a field is read from; repeat for each field',
    (column) => column,
  ),
  types: pairs(
    '--types <field=type>',
    `Type of a field: ${CELL_TYPES.join(', ')}; repeat for each field`,
    (type) => oneOf(type, CELL_TYPES, '--types'),
  ),
};
const EVENT_OPTIONS = {
  name: text('--name <event>', 'Name of every event in the file, if no column has it'),
  equal_rows_are_one: flag(
    '--equal-rows-are-one',
    'Accept rows that have neither a time nor an ID; import identical rows as one event',
  ),
  live: whole(
    '--live <count>',
    'Let these events fire rules; confirm with the number of events from --dry-run',
    [0, 1e12],
  ),
};
const NO_EVENT_OPTIONS: Partial<typeof EVENT_OPTIONS> = {};

export const imports: Noun = {
  name: 'imports',
  help: 'Import users, events and Stripe customers on the server',
  commands: [
    list('GET /projects/:project/imports', 'list', {
      help: 'List imports, newest first',
      isPaged: true,
      row: [
        ...fields('id kind name state'),
        ['rows', ({ progress }) => progress.rows],
        ['rejected', ({ progress }) => progress.rejected],
        ...fields('created_by created_at'),
      ],
      empty: 'No imports yet. Import a file: beckon imports users <file>',
    }),
    call('GET /projects/:project/imports/:import', 'show <import>', {
      help: 'Show the progress of an import, the result of its check and what it imported',
      args: IMPORT,
      view: importView,
    }),
    fileCommand('users'),
    fileCommand('events'),
    custom('stripe', {
      help: 'Import Stripe customers, subscriptions and invoices as users and events, without firing rules',
      options: {
        key_file: KEY_FILE,
        unmatched_as_customers: flag(
          '--unmatched-as-customers',
          'Import Stripe customers that match no user as new users, with their cus_… ID',
        ),
        dry_run: DRY_RUN,
      },
      routes: FOLLOW_ROUTES,
      async run(context, { key_file, unmatched_as_customers = false, dry_run }) {
        const key = await readKey(context, key_file);
        return runImport(context, { kind: 'stripe', key, unmatched_as_customers }, { dry_run });
      },
    }),
    call('POST /projects/:project/imports/:import/pause', 'pause <import>', {
      help: 'Pause an import',
      args: IMPORT,
      view: (job) => changed(job, `Resume: beckon imports resume ${job.id}`),
    }),
    custom('resume <import>', {
      help: 'Resume a paused import and show its progress until it ends',
      args: IMPORT,
      routes: [RESUME, ...FOLLOW_ROUTES],
      async run(context, params) {
        const { data } = await context.api.call(RESUME, { params });
        return followImport(context, data);
      },
    }),
    call('POST /projects/:project/imports/:import/cancel', 'cancel <import>', {
      help: 'Cancel an import permanently, without deleting the records that it imported',
      args: IMPORT,
      view: (job) => changed(job, 'Records that were already imported are kept.'),
    }),
    custom('set-key <import>', {
      help: 'Replace the Stripe key of an import after Stripe rejected it',
      args: IMPORT,
      options: { key_file: required(KEY_FILE) },
      routes: ['POST /projects/:project/imports/:import/key'],
      async run(context, { import: id, key_file }) {
        const key = await readKey(context, key_file);
        const request = { params: { import: id }, body: { key } };
        const { data } = await context.api.call('POST /projects/:project/imports/:import/key', request);
        await context.output.value(data, (job) => changed(job, `Resume: beckon imports resume ${job.id}`));
      },
    }),
    list('GET /projects/:project/imports/:import/findings', 'findings <import>', {
      help: 'List rejected rows, unmatched customers and other findings of an import',
      args: IMPORT,
      isPaged: true,
      csv: 'GET /projects/:project/imports/:import/rejected.csv',
      options: { kind: text('--kind <kind>', 'Only findings of this kind, such as rejected or unmatched') },
      row: fields('kind row field message data=raw'),
      empty: 'No findings. Every row was imported.',
    }),
  ],
};

function fileCommand(kind: 'users' | 'events') {
  return custom(`${kind} <file>`, {
    help: `Check a CSV or JSONL file of ${kind}, then import it`,
    details:
      'Once the check has passed, the import runs on the server. It continues there if you interrupt this command.',
    args: { file: 'Path of the file; - reads stdin' },
    options: {
      ...MAPPING_OPTIONS,
      dry_run: DRY_RUN,
      ...(kind === 'events' ? EVENT_OPTIONS : NO_EVENT_OPTIONS),
    },
    routes: UPLOAD_ROUTES,
    run: (context, input) => importFile(context, { kind, ...input }),
  });
}

function pairs<T>(flags: string, help: string, readValue: (text: string) => T): Option<Map<string, T>> {
  const name = longOf(flags);
  return {
    ...repeatable(flags, help),
    read(pairs: readonly string[] = []) {
      const found = new Map<string, T>();
      for (const pair of pairs) {
        const [field, value] = pairOf(pair, name, 'field=value');
        if (value === '') throw usage(`${name} ${field}: the value is missing`, name);
        if (found.has(field)) throw usage(`${name} has two values for ${field}`, name);
        found.set(field, readValue(value));
      }
      return found;
    },
  };
}

type PromptContext = { shell: Shell; options: { json?: boolean } };

/** A secret is never an argument. On a terminal the command prompts for it; otherwise it comes from stdin or a file. */
async function readKey({ shell, options }: PromptContext, file: string | undefined): Promise<string> {
  if (file === undefined && canPrompt(shell, options.json))
    return requireAnswer(await shell.prompts.secret('Restricted Stripe key')).trim();
  return (await readInput(file ?? '-', { shell })).trim();
}

function changed(job: Import, next: string): string {
  return `Import ${job.id} of ${job.name} is ${job.state}. ${next}`;
}
