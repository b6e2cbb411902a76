import type { SuppressionImport } from '@beckon/contract/dashboard';
import { cellsOf, type FileRow, readRows } from '@beckon/contract/files';
import { type Columns, columnsOf, type ImportEntry, readRow, USUAL } from './columns.ts';
import { restoreTargets } from '../suppressions/erased.ts';
import { matchHashes } from '../suppressions/hashed-suppressions.ts';
import { suppressIn } from '../suppressions/suppress.ts';
import {
  type ClearTarget,
  type SuppressionHasher,
  type SuppressionReason,
  takeSendLock,
} from '../../sending/index.ts';
import { listEntries } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import { incrementModel } from '../../../platform/locks/store.ts';
import { isHashed } from '../suppressions/entries.ts';

type ImportOptions = {
  projectId: number;
  /** A CSV file. */
  file: AsyncIterable<Uint8Array>;
  /** The reason of rows that have none. */
  reason: SuppressionReason;
  /** Writes nothing, and reports what the import would do. */
  dryRun: boolean;
  actor: string;
  hasher: SuppressionHasher;
};

const ROWS_MAX = 1_000_000;
/** Exports of other senders have a column with the whole bounce message. */
const ROW_MAX_BYTES = 64 * 1024;
const BATCH = 1_000;
const PROBLEMS_MAX = 100;

/**
 * Imports a list from elsewhere in transactions of 1,000 rows, so that nothing waits for all of it. A rejected row does not affect the
 * others. Importing a list again changes nothing, so an interrupted import is started again.
 */
export async function importSuppressions(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  options: ImportOptions,
): Promise<SuppressionImport> {
  const result: SuppressionImport = {
    rows: 0,
    added: 0,
    already_suppressed: 0,
    already_ended: 0,
    drafts: 0,
    runs: 0,
    rejected: 0,
    problems: [],
  };
  const state: ImportProgress = { db, options, result, seen: new Set(), waiting: [], hasHashes: false };
  let columns: Columns | null = null;
  for await (const row of filledRows(options.file)) {
    if (result.rows === ROWS_MAX) {
      const message = `A list has at most ${ROWS_MAX} rows. This row and all later ones were not read`;
      refuse(result, { line: row.line, message });
      break;
    }
    if (columns === null && row.text !== null) {
      const first = columnsOf(valuesOf(row.text));
      columns = first.columns;
      if (first.isHeader) continue;
    }
    take(state, row, columns ?? USUAL);
    if (state.waiting.length >= BATCH) await flush(state);
  }
  await flush(state);
  if (state.hasHashes && !options.dryRun) await matchUsers(state);
  return result;
}

/** A hash may be the address of an existing user, who has to be suppressed like any other. */
async function matchUsers({ db, options, result }: ImportProgress): Promise<void> {
  const { drafts, runs } = await matchHashes(db, options);
  result.drafts += drafts;
  result.runs += runs;
}

type ImportProgress = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  options: ImportOptions;
  result: SuppressionImport;
  /** Places of a dry run, whose batches do not see each other. */
  seen: Set<string>;
  waiting: ImportEntry[];
  /** True if rows about erased users were among them. */
  hasHashes: boolean;
};

async function* filledRows(file: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow, void, void> {
  for await (const rows of readRows(file, { delimiter: ',', rowMaxBytes: ROW_MAX_BYTES }))
    for (const row of rows) if (row.text === null || row.text.trim() !== '') yield row;
}

function valuesOf(text: string): string[] {
  return cellsOf(text, ',', { trim: true });
}

function take(state: ImportProgress, row: FileRow, columns: Columns): void {
  const { db, options, result, waiting } = state;
  const { line, text, flaw } = row;
  const { reason, hasher, projectId } = options;
  result.rows += 1;
  if (text === null) return refuse(result, { line, message: flaw ?? 'This row cannot be read' });
  const keyId = hasher.keyIdOf(projectId);
  const read = readRow(valuesOf(text), columns, { now: db.clock.now(), reason, keyId });
  if ('problem' in read) refuse(result, { line, ...read.problem });
  else if ('over' in read) result.already_ended += 1;
  else {
    state.hasHashes ||= isHashed(read.entry.kind);
    waiting.push(read.entry);
  }
}

function refuse(result: SuppressionImport, problem: SuppressionImport['problems'][number]): void {
  result.rejected += 1;
  if (result.problems.length < PROBLEMS_MAX) result.problems.push(problem);
}

/** Retries on deadlock. */
const TRIES = 4;

async function flush(state: ImportProgress): Promise<void> {
  const { options, result, seen, waiting } = state;
  if (waiting.length === 0) return;
  const { added, drafts, runs } = await suppressBatch(state);
  if (options.dryRun) for (const entry of waiting) seen.add(entryKey(entry));
  result.added += added;
  result.already_suppressed += waiting.length - added;
  result.drafts += drafts;
  result.runs += runs;
  waiting.length = 0;
}

type Counted = { added: number; drafts: number; runs: number };

async function suppressBatch(state: ImportProgress): Promise<Counted> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await suppressOnce(state);
    } catch (error) {
      if (error instanceof DryRun) return error.counted;
      if (tried === TRIES || !isCollision(error)) throw error;
    }
  }
}

/** Rolls back the transaction of a dry run and carries its counts. A dry run does the same work, so its counts cannot differ. */
class DryRun extends Error {
  readonly counted: Counted;

  constructor(counted: Counted) {
    super('a dry run writes nothing');
    this.counted = counted;
  }
}

function suppressOnce({ db, options, seen, waiting }: ImportProgress): Promise<Counted> {
  const { projectId, actor, dryRun } = options;
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
    const entries = dryRun ? waiting.filter((entry) => !seen.has(entryKey(entry))) : waiting;
    const suppressions = entries.map((entry) => ({ ...entry, createdBy: actor }));
    const now = db.clock.now();
    const clear = entries.flatMap(({ kind, value }): ClearTarget[] =>
      kind === 'email' || kind === 'user' ? [{ projectId, kind, value }] : [],
    );
    await restoreTargets(tx, { hasher: options.hasher, targets: clear, now });
    const counted = await suppressIn(tx, projectId, { suppressions, now, actor });
    // From here on new addresses of this project are compared with its hashes.
    if (clear.length < entries.length) await incrementModel(tx, projectId);
    if (dryRun) throw new DryRun(counted);
    return counted;
  });
}

function entryKey({ kind, value }: ImportEntry): string {
  return `${kind} ${value}`;
}

/** The name of a list import in the audit log. */
export const IMPORT_ACTION = 'suppression.import';
const ENTRIES_READ = 20;

type LastImport = { at: Date; byName: string };

/** Returns when a suppression list was last imported; null: never, as far as the audit log goes back. */
export async function findLastImport(tx: Tx, projectId: number): Promise<LastImport | null> {
  const query = { projectIds: [projectId], actor: null, action: IMPORT_ACTION, after: null };
  const entries = await listEntries(tx, { ...query, limit: ENTRIES_READ });
  const last = entries.find(({ isCompleted: isDone }) => isDone);
  return last ? { at: last.at, byName: last.actorName } : null;
}
