import { type FileHandle, open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { Fault } from '../base/fault.ts';
import { findProject } from '../features/projects/index.ts';
import { SUPPRESSION_REASONS, type SuppressionReason } from '../features/suppressions/index.ts';
import {
  type ExportFormat,
  exportSuppressions,
  type ImportedList,
  importSuppressions,
} from '../flows/suppression-lists/index.ts';
import { EXIT_FAILED, OPERATOR, type Operator } from './operator.ts';
import { describeError, JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';
import { writePieces } from './write-pieces.ts';

type OfProject = { project: string } & OutputOptions;
type Importing = OfProject & { file: string; reason: SuppressionReason; dryRun?: boolean };
type Exporting = OfProject & { file?: string; format: ExportFormat };

export function addImport(suppression: Command, operator: Operator): void {
  suppression
    .command('import')
    .description(
      'suppress whoever a list names: CSV with the columns email or user, reason, until, created_at, or an address a line',
    )
    .requiredOption(...PROJECT_OPTION)
    .requiredOption('--file <file>', 'the list, or - for what is piped')
    .addOption(
      new Option('--reason <reason>', 'of those for whom the list names none')
        .choices(SUPPRESSION_REASONS)
        .default('manual'),
    )
    .option('--dry-run', 'write nothing, and say what it would come to')
    .option(...JSON_OPTION)
    .action((options: Importing) =>
      runOpened(operator, options, {
        work: async ({ db, hasher }) => {
          const { id: projectId } = await findProject(db, options.project);
          const { reason, dryRun = false } = options;
          await using file = await openList(options.file);
          const asked = {
            projectId,
            file: bytesOf(file, options.file),
            reason,
            dryRun,
            actor: OPERATOR,
            hasher,
          };
          const done = await importSuppressions(db, asked);
          if (done.refused > 0) operator.setExitCode(EXIT_FAILED);
          return { dry_run: dryRun, ...done };
        },
        show: describeImported,
      }),
    );
}

const STDIN = '/dev/stdin';

async function openList(path: string): Promise<FileHandle> {
  try {
    return await open(path === '-' ? STDIN : path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function* bytesOf(file: FileHandle, path: string): AsyncGenerator<Buffer, void, void> {
  const stream = file.createReadStream({ autoClose: false });
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw stream.errored === null ? error : unreadable(path, stream.errored);
  }
}

function unreadable(path: string, error: unknown): Fault {
  const message = `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  return new Fault('validation_failed', { details: [{ message, field: 'file' }] });
}

function describeImported({ dry_run: dryRun, ...done }: ImportedList & { dry_run: boolean }): string {
  const { rows, added, known, over, drafts, runs, refused, problems } = done;
  const [was, ended] = dryRun ? ['would be suppressed', 'would end'] : ['are suppressed now', 'ended'];
  const head = `Of ${rows} rows ${added} ${was}, ${known} were known, ${over} are over, ${refused} were refused; ${drafts} drafts and ${runs} runs ${ended}`;
  if (refused === 0) return head;
  const shown = problems.map(({ line, field, message }) => ({ line, field, message }));
  const more = refused > problems.length ? `\n… and ${refused - problems.length} more` : '';
  return `${head}\n\n${table(shown, '')}${more}`;
}

export function addExport(suppression: Command, operator: Operator): void {
  suppression
    .command('export')
    .description('write the whole list, which can be imported again')
    .requiredOption(...PROJECT_OPTION)
    .addOption(new Option('--format <format>', 'a line each').choices(['csv', 'ndjson']).default('csv'))
    .option('--file <file>', 'into this new file, readable by you alone; else it is printed')
    .option('--json', 'with --file: print one JSON value about it')
    .action((options: Exporting) =>
      options.file === undefined
        ? printList(operator, options)
        : runOpened(operator, options, {
            work: async ({ db, hasher }) => {
              const { id: projectId } = await findProject(db, options.project);
              const { file = '', format } = options;
              const list = exportSuppressions(db, { projectId, format, hasher });
              return { file, bytes: await writePieces(file, list) };
            },
            show: ({ file, bytes }) => `${bytes} bytes were written to ${file}`,
          }),
    );
}

/** A page at a time: it may be larger than memory. */
async function printList(operator: Operator, { project, format, json = false }: Exporting): Promise<void> {
  try {
    const opened = await operator.open();
    try {
      const { id: projectId } = await findProject(opened.db, project);
      const { db, hasher } = opened;
      for await (const piece of exportSuppressions(db, { projectId, format, hasher })) operator.print(piece);
    } finally {
      await opened.close();
    }
  } catch (error) {
    operator.complain(describeError(error, json));
    operator.setExitCode(EXIT_FAILED);
  }
}
