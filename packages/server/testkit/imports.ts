import { idMaker } from '../src/platform/ids.ts';
import { silentLog } from '../src/platform/log.ts';
import { type Import, PART_BYTES } from '../src/modules/imports/import.ts';
import type { ImportChunk, ImportSource, SourcePosition } from '../src/modules/imports/source.ts';
import {
  askCheck,
  createImport,
  foundImport,
  putPart,
  startImport,
} from '../src/modules/imports/run/manage-imports.ts';
import { claimImport, workOn } from '../src/modules/imports/run/work-on.ts';
import type { ImportDeps } from '../src/modules/imports/run/deps.ts';
import type { Database } from '../src/platform/db/database.ts';
import { testMail } from './mailroom.ts';

type Uploaded = { projectId: number; kind: 'users' | 'events'; text: string | Buffer; name?: string };

/** Returns the dependencies of imports without a worker. `source` replaces Stripe. */
export function importDeps(db: Database, source?: ImportSource): ImportDeps {
  return {
    db,
    log: silentLog,
    sealer: testMail().sealer,
    openStripe: () => source ?? chunkSource([]),
    pauseMs: 1,
    accepted: () => {},
  };
}

/** Uploads a file as the dashboard does. It is ready afterwards. */
export async function uploadFile(
  db: Database,
  { projectId, kind, text, name = 'a.csv' }: Uploaded,
): Promise<Import> {
  const bytes = Buffer.from(text);
  const deps = { db, newId: idMaker(db.clock), sealer: testMail().sealer };
  const file = { kind, name, sizeBytes: bytes.length, fileModifiedAt: null };
  let one = await createImport(deps, { projectId, createdBy: 'operator', ...file });
  for (let part = 0; part * PART_BYTES < bytes.length; part += 1)
    one = await putPart(db, one, { part, bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES) });
  return one;
}

export function newStripeImport(db: Database, projectId: number): Promise<Import> {
  const deps = { db, newId: idMaker(db.clock), sealer: testMail().sealer };
  const wanted = { kind: 'stripe', key: 'rk_test_aaaaaaaaaaaa', unmatchedAsCustomers: false } as const;
  return createImport(deps, { projectId, createdBy: 'operator', ...wanted });
}

/** Works until no import has work left. */
export async function workThrough(deps: ImportDeps, signal = new AbortController().signal): Promise<void> {
  for (let one = await claimImport(deps); one; one = await claimImport(deps)) await workOn(deps, one, signal);
}

/** Checks an import, starts it, and works until it ends. */
export async function importThrough(
  deps: ImportDeps & { db: Database },
  one: Import,
  liveEvents: number | null = null,
): Promise<Import> {
  const { db } = deps;
  await askCheck(db, one);
  await workThrough(deps);
  await startImport(db, one, { liveEvents });
  await workThrough(deps);
  return foundImport(db, one);
}

/** Returns a source of these chunks. Its cursors count them. */
export function chunkSource(
  chunks: Partial<ImportChunk>[],
  before: (n: number) => void | Promise<void> = () => {},
): ImportSource {
  return {
    async *read(after: SourcePosition | null, signal) {
      for (let n = Number(after?.['n'] ?? 0); n < chunks.length; n += 1) {
        signal.throwIfAborted();
        await before(n);
        yield { users: [], events: [], rejected: [], rows: 1, ...chunks[n], place: { n: n + 1 } };
      }
    },
  };
}
