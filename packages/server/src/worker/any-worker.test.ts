import { afterAll, expect, onTestFinished, test } from 'vitest';
import { testHasher } from '../../testkit/hasher.ts';
import { heldClock } from '../../testkit/clock.ts';
import { testDatabase } from '../../testkit/database.ts';
import { putRecords } from '../../testkit/inbox.ts';
import { idMaker } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { createProject } from '../flows/create-project.ts';
import { createDigest } from '../flows/digest/index.ts';
import { type Database, openDatabase } from '../io/db/index.ts';
import { housekeeping } from './housekeeping.ts';

const DAY_MS = 24 * 3_600_000;
const clock = heldClock();
const own = await testDatabase();
const open = (): Promise<Database> => openDatabase({ connection: own.connection, clock, log: silentLog });
const [one, other, watching] = [await open(), await open(), await open()];
afterAll(async () => {
  await Promise.all([one, other, watching].map((db) => db.close()));
  await own.drop();
});

/** A project in which each of the duties finds something old. */
async function fill(): Promise<void> {
  const { id: projectId } = await createProject(watching, { name: 'Acme' });
  const records = Array.from({ length: 20 }, (_, n) => ({ external_user_id: `u${n}`, name: 'visited' }));
  await putRecords(watching, { projectId, priority: 'live', kind: 'events', records });
  const digest = createDigest({ db: watching, log: silentLog, newId: idMaker(clock), hasher: testHasher });
  while ((await digest.batch('live', [projectId])).records > 0);
  await watching.query(
    `INSERT INTO beckon.idempotency (project_id, key, fingerprint, status, body, accepted_at)
     SELECT $1, decode(md5(n::text), 'hex'), sha256(n::text::bytea), 202, '{}', $2 FROM generate_series(1, 50) n`,
    [projectId, new Date(clock.now() - 3 * DAY_MS)],
  );
}

const oldAnswers = async (db: Database): Promise<number> =>
  (await db.query<{ count: number }>(`SELECT count(*) AS count FROM beckon.idempotency`))[0]?.count ?? 0;

test('each duty may be done by two workers at once, and goes on in the one that is left when the other dies in the middle', async () => {
  await fill();
  const [first, second] = [housekeeping(one, silentLog), housekeeping(other, silentLog)];
  expect(first.length).toBeGreaterThan(5);
  const goOn = (): boolean => false;
  await Promise.all([...first, ...second].map((job) => job.run(goOn)));
  await fill();
  // Whoever dies holds what a transaction holds, and loses it with its connections.
  const begun = first.map((job) => job.run(goOn).catch(() => 'died'));
  await watching.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await Promise.all(begun);
  // Everybody's connections were ended, and who asks by one before hearing of that would be told so: whoever is left comes anew.
  const left = await open();
  onTestFinished(() => left.close());
  clock.advance(2 * 3_600_000);
  for (const job of housekeeping(left, silentLog)) await job.run(goOn);
  expect(await oldAnswers(left)).toBe(0);
  const dead = await left.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  expect(dead).toEqual([]);
});
