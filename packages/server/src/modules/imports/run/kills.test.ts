import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../../testing/factories/database.ts';
import { importDeps, importThrough, uploadFile, workThrough } from '../../../../testing/factories/imports.ts';
import { spawnImporter } from '../../../../testing/servers/import-worker.ts';
import { silentLog } from '../../../platform/log.ts';
import type { Import } from '../import.ts';
import { listFindings } from '../reads.ts';
import { openDatabase } from '../../../platform/db/database.ts';
import { createProject } from '../../administration/create-project.ts';
import { requestCheck, requireImport, startImport } from './manage-imports.ts';

const testDb = await testDatabase();
let aheadMs = 0;
const clock = { now: () => Date.now() + aheadMs };
const db = await openDatabase({ connection: testDb.connection, clock, log: silentLog });
afterAll(async () => {
  await db.close();
  await testDb.drop();
});

const ROWS = 30_000;
const KILLS = 2;
const LEASE_OVER_MS = 60_000;
const text = `id,plan\n${Array.from({ length: ROWS }, (_, i) => (i % 997 === 0 ? ',none' : `u${i},p${i % 7}`)).join('\n')}`;

/** Lists the entries of the ingest queue in the order of acceptance. All other data is derived from them. */
async function accepted(projectId: number): Promise<{ seq: number; records: number; body: Buffer }[]> {
  const rows = await db.query<{ seq: number; records: number; body: Buffer }>(
    'SELECT seq, records, body FROM beckon.ingest_queue WHERE project_id = $1 ORDER BY seq',
    [projectId],
  );
  return rows.map(({ seq, records, body }) => ({ seq, records, body }));
}

async function findingsOf(job: Import): Promise<(number | null)[]> {
  const page = { ...job, kind: null, after: 0, offset: 0, limit: 1_000 };
  return (await listFindings(db, page)).map(({ row }) => row);
}

test('imports the same as a clean run although the worker is killed again and again', async () => {
  const [clean, killed] = [
    await createProject(db, { name: 'Clean' }),
    await createProject(db, { name: 'Killed' }),
  ];
  const file = { kind: 'users', text } as const;
  const whole = await importThrough(
    { ...importDeps(db), db },
    await uploadFile(db, { projectId: clean.id, ...file }),
  );
  expect(whole.counts).toMatchObject({ rows: ROWS, rejected: 31 });

  const job = await uploadFile(db, { projectId: killed.id, ...file });
  await requestCheck(db, job);
  await workThrough(importDeps(db));
  await startImport(db, job, { liveEvents: null });
  let killedMidway = 0;
  for (let n = 1; n <= KILLS; n += 1) {
    const before = (await requireImport(db, job)).counts.rows;
    aheadMs += LEASE_OVER_MS;
    const worker = await spawnImporter(testDb.url, aheadMs);
    try {
      await expect
        .poll(async () => (await requireImport(db, job)).counts.rows, { interval: 5, timeout: 20_000 })
        .toBeGreaterThan(before);
    } finally {
      await worker.kill();
    }
    const { state, counts } = await requireImport(db, job);
    if (state === 'running' && counts.rows < ROWS) killedMidway += 1;
  }
  expect(killedMidway).toBeGreaterThan(0);
  aheadMs += LEASE_OVER_MS;
  await workThrough(importDeps(db));
  const finished = await requireImport(db, job);
  expect(finished).toMatchObject({ state: 'done', counts: whole.counts, findings: whole.findings });
  expect(await findingsOf(job)).toEqual(await findingsOf(whole));
  expect(await accepted(killed.id)).toEqual(await accepted(clean.id));
}, 120_000);
