import type { ImportKind, ImportMapping, ImportSample } from '@beckon/contract/dashboard';
import { Fault, type FieldFault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { readEvent, readUser } from '../../../platform/records/record.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { FILE_MAX_BYTES, type Import, NAME_MAX_CHARS, NOTHING_COUNTED, OPEN_IMPORTS_MAX } from '../import.ts';
import { findImport, listOpenImports } from '../reads.ts';
import type { ImportFile } from '../file-format.ts';
import { ImportHalt } from '../source.ts';
import { type ImportRef, insertImport, lockImport, updateKey } from '../store.ts';
import { keepPart } from '../parts.ts';
import { moveImport, noSuchImport } from '../move-import.ts';
import { openFormat, problemsOfFile } from '../file-source.ts';
import { sampleFile } from '../file-sample.ts';
import { isStripeKey } from '../stripe-api/open-stripe.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { clearImport } from './clear-imports.ts';
import { fileOf, encryptKey } from './open-source.ts';

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
type Deps = { db: Db; newId: NewId; encrypter: Encrypter };

export type FileImportInput = {
  kind: Exclude<ImportKind, 'stripe'>;
  name: string;
  sizeBytes: number;
  fileModifiedAt: number | null;
};
export type StripeImportInput = { kind: 'stripe'; key: string; unmatchedAsCustomers: boolean };
export type ImportInput = { projectId: number; createdBy: string } & (FileImportInput | StripeImportInput);

export async function createImport(deps: Deps, input: ImportInput): Promise<Import> {
  const { db, newId, encrypter } = deps;
  const { projectId, createdBy, kind } = input;
  const ref = { projectId, id: newId() };
  const of =
    input.kind === 'stripe'
      ? {
          name: 'Stripe',
          state: 'ready' as const,
          sizeBytes: null,
          fileModifiedAt: null,
          options: { unmatchedAsCustomers: input.unmatchedAsCustomers },
          encryptedKey: encryptKey(encrypter, ref, checkedKey(input.key)),
        }
      : { ...checkedFile(input), state: 'uploading' as const, options: null, encryptedKey: null };
  const open = await listOpenImports(db, projectId);
  if (open.length >= OPEN_IMPORTS_MAX)
    throw invalid(
      'import',
      `${OPEN_IMPORTS_MAX} imports of this project have not ended. Finish or cancel one`,
    );
  const createdAt = db.clock.now();
  await insertImport(db, { ...ref, kind, ...of, counts: NOTHING_COUNTED, createdAt, createdBy });
  return requireImport(db, ref);
}

function checkedFile({ name, sizeBytes, fileModifiedAt }: FileImportInput): Omit<FileImportInput, 'kind'> {
  const plain = name
    .trim()
    .replaceAll(/\p{Cc}/gu, '')
    .toWellFormed()
    .slice(0, NAME_MAX_CHARS);
  if (plain === '') throw invalid('name', 'Give the file a name');
  if (sizeBytes < 1) throw invalid('size_bytes', 'The file is empty');
  if (sizeBytes > FILE_MAX_BYTES) throw invalid('size_bytes', 'The file is larger than 2 GiB. Split it');
  return { name: plain, sizeBytes, fileModifiedAt };
}

function checkedKey(key: string): string {
  const bare = key.trim();
  if (isStripeKey(bare)) return bare;
  throw invalid('key', 'A Stripe key begins with rk_live_, rk_test_, sk_live_ or sk_test_');
}

export async function requireImport(db: Tx, ref: ImportRef): Promise<Import> {
  const job = isUuid(ref.id) ? await findImport(db, ref) : null;
  if (!job) throw noSuchImport();
  return job;
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Stores one part of a file. The last part makes the import ready. */
export async function putPart(
  db: Db,
  ref: ImportRef,
  input: { part: number; bytes: Buffer },
): Promise<Import> {
  await requireImport(db, ref);
  return db.transaction(async (tx) => {
    const job = await lockImport(tx, ref);
    if (!job) throw noSuchImport();
    // The client sent a part again because it did not receive the response.
    if (job.state === 'ready' && job.kind !== 'stripe') return job;
    const now = db.clock.now();
    if (job.state !== 'uploading') return moveImport(tx, { ref, move: 'upload', now });
    const isWhole = await keepPart(tx, job, input);
    return moveImport(tx, { ref, move: isWhole ? 'complete' : 'upload', now });
  });
}

/** Reads the first rows of the file under a mapping, saved or not. */
export async function sampleImport(
  db: Db,
  ref: ImportRef,
  mapping: ImportMapping | undefined,
): Promise<ImportSample> {
  const job = await requireImport(db, ref);
  const file = fileOf(db, requireFile(job));
  const read = file.kind === 'users' ? readUser : readEvent;
  const now = db.clock.now();
  const faultsOf = (record: object): FieldFault[] => {
    const text = read(record, { now, checkStrings: true });
    return typeof text === 'string' ? [] : text;
  };
  return unhalted(() => sampleFile({ ...file, mapping: mapping ?? file.mapping }, faultsOf));
}

function requireFile(job: Import): Import & { kind: ImportFile['kind'] } {
  const { kind } = job;
  if (kind !== 'stripe') return { ...job, kind };
  throw invalid('import', 'This import has no file, because it reads from Stripe');
}

/** Reports a problem of the file as a validation error, because the member made the mistake and not the server. */
async function unhalted<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ImportHalt) throw invalid('file', error.message);
    throw error;
  }
}

export async function mapImport(db: Db, ref: ImportRef, mapping: ImportMapping): Promise<Import> {
  requireFile(await requireImport(db, ref));
  return transition(db, ref, { move: 'map', change: () => ({ mapping, check: null }) });
}

/** Requests a check. The import worker runs it. */
export async function requestCheck(db: Db, ref: ImportRef): Promise<Import> {
  const job = await requireImport(db, ref);
  if (job.kind !== 'stripe' && job.state !== 'uploading') {
    const file = fileOf(db, requireFile(job));
    await unhalted(async () => {
      const [problem] = problemsOfFile(file, await openFormat(file));
      if (problem) throw invalid(problem.field, problem.message);
    });
  }
  return transition(db, ref, { move: 'check', change: () => ({ check: null, ...RESET_PROGRESS }) });
}

const RESET_PROGRESS = { position: null, counts: NOTHING_COUNTED, facts: {}, findings: 0 };

/** `liveEvents`: the number of events to send as live, which must match the check. Null: no event is live, and no rule fires. */
export async function startImport(
  db: Db,
  ref: ImportRef,
  { liveEvents }: { liveEvents: number | null },
): Promise<Import> {
  await requireImport(db, ref);
  return transition(db, ref, {
    move: 'start',
    change(job) {
      if (liveEvents !== null) requireTyped(job, liveEvents);
      return { isLive: liveEvents !== null, startedAt: db.clock.now(), ...RESET_PROGRESS };
    },
  });
}

function requireTyped({ kind, check }: Import, liveEvents: number): void {
  if (kind !== 'events')
    throw invalid('live_events', 'Only the events of a file can be imported as live events');
  if (check?.events === liveEvents) return;
  const counted = (check?.events ?? 0).toLocaleString('en-GB');
  throw invalid('live_events', `Enter the number of events that the check counted: ${counted}`);
}

export async function pauseImport(db: Db, ref: ImportRef): Promise<Import> {
  await requireImport(db, ref);
  return transition(db, ref, { move: 'pause' });
}

export async function resumeImport(db: Db, ref: ImportRef): Promise<Import> {
  await requireImport(db, ref);
  return transition(db, ref, { move: 'resume' });
}

export async function cancelImport(db: Db, ref: ImportRef): Promise<Import> {
  await requireImport(db, ref);
  const canceled = await transition(db, ref, { move: 'cancel' });
  await clearImport(db, ref);
  return canceled;
}

/** Replaces a key that was rejected or revoked. */
export async function replaceKey(
  { db, encrypter }: Pick<Deps, 'db' | 'encrypter'>,
  ref: ImportRef,
  key: string,
): Promise<Import> {
  const job = await requireImport(db, ref);
  if (job.kind !== 'stripe') throw invalid('key', 'This import reads a file and does not need a key');
  const encrypted = encryptKey(encrypter, ref, checkedKey(key));
  return db.transaction(async (tx) => {
    const change = (job: Import): Partial<Import> => (job.state === 'checked' ? { check: null } : {});
    const rekeyed = await moveImport(tx, { ref, move: 'rekey', now: db.clock.now(), change });
    await updateKey(tx, ref, encrypted);
    return rekeyed;
  });
}

function transition(
  db: Db,
  ref: ImportRef,
  options: Pick<Parameters<typeof moveImport>[1], 'move' | 'change'>,
): Promise<Import> {
  return db.transaction((tx) => moveImport(tx, { ref, now: db.clock.now(), ...options }));
}

function invalid(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ field, message }] });
}
