import type { ImportKind, ImportMapping, ImportSample } from '@beckon/contract/dashboard';
import { Fault, type FieldFault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import { readEvent, readUser } from '../../../platform/records/record.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
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
import { fileOf, sealKey } from './open-source.ts';

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
type Deps = { db: Db; newId: NewId; sealer: Sealer };

export type FileWanted = {
  kind: Exclude<ImportKind, 'stripe'>;
  name: string;
  sizeBytes: number;
  fileModifiedAt: number | null;
};
export type StripeWanted = { kind: 'stripe'; key: string; unmatchedAsCustomers: boolean };
export type ImportWanted = { projectId: number; createdBy: string } & (FileWanted | StripeWanted);

export async function createImport(deps: Deps, wanted: ImportWanted): Promise<Import> {
  const { db, newId, sealer } = deps;
  const { projectId, createdBy, kind } = wanted;
  const ref = { projectId, id: newId() };
  const of =
    wanted.kind === 'stripe'
      ? {
          name: 'Stripe',
          state: 'ready' as const,
          sizeBytes: null,
          fileModifiedAt: null,
          options: { unmatchedAsCustomers: wanted.unmatchedAsCustomers },
          sealedKey: sealKey(sealer, ref, checkedKey(wanted.key)),
        }
      : { ...checkedFile(wanted), state: 'uploading' as const, options: null, sealedKey: null };
  const open = await listOpenImports(db, projectId);
  if (open.length >= OPEN_IMPORTS_MAX)
    throw invalid(
      'import',
      `${OPEN_IMPORTS_MAX} imports of this project have not ended. Finish or cancel one`,
    );
  const createdAt = db.clock.now();
  await insertImport(db, { ...ref, kind, ...of, counts: NOTHING_COUNTED, createdAt, createdBy });
  return foundImport(db, ref);
}

function checkedFile({ name, sizeBytes, fileModifiedAt }: FileWanted): Omit<FileWanted, 'kind'> {
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

export async function foundImport(db: Tx, ref: ImportRef): Promise<Import> {
  const one = isUuid(ref.id) ? await findImport(db, ref) : null;
  if (!one) throw noSuchImport();
  return one;
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Stores one part of a file. The last part makes the import ready. */
export async function putPart(
  db: Db,
  ref: ImportRef,
  given: { part: number; bytes: Buffer },
): Promise<Import> {
  await foundImport(db, ref);
  return db.transaction(async (tx) => {
    const one = await lockImport(tx, ref);
    if (!one) throw noSuchImport();
    // The client sent a part again because it did not receive the response.
    if (one.state === 'ready' && one.kind !== 'stripe') return one;
    const now = db.clock.now();
    if (one.state !== 'uploading') return moveImport(tx, { ref, move: 'upload', now });
    const isWhole = await keepPart(tx, one, given);
    return moveImport(tx, { ref, move: isWhole ? 'complete' : 'upload', now });
  });
}

/** Reads the first rows of the file under a mapping, saved or not. */
export async function sampleImport(
  db: Db,
  ref: ImportRef,
  mapping: ImportMapping | undefined,
): Promise<ImportSample> {
  const one = await foundImport(db, ref);
  const file = fileOf(db, ofFile(one));
  const read = file.kind === 'users' ? readUser : readEvent;
  const now = db.clock.now();
  const faultsOf = (record: object): FieldFault[] => {
    const text = read(record, { now, checkStrings: true });
    return typeof text === 'string' ? [] : text;
  };
  return unhalted(() => sampleFile({ ...file, mapping: mapping ?? file.mapping }, faultsOf));
}

function ofFile(one: Import): Import & { kind: ImportFile['kind'] } {
  const { kind } = one;
  if (kind !== 'stripe') return { ...one, kind };
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
  ofFile(await foundImport(db, ref));
  return moved(db, ref, { move: 'map', change: () => ({ mapping, check: null }) });
}

/** Requests a check. The import worker runs it. */
export async function askCheck(db: Db, ref: ImportRef): Promise<Import> {
  const one = await foundImport(db, ref);
  if (one.kind !== 'stripe' && one.state !== 'uploading') {
    const file = fileOf(db, ofFile(one));
    await unhalted(async () => {
      const [problem] = problemsOfFile(file, await openFormat(file));
      if (problem) throw invalid(problem.field, problem.message);
    });
  }
  return moved(db, ref, { move: 'check', change: () => ({ check: null, ...AFRESH }) });
}

const AFRESH = { place: null, counts: NOTHING_COUNTED, facts: {}, findings: 0 };

/** `liveEvents`: the number of events to send as live, which must match the check. Null: no event is live, and no rule fires. */
export async function startImport(
  db: Db,
  ref: ImportRef,
  { liveEvents }: { liveEvents: number | null },
): Promise<Import> {
  await foundImport(db, ref);
  return moved(db, ref, {
    move: 'start',
    change(one) {
      if (liveEvents !== null) requireTyped(one, liveEvents);
      return { isLive: liveEvents !== null, startedAt: db.clock.now(), ...AFRESH };
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
  await foundImport(db, ref);
  return moved(db, ref, { move: 'pause' });
}

export async function resumeImport(db: Db, ref: ImportRef): Promise<Import> {
  await foundImport(db, ref);
  return moved(db, ref, { move: 'resume' });
}

export async function cancelImport(db: Db, ref: ImportRef): Promise<Import> {
  await foundImport(db, ref);
  const canceled = await moved(db, ref, { move: 'cancel' });
  await clearImport(db, ref);
  return canceled;
}

/** Replaces a key that was rejected or revoked. */
export async function giveKey(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  ref: ImportRef,
  key: string,
): Promise<Import> {
  const one = await foundImport(db, ref);
  if (one.kind !== 'stripe') throw invalid('key', 'This import reads a file and does not need a key');
  const sealed = sealKey(sealer, ref, checkedKey(key));
  return db.transaction(async (tx) => {
    const change = (was: Import): Partial<Import> => (was.state === 'checked' ? { check: null } : {});
    const rekeyed = await moveImport(tx, { ref, move: 'rekey', now: db.clock.now(), change });
    await updateKey(tx, ref, sealed);
    return rekeyed;
  });
}

function moved(
  db: Db,
  ref: ImportRef,
  wanted: Pick<Parameters<typeof moveImport>[1], 'move' | 'change'>,
): Promise<Import> {
  return db.transaction((tx) => moveImport(tx, { ref, now: db.clock.now(), ...wanted }));
}

function invalid(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ field, message }] });
}
