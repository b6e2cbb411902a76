import { beforeEach, expect, test } from 'vitest';
import { jobRun } from '../../testing/factories/job-run.ts';
import { testHasher } from '../../testing/factories/send-services.ts';
import { fixedClock } from '../../testing/factories/clock.ts';
import { openTestDatabase } from '../../testing/factories/database.ts';
import { putRecords } from '../../testing/factories/ingest-queue.ts';
import { idMaker } from '../platform/ids.ts';
import { type Log, silentLog } from '../platform/log.ts';
import { deleteAudience } from '../modules/audiences/write-audience.ts';
import { listBuilding } from '../modules/audiences/build-version.ts';
import { deadLetterRecord } from '../modules/ingest/queue/dead-letters.ts';
import { addHits } from '../modules/inbound/tracking/tracker.ts';
import { writeSettings } from '../modules/administration/write-settings.ts';
import { insertEmails as claimEmails } from '../modules/sending/emails/store.ts';
import { takeProjectLock } from '../platform/locks/project-lock.ts';
import { createAudience } from '../modules/audiences/change-audience.ts';
import { createProject } from '../modules/administration/create-project.ts';
import { createProcessor } from '../modules/processing/process.ts';
import { erasePerson } from '../modules/profiles/erase-user.ts';
import { recordOutcomes } from '../modules/outcomes/record/record-outcomes.ts';
import { deleteOldVersions } from '../modules/audiences/delete-retired.ts';
import { historyDeleter } from '../modules/operations/retention/forget-history.ts';
import { partitionKeeper } from '../modules/users/events/keep-partitions.ts';
import { pruneMarks } from '../modules/processing/prune-marks.ts';
import { repairTimers } from '../modules/processing/sweep-timers.ts';
import { listRuleNeeds } from '../modules/rules/runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const processor = createProcessor({ db, log: silentLog, newId, hasher: testHasher });

let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Each is a new process, without the memory of an earlier run. */
const keepPartitions = (): Promise<void> => partitionKeeper(db)();
const deleteHistory = (): Promise<void> => historyDeleter(db)(jobRun());
const prune = (): Promise<void> => pruneMarks(db, jobRun());
const user = (id: string, traits: object = {}) => ({ external_user_id: id, traits });

async function accept(priority: 'live' | 'bulk', kind: 'users' | 'events', records: object[]): Promise<void> {
  await putRecords(db, { projectId, priority, kind, records });
}

async function processAll(...priorities: ('live' | 'bulk')[]): Promise<void> {
  for (const priority of priorities) while ((await processor.batch(priority, [projectId])).records > 0);
}

async function partitions(): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'beckon.event'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

const month = (ahead: number): string =>
  new Date(Date.UTC(new Date(clock.now()).getUTCFullYear(), new Date(clock.now()).getUTCMonth() + ahead, 1))
    .toISOString()
    .slice(0, 7)
    .replace('-', '_');
const ahead = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `event_${month(from + i)}`);

test('creates the partitions of coming months at the first run and then hourly', async () => {
  const job = partitionKeeper(db);
  await Promise.all([job(), keepPartitions()]);
  expect(await partitions()).toEqual(ahead(0, 3));
  clock.advance(40 * DAY_MS);
  await job();
  expect(await partitions()).toEqual(ahead(-1, 3));
  const last = `event_${month(3)}`;
  await db.query(`DROP TABLE beckon.${last}`);
  clock.advance(HOUR_MS - 1);
  await job();
  expect(await partitions()).not.toContain(last);
  clock.advance(1);
  await job();
  expect(await partitions()).toContain(last);
});

test('does not block on a partition that cannot be created now, and retries at the next run', async () => {
  const job = partitionKeeper(db);
  clock.advance(40 * DAY_MS);
  await db.transaction(async (tx) => {
    await tx.query('LOCK TABLE beckon.event IN SHARE UPDATE EXCLUSIVE MODE');
    await expect(job()).rejects.toThrow('lock timeout');
  });
  await job();
  expect(await partitions()).toContain(`event_${month(3)}`);
});

async function insertEvents(receivedAt: Date, count: number, of = projectId): Promise<void> {
  await db.query(
    `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
     SELECT $1, $2, gen_random_uuid(), 'ada', 'login', '{}', $2, $2, n, false FROM generate_series(1, $3::int) AS n`,
    [of, receivedAt, count],
  );
}

async function insertStreamRows(at: Date, count: number): Promise<void> {
  await db.query(
    `INSERT INTO beckon.activity (project_id, at, id, kind, external_user_id, detail)
     SELECT $1, $2, gen_random_uuid(), 'user_changed', 'ada', '{}' FROM generate_series(1, $3::int) AS n`,
    [projectId, at, count],
  );
  await db.query(
    `INSERT INTO beckon.ingest_log (project_id, at, id, endpoint, status, requests, accepted, rejected, request_id)
     SELECT $1, $2, gen_random_uuid(), 'users', 202, 1, 1, 0, 'r' FROM generate_series(1, $3::int) AS n`,
    [projectId, at, count],
  );
}

async function countOf(table: string, of = projectId): Promise<number> {
  const rows = await db.query<{ n: number }>(
    `SELECT count(*) AS n FROM beckon.${table} WHERE project_id = $1`,
    [of],
  );
  return rows[0]?.n ?? 0;
}

const ago = (ms: number): Date => new Date(clock.now() - ms);

test('deletes events of each project after its own retention, and keeps those of others forever', async () => {
  await keepPartitions();
  const { id: other } = await createProject(db, { name: 'Other' });
  await writeSettings(db, projectId, { keep_events: '31d' });
  for (const id of [projectId, other]) await insertEvents(ago(0), 2_500, id);
  clock.advance(31 * DAY_MS + HOUR_MS - 1);
  await keepPartitions();
  await insertEvents(ago(0), 3);
  await deleteHistory();
  // Not before the last event that a window of 31 days may need, by any clock.
  expect(await countOf('event')).toBe(2_503);
  clock.advance(2);
  await deleteHistory();
  expect([await countOf('event'), await countOf('event', other)]).toEqual([3, 2_500]);
});

test('keeps clients of hits and webhook deliveries for 30 days, replies for 90, links for a year, outcomes forever', async () => {
  const at = clock.now();
  const [id, ruleId, draftId] = [newId(), newId(), newId()];
  const email = {
    projectId,
    id,
    draftId,
    ruleId,
    userId: 'ada',
    counts: true,
    template: null,
    relay: null,
    relayGeneration: null,
  };
  const sent = { claimedAt: at, leaseUntil: at, domain: 'acme.example', provider: 'x.org' };
  await claimEmails(db, [{ ...email, ...sent, address: 'ada@x.org' }]);
  await db.query(
    `INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls) VALUES ($1, $2, 'ada', true, '{}')`,
    [projectId, id],
  );
  const hit = { projectId, emailId: id, kind: 'open', link: null, at, signs: [], remote: '::1' } as const;
  await db.transaction((tx) => addHits(tx, [{ ...hit, agent: 'Firefox' }]));
  const replied = { type: 'email.replied', inboundId: '<1@x.org>', snippet: 'Hi' } as const;
  const happened = [{ projectId, emailId: id, occurredAt: at, ...replied }];
  await recordOutcomes({ db, newId, log: silentLog }, happened);
  await db.query(
    `INSERT INTO beckon.reply (project_id, id, email_id, draft_id, external_user_id, inbound_id, kind, verified, received_at,
       from_address, from_name, subject, text, raw)
     VALUES ($1, $2, $3, $4, 'ada', '<1@x.org>', 'reply', 'recipient', $5, 'ada@x.org', 'Ada', 'Re', 'Hi', 'x')`,
    [projectId, newId(), id, draftId, new Date(at)],
  );
  const TABLES = ['hit', 'tracking_link', 'outcome', 'reply', 'webhook'];
  const tablesWithRows = async (): Promise<string[]> => {
    const filled: string[] = [];
    for (const table of TABLES) if ((await countOf(table)) > 0) filled.push(table);
    const [named] = await db.query(`SELECT 1 FROM beckon.hit WHERE project_id = $1 AND agent IS NOT NULL`, [
      projectId,
    ]);
    const [whole] = await db.query(`SELECT 1 FROM beckon.reply WHERE project_id = $1 AND raw IS NOT NULL`, [
      projectId,
    ]);
    return [...filled, ...(named ? ['agent'] : []), ...(whole ? ['raw'] : [])];
  };
  clock.advance(30 * DAY_MS);
  await deleteHistory();
  expect(await tablesWithRows()).toEqual([...TABLES, 'agent', 'raw']);
  clock.advance(2 * HOUR_MS);
  await deleteHistory();
  expect(await tablesWithRows()).toEqual(['hit', 'tracking_link', 'outcome', 'reply']);
  clock.advance(60 * DAY_MS);
  await deleteHistory();
  expect(await tablesWithRows()).toEqual(['hit', 'tracking_link', 'outcome']);
  clock.advance(277 * DAY_MS);
  await deleteHistory();
  expect(await tablesWithRows()).toEqual(['outcome']);
});

test('keeps the event stream for 90 days by default, and dead-lettered records forever', async () => {
  const at = ago(0);
  await insertStreamRows(at, 1_200);
  await deadLetterRecord(
    db,
    { projectId, priority: 'live', kind: 'events', seq: 1, acceptedAt: at, record: user('ada') },
    { reason: 'bad', at },
  );
  clock.advance(89 * DAY_MS);
  await insertStreamRows(ago(0), 5);
  await deleteHistory();
  expect([await countOf('activity'), await countOf('ingest_log')]).toEqual([1_205, 1_205]);
  clock.advance(DAY_MS + 2 * HOUR_MS);
  await deleteHistory();
  expect([await countOf('activity'), await countOf('ingest_log'), await countOf('dead_letter')]).toEqual([
    5, 5, 1,
  ]);
  await writeSettings(db, projectId, { keep_stream: '24h', keep_dead: '30d' });
  await deleteHistory();
  expect([await countOf('activity'), await countOf('ingest_log'), await countOf('dead_letter')]).toEqual([
    0, 0, 0,
  ]);
});

test('deletes at most 1,000 rows per step, stops between two steps, and continues in the next round', async () => {
  await writeSettings(db, projectId, { keep_stream: '1d' });
  await insertStreamRows(ago(3 * DAY_MS), 1_300);
  const counts: number[] = [];
  const counting = {
    ...db,
    transaction: async <T>(work: Parameters<typeof db.transaction<T>>[0]): Promise<T> => {
      const before = (await countOf('activity')) + (await countOf('ingest_log'));
      const result = await db.transaction(work);
      counts.push(before - (await countOf('activity')) - (await countOf('ingest_log')));
      return result;
    },
  };
  const job = historyDeleter(counting);
  const isStopping = (): boolean => counts.reduce((sum, n) => sum + n, 0) >= 1_000;
  await job(jobRun(isStopping));
  expect([await countOf('activity'), await countOf('ingest_log')].reduce((a, b) => a + b)).toBe(1_600);
  await job(jobRun());
  expect([await countOf('activity'), await countOf('ingest_log')]).toEqual([0, 0]);
  expect(Math.max(...counts)).toBe(1_000);
  // Everything is done, so it runs no query for an hour.
  const countBefore = counts.length;
  clock.advance(HOUR_MS - 1);
  await job(jobRun());
  expect(counts.length).toBe(countBefore);
  clock.advance(1);
  await job(jobRun());
  expect(counts.length).toBeGreaterThan(countBefore);
});

test('drops the partition of an old month once it is empty, and no other', async () => {
  await keepPartitions();
  const full = `event_${month(0)}`;
  await insertEvents(ago(0), 1);
  clock.advance(31 * DAY_MS);
  const empty = `event_${month(0)}`;
  clock.advance(62 * DAY_MS);
  await keepPartitions();
  const before = await partitions();
  expect(before).toEqual(expect.arrayContaining([full, empty, ...ahead(0, 3)]));
  await deleteHistory();
  expect(await partitions()).toContain(empty);
  clock.advance(31 * DAY_MS);
  await keepPartitions();
  await deleteHistory();
  const after = await partitions();
  expect(after).not.toContain(empty);
  expect(after).toEqual(expect.arrayContaining([full, ...ahead(-2, 3)]));
});

const written = async (): Promise<unknown[]> =>
  (
    await db.query<{ w: unknown }>(
      'SELECT written_seq AS w FROM beckon.person WHERE project_id = $1 ORDER BY external_user_id',
      [projectId],
    )
  ).map(({ w }) => w);

test('keeps the write sequence of a trait while older bulk records wait, regardless of live records', async () => {
  await accept('bulk', 'users', [user('ada', { plan: 'old', seats: 1 })]);
  await accept('live', 'users', [user('ada', { plan: 'new' }), user('bob', { plan: 'new' })]);
  await processAll('live');
  const marks = await written();
  expect(marks).toEqual([{ traits: { plan: 2 } }, { traits: { plan: 3 } }]);
  await prune();
  expect(await written()).toEqual(marks);
  await processAll('bulk');
  await accept('live', 'users', [user('cyd')]);
  await prune();
  expect(await written()).toEqual([null, null]);
  expect(
    await db.query('SELECT plan, traits FROM beckon.person WHERE project_id = $1 ORDER BY external_user_id', [
      projectId,
    ]),
  ).toEqual([
    { plan: 'new', traits: { seats: 1 } },
    { plan: 'new', traits: {} },
  ]);
});

test('keeps the write sequence of a bulk record while older live records wait', async () => {
  await accept('live', 'users', [user('ada', { plan: 'old' })]);
  await accept('bulk', 'users', [user('ada', { plan: 'new' })]);
  await processAll('bulk');
  await prune();
  expect(await written()).toEqual([{ traits: { plan: 2 } }]);
  await processAll('live');
  expect(await db.query('SELECT plan FROM beckon.person WHERE project_id = $1', [projectId])).toEqual([
    { plan: 'new' },
  ]);
  await prune();
  expect(await written()).toEqual([null]);
});

test('prunes write sequences of more users than one step, and skips a project locked by another process', async () => {
  await accept('bulk', 'users', [user('zed')]);
  const manyUsers = Array.from({ length: 2_100 }, (_, i) => user(`u${i}`, { plan: 'x' }));
  for (const from of [0, 1_000, 2_000]) await accept('live', 'users', manyUsers.slice(from, from + 1_000));
  await processAll('live', 'bulk');
  await db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await prune();
  });
  expect((await written()).filter((mark) => mark !== null)).toHaveLength(2_100);
  await prune();
  expect((await written()).filter((mark) => mark !== null)).toEqual([]);
});

test('deletes an erasure once no older record waits, and not before', async () => {
  await accept('bulk', 'users', [user('bob'), user('ada')]);
  await erasePerson({ db, newId, hasher: testHasher }, { projectId, userId: 'ada' });
  await accept('live', 'users', [user('ada')]);
  await processAll('live');
  await accept('live', 'users', [user('dan')]);
  await prune();
  expect(await countOf('erasure')).toBe(1);
  await processAll('bulk');
  await accept('live', 'users', [user('cyd')]);
  await prune();
  expect(await countOf('erasure')).toBe(0);
});

async function buildAll(): Promise<void> {
  for (const audience of await listBuilding(db, 10)) while ((await processor.build(audience)) !== 'served');
}

const LATELY = { event: 'login', at_least: 1, within: '7d' };

test('deletes members and timers of a deleted audience in the background, and keeps those of others', async () => {
  const people = Array.from({ length: 1_000 }, (_, i) => `u${i}`);
  await accept(
    'live',
    'events',
    people.map((id) => ({ external_user_id: id, name: 'login', properties: {} })),
  );
  await processAll('live');
  const { id } = await createAudience({ db, listRuleNeeds }, { projectId, name: 'Gone', definition: LATELY });
  await createAudience({ db, listRuleNeeds }, { projectId, name: 'Here', definition: LATELY });
  await buildAll();
  expect([await countOf('audience_member'), await countOf('audience_timer')]).toEqual([2_000, 2_000]);
  await db.transaction((tx) => deleteAudience(tx, { projectId, reference: id }));
  await deleteOldVersions(db, jobRun());
  expect([
    await countOf('audience_member'),
    await countOf('audience_timer'),
    await countOf('audience_version'),
  ]).toEqual([1_000, 1_000, 1]);
});

test('sets an alarm that is too late or missing to the earliest due time, and logs it', async () => {
  await accept('live', 'events', [{ external_user_id: 'ada', name: 'login', properties: {} }]);
  await processAll('live');
  await createAudience({ db, listRuleNeeds }, { projectId, name: 'Lately', definition: LATELY });
  await buildAll();
  const alarm = async (): Promise<Date | null | undefined> =>
    (
      await db.query<{ next_at: Date | null }>(
        `SELECT next_at FROM beckon.project_timer WHERE project_id = $1 AND work = 'process'`,
        [projectId],
      )
    )[0]?.next_at;
  const right = await alarm();
  expect(right).toEqual(new Date(clock.now() + 7 * DAY_MS));
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields, event) => warnings.push([event, fields]) };
  const set = (at: Date | null) =>
    db.query(`UPDATE beckon.project_timer SET next_at = $2 WHERE project_id = $1 AND work = 'process'`, [
      projectId,
      at,
    ]);
  const early = new Date(clock.now());
  for (const [wrong, mended] of [
    [null, right],
    [new Date(clock.now() + 9 * DAY_MS), right],
    [early, early],
    [right ?? null, right],
  ] as const) {
    await set(wrong);
    await repairTimers({ db, log });
    expect(await alarm()).toEqual(mended);
  }
  expect(warnings).toEqual([
    ['alarms.repaired', { projects: 1 }],
    ['alarms.repaired', { projects: 1 }],
  ]);
});
