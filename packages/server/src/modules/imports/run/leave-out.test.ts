import { beforeEach, expect, test } from 'vitest';
import { testHasher, testMail } from '../../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import {
  chunkSource,
  importDeps,
  newStripeImport,
  uploadFile,
  workThrough,
} from '../../../../testing/factories/imports.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import type { Import } from '../import.ts';
import type { ImportRef } from '../store.ts';
import { listFindings } from '../reads.ts';
import { createProject } from '../../administration/create-project.ts';
import { createProcessor } from '../../processing/process.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { requestCheck, createImport, requireImport, putPart, startImport } from './manage-imports.ts';
import { claimImport, workOn } from './work-on.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const processor = createProcessor({ db, log: silentLog, newId, hasher: testHasher });
const deps = importDeps(db);
const on = new AbortController().signal;

let projectId = 0;
/** The id differs in every test, so that a search finds no data of another test. */
let zoe = '';
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  zoe = `zoe${projectId}`;
  await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: zoe }] });
  await processAll();
});

async function processAll(): Promise<void> {
  for (const priority of ['live', 'bulk'] as const)
    while ((await processor.batch(priority, [projectId])).records > 0);
}

const erase = () => erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: zoe });

async function found(job: ImportRef): Promise<[line: number | null, raw: string][]> {
  const rows = await listFindings(db, { ...job, kind: null, after: 0, offset: 0, limit: 100 });
  return rows.map(({ row, raw }) => [row, raw]);
}

/** Valid and invalid rows of the user, with and without her id, and one row of another user. */
const file = () => `id,email\n${zoe},no address\n${zoe},z@x.org\n,${zoe}\n${zoe},a,b\nu1,neither\n`;

const U1 = '{"external_user_id":"u1","email":"neither"}';

/** A source that yields rows of the user and then erases her, before the worker has written them. */
function eraseDuringRead(): ReturnType<typeof chunkSource> {
  const raw = `${zoe},Private`;
  const rejected = [` ${zoe} `, 'u1', null].map((userId, row) => ({
    row,
    field: null,
    message: '',
    raw,
    userId,
  }));
  const invalid = { external_user_id: zoe, email: 'no address' };
  const notes = [{ kind: 'trial_without_reminder', subject: zoe, text: 'It ends' }];
  return chunkSource([{ rows: 4, users: [invalid], rejected, notes }], async () => void (await erase()));
}

test('does not store rejected rows of a user who is erased while a check holds them', async () => {
  const job = await newStripeImport(db, projectId);
  await requestCheck(db, job);
  await workThrough(importDeps(db, eraseDuringRead()));
  expect((await requireImport(db, job)).state).toBe('checked');
  expect(await found(job)).toEqual([
    [1, `${zoe},Private`],
    [2, ''],
  ]);
});

test('does not store rows of a user who is erased while a run holds them, and counts them as erased', async () => {
  const job = await newStripeImport(db, projectId);
  await requestCheck(db, job);
  await workThrough(deps);
  await startImport(db, job, { liveEvents: null });
  await workThrough(importDeps(db, eraseDuringRead()));
  const { state, counts, findings } = await requireImport(db, job);
  expect({ state, counts, findings }).toMatchObject({
    state: 'done',
    counts: { rows: 4, rejected: 2, erased: 2 },
    findings: 2,
  });
  expect((await found(job)).map(([line]) => line)).toEqual([1, 2]);
});

test('leaves nothing of a user who is erased while the rows of a file wait for the ingest queue', async () => {
  const job = await uploadFile(db, { projectId, kind: 'users', text: file() });
  await requestCheck(db, job);
  await workThrough(deps);
  await startImport(db, job, { liveEvents: null });
  const setWaiting = (more: number) =>
    db.query('UPDATE beckon.ingest_queue_state SET waiting = waiting + $2 WHERE project_id = $1', [
      projectId,
      more,
    ]);
  await setWaiting(50_000);
  const claimed = await claimImport(deps);
  if (!claimed) throw new Error('nothing to claim');
  const work = workOn(deps, claimed, on);
  await expect.poll(async () => (await requireImport(db, job)).waitsFor).toBe('queue');
  await erase();
  await setWaiting(-50_000);
  await work;
  await processAll();
  expect(await requireImport(db, job)).toMatchObject({ state: 'done', counts: { rejected: 3, erased: 2 } });
  expect(await found(job)).toEqual([
    [4, ''],
    [5, ''],
    [6, U1],
  ]);
  expect(await findText(db, [zoe])).toEqual([]);
});

test('imports no row of a user who is erased before the parts of the file arrive, valid or not', async () => {
  const bytes = Buffer.from(file());
  const input = { kind: 'users', name: 'a.csv', sizeBytes: bytes.length, fileModifiedAt: null } as const;
  const made = { db, newId, encrypter: testMail().encrypter };
  const job: Import = await createImport(made, { projectId, createdBy: 'operator', ...input });
  await erase();
  await putPart(db, job, { part: 0, bytes });
  const left = [
    [4, ''],
    [5, ''],
    [6, U1],
  ];
  await requestCheck(db, job);
  await workThrough(deps);
  expect(await found(job)).toEqual(left);
  await startImport(db, job, { liveEvents: null });
  await workThrough(deps);
  await processAll();
  expect(await requireImport(db, job)).toMatchObject({ state: 'done', counts: { rejected: 3, erased: 2 } });
  expect(await found(job)).toEqual(left);
  expect(await findText(db, [zoe])).toEqual([]);
});
