import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import { type Import, PART_BYTES } from '../../src/modules/imports/import.ts';
import type { ImportChunk, ImportSource, SourcePosition } from '../../src/modules/imports/source.ts';
import {
  requestCheck,
  createImport,
  requireImport,
  putPart,
  startImport,
} from '../../src/modules/imports/run/manage-imports.ts';
import { claimImport, workOn } from '../../src/modules/imports/run/work-on.ts';
import type { ImportDeps } from '../../src/modules/imports/run/deps.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { testMail } from './send-services.ts';

type Uploaded = { projectId: number; kind: 'users' | 'events'; text: string | Buffer; name?: string };

/** Returns the dependencies of imports without a worker. `source` replaces Stripe. */
export function importDeps(db: Database, source?: ImportSource): ImportDeps {
  return {
    db,
    log: silentLog,
    encrypter: testMail().encrypter,
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
  const deps = { db, newId: idMaker(db.clock), encrypter: testMail().encrypter };
  const file = { kind, name, sizeBytes: bytes.length, fileModifiedAt: null };
  let job = await createImport(deps, { projectId, createdBy: 'operator', ...file });
  for (let part = 0; part * PART_BYTES < bytes.length; part += 1)
    job = await putPart(db, job, { part, bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES) });
  return job;
}

export function newStripeImport(db: Database, projectId: number): Promise<Import> {
  const deps = { db, newId: idMaker(db.clock), encrypter: testMail().encrypter };
  const source = { kind: 'stripe', key: 'rk_test_aaaaaaaaaaaa', unmatchedAsCustomers: false } as const;
  return createImport(deps, { projectId, createdBy: 'operator', ...source });
}

/** Works until no import has work left. */
export async function workThrough(deps: ImportDeps, signal = new AbortController().signal): Promise<void> {
  for (let job = await claimImport(deps); job; job = await claimImport(deps)) await workOn(deps, job, signal);
}

/** Checks an import, starts it, and works until it ends. */
export async function importThrough(
  deps: ImportDeps & { db: Database },
  job: Import,
  liveEvents: number | null = null,
): Promise<Import> {
  const { db } = deps;
  await requestCheck(db, job);
  await workThrough(deps);
  await startImport(db, job, { liveEvents });
  await workThrough(deps);
  return requireImport(db, job);
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
        yield { users: [], events: [], rejected: [], rows: 1, ...chunks[n], position: { n: n + 1 } };
      }
    },
  };
}
