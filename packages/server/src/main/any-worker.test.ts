import { afterAll, expect, onTestFinished, test } from 'vitest';
import { testHasher, testMail } from '../../testing/factories/send-services.ts';
import { fixedClock } from '../../testing/factories/clock.ts';
import { testDatabase } from '../../testing/factories/database.ts';
import { putRecords } from '../../testing/factories/ingest-queue.ts';
import { jobRun } from '../../testing/factories/job-run.ts';
import { idMaker } from '../platform/ids.ts';
import { silentLog } from '../platform/log.ts';
import { createProject } from '../modules/administration/create-project.ts';
import { createProcessor } from '../modules/processing/process.ts';
import { type Database, openDatabase } from '../platform/db/database.ts';
import type { Job } from '../platform/jobs/scheduler.ts';
import { jobTable } from './jobs.ts';

const DAY_MS = 24 * 3_600_000;
const clock = fixedClock();
const testDb = await testDatabase();
const open = (): Promise<Database> => openDatabase({ connection: testDb.connection, clock, log: silentLog });
const [firstDb, secondDb, watching] = [await open(), await open(), await open()];
afterAll(async () => {
  await Promise.all([firstDb, secondDb, watching].map((db) => db.close()));
  await testDb.drop();
});

const mail = testMail();
const outbound = mail.openOutbound();
afterAll(() => outbound.close());

const jobsOf = (db: Database): Job[] =>
  jobTable(
    {
      ...mail,
      log: silentLog,
      mailFrom: null,
      teamSecrets: ['a secret of this test alone'],
      listen: { publicUrl: 'http://localhost:8080' },
    },
    {
      db,
      outbound,
      relay: null,
      teamTransport: { submit: () => Promise.resolve() },
      readMail: () => Promise.resolve(null),
    },
  );

/** Creates a project in which each scheduled job finds old rows. */
async function fill(): Promise<void> {
  const { id: projectId } = await createProject(watching, { name: 'Acme' });
  const records = Array.from({ length: 20 }, (_, n) => ({ external_user_id: `u${n}`, name: 'visited' }));
  await putRecords(watching, { projectId, priority: 'live', kind: 'events', records });
  const processor = createProcessor({
    db: watching,
    log: silentLog,
    newId: idMaker(clock),
    hasher: testHasher,
  });
  while ((await processor.batch('live', [projectId])).records > 0);
  await watching.query(
    `INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, body, accepted_at)
     SELECT $1, decode(md5(n::text), 'hex'), sha256(n::text::bytea), 202, '{}', $2 FROM generate_series(1, 50) n`,
    [projectId, new Date(clock.now() - 3 * DAY_MS)],
  );
}

const countOldResponses = async (db: Database): Promise<number> =>
  (await db.query<{ count: number }>(`SELECT count(*) AS count FROM beckon.idempotency`))[0]?.count ?? 0;

test('lets two workers run each job at once, and completes it in the other worker when one dies', async () => {
  await fill();
  const [first, second] = [jobsOf(firstDb), jobsOf(secondDb)];
  expect(first.length).toBeGreaterThan(5);
  await Promise.all([...first, ...second].map((job) => job.run(jobRun())));
  await fill();
  // A worker that dies holds only the locks of its transaction, and loses them with its connections.
  const firstRuns = first.map((job) => job.run(jobRun()).catch(() => 'died'));
  await watching.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await Promise.all(firstRuns);
  // All connections were terminated, and the remaining pool could still hand out a broken one. So the remaining worker opens new ones.
  const survivor = await open();
  onTestFinished(() => survivor.close());
  clock.advance(2 * 3_600_000);
  for (const job of jobsOf(survivor)) await job.run(jobRun());
  expect(await countOldResponses(survivor)).toBe(0);
  const dead = await survivor.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  expect(dead).toEqual([]);
});
