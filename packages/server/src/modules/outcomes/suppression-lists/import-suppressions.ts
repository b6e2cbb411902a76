import { cellsOf, type FileRow, readRows } from '@beckon/contract/files';
import { type Columns, columnsOf, type ListedPlace, readRow, type RowTrouble, USUAL } from './columns.ts';
import { restorePlaces } from '../suppressions/erased.ts';
import { matchHashes } from '../suppressions/hashed-suppressions.ts';
import { suppressIn } from '../suppressions/suppress.ts';
import {
  type ClearPlace,
  isHashed,
  type SuppressionHasher,
  type SuppressionReason,
  takeSendTurn,
} from '../../sending/index.ts';
import { listEntries } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { newModel, takeTurn } from '../../../platform/locks/project-lock.ts';

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

type LineTrouble = { line: number } & Partial<Pick<RowTrouble, 'field'>> & { message: string };

type ImportedList = {
  /** Rows without the header. */
  rows: number;
  /** Suppressions in force by this list now. */
  added: number;
  /** A suppression at least as long existed, or another row of the list is the same. */
  already_suppressed: number;
  /** Ended before now. */
  already_ended: number;
  /** Drafts and runs that ended. */
  drafts: number;
  runs: number;
  rejected: number;
  /** The first rejected rows. */
  problems: LineTrouble[];
};

const ROWS_MAX = 1_000_000;
/** Exports of other senders have a column with the whole bounce message. */
const ROW_MAX_BYTES = 64 * 1024;
const BATCH = 1_000;
const TROUBLES_SHOWN = 100;

/**
 * Imports a list from elsewhere in transactions of 1,000 rows, so that nothing waits for all of it. A rejected row does not affect the
 * others. Importing a list again changes nothing, so an interrupted import is started again.
 */
export async function importSuppressions(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  options: ImportOptions,
): Promise<ImportedList> {
  const done: ImportedList = {
    rows: 0,
    added: 0,
    already_suppressed: 0,
    already_ended: 0,
    drafts: 0,
    runs: 0,
    rejected: 0,
    problems: [],
  };
  const importing: Importing = { db, options, done, seen: new Set(), waiting: [], hasHashes: false };
  let columns: Columns | null = null;
  for await (const row of filledRows(options.file)) {
    if (done.rows === ROWS_MAX) {
      const message = `A list has at most ${ROWS_MAX} rows. This row and all later ones were not read`;
      refuse(done, { line: row.line, message });
      break;
    }
    if (columns === null && row.text !== null) {
      const first = columnsOf(valuesOf(row.text));
      columns = first.columns;
      if (first.isHeader) continue;
    }
    take(importing, row, columns ?? USUAL);
    if (importing.waiting.length >= BATCH) await flush(importing);
  }
  await flush(importing);
  if (importing.hasHashes && !options.dryRun) await matchUsers(importing);
  return done;
}

/** A hash may be the address of an existing user, who has to be suppressed like any other. */
async function matchUsers({ db, options, done }: Importing): Promise<void> {
  const { drafts, runs } = await matchHashes(db, options);
  done.drafts += drafts;
  done.runs += runs;
}

type Importing = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  options: ImportOptions;
  done: ImportedList;
  /** Places of a dry run, whose batches do not see each other. */
  seen: Set<string>;
  waiting: ListedPlace[];
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

function take(importing: Importing, row: FileRow, columns: Columns): void {
  const { db, options, done, waiting } = importing;
  const { line, text, flaw } = row;
  const { reason, hasher, projectId } = options;
  done.rows += 1;
  if (text === null) return refuse(done, { line, message: flaw ?? 'This row cannot be read' });
  const keyId = hasher.keyIdOf(projectId);
  const read = readRow(valuesOf(text), columns, { now: db.clock.now(), reason, keyId });
  if ('trouble' in read) refuse(done, { line, ...read.trouble });
  else if ('over' in read) done.already_ended += 1;
  else {
    importing.hasHashes ||= isHashed(read.place.kind);
    waiting.push(read.place);
  }
}

function refuse(done: ImportedList, trouble: LineTrouble): void {
  done.rejected += 1;
  if (done.problems.length < TROUBLES_SHOWN) done.problems.push(trouble);
}

/** Retries on deadlock. */
const TRIES = 4;

async function flush(importing: Importing): Promise<void> {
  const { options, done, seen, waiting } = importing;
  if (waiting.length === 0) return;
  const { added, drafts, runs } = await suppressSome(importing);
  if (options.dryRun) for (const place of waiting) seen.add(placeKey(place));
  done.added += added;
  done.already_suppressed += waiting.length - added;
  done.drafts += drafts;
  done.runs += runs;
  waiting.length = 0;
}

type Counted = { added: number; drafts: number; runs: number };

async function suppressSome(importing: Importing): Promise<Counted> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await suppressOnce(importing);
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

function suppressOnce({ db, options, seen, waiting }: Importing): Promise<Counted> {
  const { projectId, actor, dryRun } = options;
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
    const places = dryRun ? waiting.filter((place) => !seen.has(placeKey(place))) : waiting;
    const wanted = places.map((place) => ({ ...place, createdBy: actor }));
    const now = db.clock.now();
    const clear = places.flatMap(({ kind, value }): ClearPlace[] =>
      kind === 'email' || kind === 'user' ? [{ projectId, kind, value }] : [],
    );
    await restorePlaces(tx, { hasher: options.hasher, places: clear, now });
    const counted = await suppressIn(tx, projectId, { wanted, now, actor });
    // From here on new addresses of this project are compared with its hashes.
    if (clear.length < places.length) await newModel(tx, projectId);
    if (dryRun) throw new DryRun(counted);
    return counted;
  });
}

function placeKey({ kind, value }: ListedPlace): string {
  return `${kind} ${value}`;
}

/** The name of a list import in the audit log. */
export const IMPORT_ACTION = 'suppression.import';
const LOOKED_AT = 20;

type LastImport = { at: Date; byName: string };

/** Returns when a suppression list was last imported; null: never, as far as the audit log goes back. */
export async function findLastImport(tx: Tx, projectId: number): Promise<LastImport | null> {
  const asked = { projectIds: [projectId], actor: null, action: IMPORT_ACTION, after: null };
  const entries = await listEntries(tx, { ...asked, limit: LOOKED_AT });
  const last = entries.find(({ isDone }) => isDone);
  return last ? { at: last.at, byName: last.actorName } : null;
}
