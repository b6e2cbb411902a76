import { beforeEach, expect, test } from 'vitest';
import { jobRun } from '../../../../testing/factories/job-run.ts';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import {
  chunkSource,
  importDeps,
  importThrough,
  newStripeImport,
  uploadFile,
  workThrough,
} from '../../../../testing/factories/imports.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import type { Import } from '../import.ts';
import { ImportHalt } from '../source.ts';
import { listFindings } from '../reads.ts';
import { createProject } from '../../administration/create-project.ts';
import { createProcessor } from '../../processing/process.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { suspendProject } from '../../administration/suspend-project.ts';
import {
  requestCheck,
  cancelImport,
  requireImport,
  mapImport,
  pauseImport,
  resumeImport,
  startImport,
} from './manage-imports.ts';
import { claimImport, workOn } from './work-on.ts';
import { forgetImports } from './clear-imports.ts';
import type { ImportDeps } from './deps.ts';
import { showImport } from './show-import.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
const deps = { ...importDeps(db), db };
const on = new AbortController().signal;

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

async function processAll(of = projectId): Promise<void> {
  for (const priority of ['live', 'bulk'] as const)
    while ((await processor.batch(priority, [of])).records > 0);
}

type ProjectData = { people: object[]; events: object[]; drafts: number };

async function projectData(of = projectId): Promise<ProjectData> {
  await processAll(of);
  const people = await db.query(
    `SELECT p.external_user_id, p.traits, p.plan, e.email FROM beckon.person p LEFT JOIN beckon.person_email e
     ON e.project_id = p.project_id AND e.external_user_id = p.external_user_id WHERE p.project_id = $1 ORDER BY 1`,
    [of],
  );
  const events = await db.query(
    `SELECT external_user_id, name, properties, occurred_at, suppressed FROM beckon.event WHERE project_id = $1 ORDER BY 1, 2, 4`,
    [of],
  );
  const [drafts] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.draft WHERE project_id = $1`,
    [of],
  );
  return { people, events, drafts: drafts?.count ?? 0 };
}

const usersCsv = (from: number, to: number): string =>
  `id,email,plan\n${Array.from({ length: to - from }, (_, i) => `u${from + i},u${from + i}@x.org,pro`).join('\n')}`;
const trialsCsv = (count: number): string =>
  `user_id,event,trialDays,time\n${Array.from({ length: count }, (_, i) => `u${i},trial_started,14,2026-01-1${i % 5}`).join('\n')}`;

const now = (job: Import): Promise<Import> => requireImport(db, job);

test('counts the rows in a check and accepts nothing', async () => {
  const job = await uploadFile(db, {
    projectId,
    kind: 'events',
    text: `${trialsCsv(1_500)}\n,trial_started,1,\nx,trial_started,a,2026-01-01`,
  });
  await requestCheck(db, job);
  await workThrough(deps);
  const { state, check } = await now(job);
  expect(state).toBe('checked');
  expect(check).toMatchObject({
    rows: 1_502,
    events: 1_500,
    rejected: 2,
    rejected_by: [
      { field: 'external_user_id', rows: 1 },
      { field: 'properties.trialDays', rows: 1 },
    ],
    affected_users: { new: { count: 1_500 }, known: { count: 0 } },
    names: [
      { name: 'trial_started', events: 1_500, is_canonical: true, first_at: '2026-01-10T00:00:00.000Z' },
    ],
    emails: 0,
  });
  expect(check?.rules.some(({ users: people }) => people.count === 1_500)).toBe(true);
  expect(await projectData()).toEqual({ people: [], events: [], drafts: 0 });
  const findings = await listFindings(db, { ...job, kind: null, after: 0, offset: 0, limit: 10 });
  expect(findings.map(({ row }) => row)).toEqual([1_502, 1_503]);
});

test('imports users and events without drafting emails, and finds nothing new when repeated', async () => {
  await importThrough(deps, await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 1_200) }));
  await processAll();
  const events = { projectId, kind: 'events', text: trialsCsv(1_200) } as const;
  const first = await importThrough(deps, await uploadFile(db, events));
  expect(first).toMatchObject({ state: 'done', counts: { events: 1_200, eventsNew: 1_200, eventsKnown: 0 } });
  const before = await projectData();
  expect([before.people.length, before.events.length, before.drafts]).toEqual([1_200, 1_200, 0]);
  expect(before.people[3]).toMatchObject({ email: expect.stringContaining('@x.org'), plan: 'pro' });

  const again = await importThrough(deps, await uploadFile(db, events));
  expect(again.counts).toMatchObject({ events: 1_200, eventsNew: 0, eventsKnown: 1_200 });
  const users = await importThrough(
    deps,
    await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 1_201) }),
  );
  expect(users.counts).toMatchObject({ users: 1_201, usersNew: 1, usersChanged: 0, usersSame: 1_200 });
  const after = await projectData();
  expect(after.events).toEqual(before.events);
  const [parts] = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM beckon.import_part WHERE project_id = $1',
    [projectId],
  );
  expect(parts?.count).toBe(0);
});

test('imports events as live only when the typed count matches the check', async () => {
  const text = trialsCsv(3).replaceAll(/2026-01-1\d/g, '2026-01-15T11:00:00Z');
  const job = await uploadFile(db, { projectId, kind: 'events', text });
  await importThrough(deps, await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 3) }));
  await expect(importThrough(deps, job, 4)).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: Enter the number of events that the check counted: 3]`,
  );
  await startImport(db, job, { liveEvents: 3 });
  await workThrough(deps);
  await processAll();
  const suppressed = (await projectData()).events.map(
    (event) => (event as { suppressed: boolean }).suppressed,
  );
  expect(suppressed).toEqual([false, false, false]);
});

test('ends like a clean run although the worker is stopped and the source fails on the way', async () => {
  const chunks = Array.from({ length: 12 }, (_, n) => ({
    users: [{ external_user_id: `u${n}`, traits: { n } }],
    events: [{ external_user_id: `u${n}`, name: 'opened', message_id: `m${n}` }],
    rejected: n % 4 === 0 ? [{ row: n, field: null, message: 'no', raw: `${n}`, userId: null }] : [],
    facts: { customers: 1 },
  }));
  const clean = (await createProject(db, { name: 'Clean' })).id;
  await importThrough({ ...importDeps(db, chunkSource(chunks)), db }, await newStripeImport(db, clean));

  const job = await newStripeImport(db, projectId);
  let failures = 0;
  const stops = new Set([2, 5, 8, 11]);
  let stop = new AbortController();
  const source = chunkSource(chunks, (n) => {
    failures += 1;
    if (failures % 5 === 0) throw new Error('the line is down');
    if (n % 3 === 2 && stops.delete(n)) stop.abort();
  });
  const broken: ImportDeps = importDeps(db, source);
  await requestCheck(db, job);
  await workThrough(importDeps(db, chunkSource(chunks)));
  await startImport(db, job, { liveEvents: null });
  for (let rounds = 0; (await now(job)).state === 'running' && rounds < 20; rounds += 1) {
    const claimed = await claimImport(broken);
    if (claimed) await workOn(broken, claimed, (stop = new AbortController()).signal);
  }
  const finished = await now(job);
  expect(finished).toMatchObject({
    state: 'done',
    facts: { customers: 12 },
    findings: 3,
    counts: { rejected: 3, users: 12, rows: 12 },
  });
  expect(await projectData()).toEqual(await projectData(clean));
});

test('does not import a chunk twice when the answer to its commit is lost', async () => {
  const chunks = Array.from({ length: 4 }, (_, n) => ({ users: [{ external_user_id: `u${n}` }] }));
  const job = await newStripeImport(db, projectId);
  let commits = 0;
  const failpoint: ImportDeps['db']['failpoint'] = (point) => {
    if (point === 'import_committed' && (commits += 1) === 2) throw new Error('the connection is gone');
  };
  const finished = await importThrough(
    { ...importDeps(db, chunkSource(chunks)), db: { ...db, failpoint } },
    job,
  );
  expect(finished).toMatchObject({ state: 'done', counts: { users: 4, rows: 4 } });
  expect(commits).toBe(4);
  const [priority] = await db.query('SELECT next_seq FROM beckon.ingest_queue_state WHERE project_id = $1', [
    projectId,
  ]);
  expect(priority).toEqual({ next_seq: 5 });
});

test('imports each chunk once when two workers both believe that they hold the lease', async () => {
  const chunks = Array.from({ length: 6 }, (_, n) => ({ users: [{ external_user_id: `u${n}` }] }));
  const job = await newStripeImport(db, projectId);
  await requestCheck(db, job);
  await workThrough(importDeps(db, chunkSource(chunks)));
  await startImport(db, job, { liveEvents: null });
  const first = await claimImport(deps);
  if (!first) throw new Error('nothing to claim');
  expect(await claimImport(deps)).toBeNull();
  // The first worker hangs in the middle for longer than its lease, and another takes over.
  const hanging = chunkSource(chunks, async (n) => {
    if (n !== 3) return;
    clock.advance(60_000);
    const second = await claimImport(deps);
    if (!second) throw new Error('the lease has not run out');
    await workOn(importDeps(db, chunkSource(chunks)), second, on);
  });
  await workOn(importDeps(db, hanging), first, on);
  expect(await now(job)).toMatchObject({ state: 'done', counts: { users: 6, usersNew: 6 } });
  expect((await projectData()).people).toHaveLength(6);
  const [priority] = await db.query('SELECT next_seq FROM beckon.ingest_queue_state WHERE project_id = $1', [
    projectId,
  ]);
  expect(priority).toEqual({ next_seq: 7 });
});

test('waits while the ingest queue is full, and reports it', async () => {
  const job = await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 10) });
  await requestCheck(db, job);
  await workThrough(deps);
  await startImport(db, job, { liveEvents: null });
  await db.query('UPDATE beckon.ingest_queue_state SET waiting = waiting + 50000 WHERE project_id = $1', [
    projectId,
  ]);
  const claimed = await claimImport(deps);
  if (!claimed) throw new Error('nothing to claim');
  const work = workOn(deps, claimed, on);
  const waitsFor = async () => (await showImport(db, await now(job), () => null)).progress.waits_for;
  await expect.poll(waitsFor).toBe('queue');
  expect((await now(job)).counts.users).toBe(0);
  await db.query('UPDATE beckon.ingest_queue_state SET waiting = waiting - 50000 WHERE project_id = $1', [
    projectId,
  ]);
  await work;
  expect(await now(job)).toMatchObject({ state: 'done', counts: { users: 10 }, waitsFor: null });
});

test('continues a paused import where it stopped, and deletes the file of a canceled one', async () => {
  const chunks = Array.from({ length: 4 }, (_, n) => ({ users: [{ external_user_id: `u${n}` }] }));
  const job = await newStripeImport(db, projectId);
  await requestCheck(db, job);
  await workThrough(importDeps(db, chunkSource(chunks)));
  await startImport(db, job, { liveEvents: null });
  const pausing = chunkSource(chunks, async (n) => {
    if (n === 2) await pauseImport(db, job);
  });
  await workThrough(importDeps(db, pausing));
  expect(await now(job)).toMatchObject({ state: 'paused', counts: { users: 2 } });
  await expect(startImport(db, job, { liveEvents: null })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: The import cannot be started before it is checked. Its state is paused]`,
  );
  await resumeImport(db, job);
  await workThrough(importDeps(db, chunkSource(chunks)));
  expect(await now(job)).toMatchObject({ state: 'done', counts: { users: 4 } });
  await expect(cancelImport(db, job)).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: The import has ended. Its state is done]`,
  );

  const file = await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 3) });
  expect((await cancelImport(db, file)).state).toBe('canceled');
  const [key] = await db.query('SELECT 1 FROM beckon.import WHERE encrypted_key IS NOT NULL AND id = $1', [
    job.id,
  ]);
  const [part] = await db.query('SELECT 1 FROM beckon.import_part WHERE import_id = $1', [file.id]);
  expect([key, part]).toEqual([undefined, undefined]);
});

test('stops with the problem when the source needs a member, and fails when the file cannot be read', async () => {
  const job = await newStripeImport(db, projectId);
  const halting = chunkSource([{}], () => {
    throw new ImportHalt('permission_missing', 'The key may not read invoices');
  });
  await requestCheck(db, job);
  await workThrough(importDeps(db, halting));
  expect(await now(job)).toMatchObject({ state: 'ready', problem: 'The key may not read invoices' });

  const file = await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 3) });
  await expect(mapImport(db, job, { columns: {} })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Fault: This import has no file, because it reads from Stripe]`,
  );
  await requestCheck(db, file);
  await db.query('DELETE FROM beckon.import_part WHERE import_id = $1', [file.id]);
  await workThrough(deps);
  const { state, problem } = await now(file);
  expect({ state, problem }).toMatchInlineSnapshot(`
    {
      "problem": "The file is no longer stored",
      "state": "failed",
    }
  `);
});

test('runs one import per project at a time, in the order of the requests, and none of a suspended project', async () => {
  const files = await Promise.all(
    [0, 1].map((n) => uploadFile(db, { projectId, kind: 'users', text: usersCsv(n, n + 1) })),
  );
  for (const file of files) {
    clock.advance(1_000);
    await requestCheck(db, file);
  }
  const [first, second] = files as [Import, Import];
  expect((await claimImport(deps))?.id).toBe(first.id);
  expect(await claimImport(deps)).toBeNull();
  expect((await showImport(db, await now(second), () => null)).progress.waits_for).toBe('another_import');
  await suspendProject(db, projectId);
  clock.advance(60_000);
  expect((await claimImport(deps))?.projectId).not.toBe(projectId);
});

test('leaves out a user who is erased during an import, wherever their rows are at that moment', async () => {
  const erase = (userId: string) =>
    erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId });
  const text = `${usersCsv(0, 4)}\n,u2@x.org,\n`.replaceAll('u2', 'zoe');
  await importThrough(deps, await uploadFile(db, { projectId, kind: 'users', text }));
  await processAll();
  const waiting = await uploadFile(db, { projectId, kind: 'users', text });
  // This import has read the rows of the user already and is about to accept them.
  const late = await newStripeImport(db, projectId);
  await requestCheck(db, late);
  const chunks = [{ users: [{ external_user_id: 'zoe' }, { external_user_id: 'u9' }] }];
  await workThrough(importDeps(db, chunkSource(chunks)));
  await startImport(db, late, { liveEvents: null });
  const erasing = chunkSource(chunks, async () => void (await erase('zoe')));
  await workThrough(importDeps(db, erasing));
  expect((await now(late)).counts).toMatchObject({ users: 1, erased: 1 });

  const after = await importThrough(deps, waiting);
  expect(after.counts).toMatchObject({ rows: 3, users: 3, usersSame: 3, rejected: 0 });
  const ids = (await projectData()).people.map(
    (person) => (person as { external_user_id: string }).external_user_id,
  );
  expect(ids).toEqual(['u0', 'u1', 'u3', 'u9']);
  expect(await findText(db, ['zoe@x.org'])).toEqual([]);
});

test('erases neither users whose id contains the erased id nor users who share the mailbox', async () => {
  const erase = (userId: string) =>
    erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId });
  const shared = 'id,email\nu1,team@x.org\nu10,u10@x.org\nu2,team@x.org\n';
  await importThrough(deps, await uploadFile(db, { projectId, kind: 'users', text: shared }));
  await processAll();
  const waiting = await uploadFile(db, { projectId, kind: 'users', text: shared });
  await erase('u1');
  const after = await importThrough(deps, waiting);
  expect(after.counts).toMatchObject({ rows: 2, users: 2, usersSame: 2 });

  await processAll();
  // No user in the file has the id `1` or `name`, although many ids and cells contain `1` and a column is called `name`.
  const text = 'id,name,seats\n21,x,1\n31,"1 Street\nSpringfield",11\n';
  await uploadFile(db, { projectId, kind: 'users', text });
  await expect(erase('1')).rejects.toMatchObject({ code: 'not_found' });
  await expect(erase('name')).rejects.toMatchObject({ code: 'not_found' });
});

test('blanks a row of several lines as a whole, so that its rest does not become a user', async () => {
  const text = 'id,name\nada,"1 Street\nSpringfield"\nbob,Bob\n';
  await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: 'ada' }] });
  await processAll();
  const waiting = await uploadFile(db, { projectId, kind: 'users', text });
  await erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId: 'ada' });
  expect((await importThrough(deps, waiting)).counts).toMatchObject({ rows: 1, users: 1, rejected: 0 });
  expect((await projectData()).people).toMatchObject([{ external_user_id: 'bob' }]);
});

test.each(['Élodie', 'Иван', 'İlk'])('leaves nothing of %s in the rejected rows', async (userId) => {
  const text = `id,email\n${userId},no address\nx${userId},neither\n`;
  await importThrough(deps, await uploadFile(db, { projectId, kind: 'users', text }));
  await erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId });
  const left = await db.query('SELECT line FROM beckon.import_finding WHERE project_id = $1', [projectId]);
  expect(left).toEqual([{ line: 3 }]);
});

test('deletes the file of an abandoned import and the findings of an ended one after 7 days', async () => {
  const left = await uploadFile(db, { projectId, kind: 'users', text: usersCsv(0, 3) });
  const finished = await importThrough(
    deps,
    await uploadFile(db, { projectId, kind: 'users', text: 'id\n\nx,y\n' }),
  );
  expect(finished).toMatchObject({ state: 'done', findings: 1 });
  await forgetImports({ db, log: silentLog }, jobRun());
  expect((await now(left)).state).toBe('ready');
  clock.advance(7 * 86_400_000 + 1);
  await forgetImports({ db, log: silentLog }, jobRun());
  expect(await now(left)).toMatchObject({ state: 'canceled', problem: expect.stringContaining('7 days') });
  for (const table of ['import_part', 'import_finding'])
    expect(await db.query(`SELECT 1 FROM beckon.${table} WHERE project_id = $1`, [projectId])).toEqual([]);
});

test('deletes the findings of other projects when those of one project cannot be deleted', async () => {
  const { id: behind } = await createProject(db, { name: 'Behind' });
  const findings = () => db.query('SELECT 1 FROM beckon.import_finding WHERE project_id = $1', [behind]);
  const ref = await uploadFile(db, { projectId: behind, kind: 'users', text: 'id\n\nx,y\n' });
  await importThrough(deps, ref);
  expect(await findings()).toHaveLength(1);
  clock.advance(7 * 86_400_000 + 1);
  const failing: typeof db = {
    ...db,
    query: (text, values) =>
      values?.[0] === projectId ? Promise.reject(new Error('too slow')) : db.query(text, values),
  };
  const warnings: object[] = [];
  const warn = (found: object): void => void warnings.push(found);
  const run = forgetImports({ db: failing, log: { ...silentLog, warn } }, jobRun());
  await expect(run).rejects.toThrow('failed for 1 of');
  expect(await findings()).toEqual([]);
  expect(warnings).toMatchObject([{ project_id: projectId, job: 'tested' }]);
});
