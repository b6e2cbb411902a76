import { createHash } from 'node:crypto';
import type { Beckon, BulkChunk, BulkOptions, BulkReport } from '@beckon/client';
import { EXIT, type ExitCode, Failure, usage } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { type Checkpoint, type Done, NOTHING_DONE, openCheckpoint, planDigest } from './checkpoint.ts';
import { dryRun, type DryRunReport, sayDryRun } from './dry-run.ts';
import type { ImportIo, ImportOptions } from './options.ts';
import { count, createProgress, duration } from './progress.ts';
import { openRejected, type RejectedFile } from './rejected.ts';
import type { ImportRow } from './row.ts';
import { csvRows, jsonRows, type Rows } from './rows.ts';
import { type ImportSource, openSource } from './source.ts';

export type ImportReport = {
  type: 'report';
  file: string;
  /** Rows of the file, including those of earlier runs. */
  rows: number;
  accepted: number;
  rejected: number;
  rejected_file: string | null;
  /** Row after which an earlier run had stopped. */
  resumed_after: number;
  seconds: number;
  rows_per_s: number;
};

/** Imports one file. `checkpoint.ts` describes how an interrupted import continues. */
export async function runImport(options: ImportOptions, io: ImportIo): Promise<ExitCode> {
  const source = await openSource(options, io.shell);
  if (options.dryRun) {
    const report = await lookAt(source, options);
    await io.output.value(report, () => sayDryRun(report, options.kind));
    return report.invalid > 0 ? EXIT.partly : EXIT.ok;
  }
  if (io.client === null) throw new Error('An import that sends needs a client');
  if (options.live !== null) await confirmLive(source, options, io);
  const report = await send(source, options, { ...io, client: io.client });
  await io.output.value(report, () => sayReport(report, options));
  return report.rejected > 0 ? EXIT.partly : EXIT.ok;
}

async function lookAt(source: ImportSource, options: ImportOptions): Promise<DryRunReport> {
  const { rows } = await rowsOf(source, options);
  return dryRun(rows, { kind: options.kind, file: source.name, live: options.live !== null });
}

async function rowsOf(source: ImportSource, options: ImportOptions): Promise<Rows> {
  if (source.format === 'jsonl') return jsonRows(source.bytes(), options);
  return csvRows(source.bytes(), { delimiter: source.delimiter, rules: options });
}

/** Emails may be sent, so the user has to state the number of events. */
async function confirmLive(source: ImportSource, options: ImportOptions, io: ImportIo): Promise<void> {
  if (source.path === null)
    throw usage('--live needs a file, because stdin cannot be counted first', '--live');
  const { valid } = await lookAt(source, options);
  if (options.live === true) {
    if (io.askText === null)
      throw usage('--live needs the number of events. Count them with --dry-run.', '--live');
    const question = `${count(valid)} events are sent as if they happened now: rules may fire, and emails may be sent. Type their number to continue.`;
    const typed = await io.askText(question);
    if (typed === null)
      throw new Failure('interrupted', 'Canceled. No event was sent.', { exit: EXIT.interrupted });
    if (typed.replaceAll(/[,_\s]/g, '') !== String(valid))
      throw usage('The number does not match. Nothing was sent.', '--live');
  } else if (options.live !== valid) {
    throw usage(
      `--live is ${options.live}, but the file has ${count(valid)} events. Nothing was sent.`,
      '--live',
    );
  }
}

type SendIo = ImportIo & { client: Beckon };

async function send(source: ImportSource, options: ImportOptions, io: SendIo): Promise<ImportReport> {
  const { output, shell, client } = io;
  const startedAt = shell.now();
  const { header, rows } = await rowsOf(source, options);
  const checkpoint = await checkpointOf(source, options, client);
  const before = checkpoint?.found ?? NOTHING_DONE;
  if (checkpoint === null) await output.note('An import from stdin cannot continue after an interruption.');
  else if (before.rows > 0)
    await output.note(`Continuing after row ${count(before.rows)}, where an earlier run stopped.`);
  const rejected = await openRejected({
    ...source,
    beside: source.path ?? `${shell.cwd}/beckon-import`,
    header,
    keepBytes: before.rejectedBytes,
  });
  const work: Work = { source, options, io, rows, before, checkpoint, rejected };
  try {
    const done = await upload(work);
    await checkpoint?.remove();
    const seconds = (shell.now() - startedAt) / 1_000;
    return {
      type: 'report',
      file: source.name,
      rows: done.rows,
      accepted: done.accepted,
      rejected: done.rejected,
      rejected_file: done.rejectedBytes > 0 ? rejected.path : null,
      resumed_after: before.rows,
      seconds,
      rows_per_s: Math.round((done.rows - before.rows) / Math.max(seconds, 0.001)),
    };
  } catch (error) {
    if (checkpoint) await output.note('Not finished. Run the same command again to continue.');
    throw error;
  } finally {
    await rejected.close();
  }
}

async function checkpointOf(
  source: ImportSource,
  options: ImportOptions,
  client: Beckon,
): Promise<Checkpoint | null> {
  const { path, identity } = source;
  if (path === null || identity === null) return null;
  const target = `${client.url} ${client.keyHint}`;
  return openCheckpoint({ path, identity, plan: planDigest(options), target, restart: options.restart });
}

type Work = {
  source: ImportSource;
  options: ImportOptions;
  io: SendIo;
  rows: AsyncGenerator<ImportRow>;
  before: Done;
  checkpoint: Checkpoint | null;
  rejected: RejectedFile;
};

const CONCURRENCY = 3;

async function upload({ source, options, io, rows, before, checkpoint, rejected }: Work): Promise<Done> {
  const { client, output, shell, signal } = io;
  let done = before;
  await skip(rows, before.rows);
  const progress = createProgress(output, {
    name: source.name,
    rows: source.identity && source.identity.lines - (source.format === 'csv' ? 1 : 0),
    before,
    now: () => shell.now(),
    columns: () => shell.stderr.columns(),
  });
  async function settle(chunk: BulkChunk<ImportRow>): Promise<void> {
    await rejected.write(
      chunk.rejected.map(({ item, message, field }) => ({ row: item, field, message, ...item.problem })),
    );
    done = {
      rows: before.rows + chunk.first + chunk.records,
      accepted: done.accepted + chunk.accepted,
      rejected: done.rejected + chunk.rejected.length,
      rejectedBytes: rejected.bytes(),
    };
    await checkpoint?.save(done);
  }
  const bulk: BulkOptions<ImportRow> = {
    concurrency: CONCURRENCY,
    signal,
    onChunk: settle,
    onProgress: (now) => void progress.update(now),
    ...(source.identity ? { idempotencyKey: keysOf(source.identity.sha256, options, before.rows) } : {}),
  };
  await start(client, { rows, options, bulk });
  return done;
}

type Start = { rows: AsyncGenerator<ImportRow>; options: ImportOptions; bulk: BulkOptions<ImportRow> };

function start(client: Beckon, { rows, options, bulk }: Start): Promise<BulkReport> {
  if (options.kind === 'users') return client.users.bulk(rows, bulk);
  return client.events.bulk(rows, { ...bulk, suppressTriggers: options.live === null });
}

async function skip(rows: AsyncGenerator<ImportRow>, count: number): Promise<void> {
  for (let skipped = 0; skipped < count; skipped += 1) await rows.next();
}

/** The same rows have the same key in every run, so the server accepts them once. */
function keysOf(
  sha256: string,
  options: ImportOptions,
  from: number,
): (chunk: { first: number; records: number }) => string {
  const plan = planDigest(options);
  return ({ first, records }) => {
    const hex = createHash('sha256')
      .update(`${sha256} ${plan} ${from + first} ${records}`)
      .digest('hex');
    const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
}

function sayReport(report: ImportReport, { kind }: ImportOptions): string {
  const { rows, accepted, rejected, rejected_file: file, seconds, rows_per_s: pace } = report;
  const took = `${count(rows)} rows in ${duration(Math.ceil(seconds))}, ${count(pace)} rows/s`;
  const back =
    rejected === 0 ? '' : `\n${count(rejected)} rejected. The reasons are in ${printable(file ?? '')}.`;
  return `${count(accepted)} ${kind} accepted (${took})${back}`;
}
