import { beforeEach, expect, test } from 'vitest';
import { jobRun } from '../../../testing/factories/job-run.ts';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { findText } from '../../../testing/oracles/find-text.ts';
import { uploadFile } from '../../../testing/factories/imports.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { listBuilding } from '../audiences/build-version.ts';
import { deadLetterRecord, retryDead } from '../ingest/queue/dead-letters.ts';
import { insertFindings } from '../imports/store.ts';
import { listDrafts } from '../drafts/reads.ts';
import { keepMail } from '../review/test-inbox/keep-mail.ts';
import { addHits } from '../inbound/tracking/tracker.ts';
import { insertReply } from '../inbound/replies/store.ts';
import { insertEmails as claimEmails } from '../sending/emails/store.ts';
import { addSuppression, liftSuppressions, setTopicUnsubscribes } from '../outcomes/suppressions/store.ts';
import { createAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import type { BuildStep } from '../processing/build-audience.ts';
import { createProcessor } from '../processing/process.ts';
import { erasePerson } from './erase-user.ts';
import { recordOutcomes } from '../outcomes/record/record-outcomes.ts';
import { pruneMarks } from '../processing/prune-marks.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const processor = createProcessor({ db, log: silentLog, newId, hasher: testHasher });
const DAY_MS = 86_400_000;
let projectId = 0;
/** Sorts before the other ids, and contains every character that a careless search handles wrongly. */
let ADA = '';
let EMAIL = '';
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  ADA = ` Ada "Q" \\ %_' 🐣\t#${projectId}#`;
  EMAIL = `Ada.O'Brien+%_{}@Mail${projectId}.Example.org`;
});

const erase = (userId = ADA, project = projectId) =>
  erasePerson({ db, newId, hasher: testHasher }, { projectId: project, userId });

async function processAll(): Promise<void> {
  for (const priority of ['live', 'bulk'] as const)
    while ((await processor.batch(priority, [projectId])).records > 0);
}

async function buildAll(): Promise<void> {
  for (let keys = await listBuilding(db, 100); keys.length > 0; keys = await listBuilding(db, 100))
    for (const key of keys) await processor.build(key);
}

/** Puts a user into every table, next to other users, in two months and in two audiences, with and without a window. */
async function fillEveryTable(): Promise<void> {
  const ids = [ADA, 'bob', 'zed'];
  await addToFiles(ids);
  const login = { name: 'login', properties: { seats: 3 } };
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: ids.map((id) => ({
      external_user_id: id,
      email: id === ADA ? EMAIL : `${id}@x.org`,
      traits: { plan: 'pro', nick: id, name: id },
    })),
  });
  await processAll();
  for (const [name, definition] of Object.entries(AUDIENCES))
    await createAudience({ db, listRuleNeeds }, { projectId, name, definition });
  await buildAll();
  for (const days of [0, 31]) {
    clock.advance(days * DAY_MS);
    const records = ids.map((id) => ({ ...login, external_user_id: id, message_id: `${days} ${id}` }));
    await putRecords(db, { projectId, kind: 'events', records });
    await processAll();
  }
}

/** Puts the users into a file that is not imported yet, and into a rejected row. */
async function addToFiles(ids: string[]): Promise<void> {
  const text = ids.map((id) => `${JSON.stringify({ id, email: id === ADA ? EMAIL : 'x@x.org' })}\n`).join('');
  const file = await uploadFile(db, { projectId, kind: 'users', text });
  const finding = { kind: 'rejected', line: 1, field: null };
  await insertFindings(db, { ...file, from: 0 }, [
    { ...finding, message: `${EMAIL} is no address`, raw: '' },
    { ...finding, message: '', raw: JSON.stringify({ id: ADA }) },
    { ...finding, message: '', raw: 'bob' },
  ]);
}

const AUDIENCES = {
  Lately: { event: 'login', at_least: 1, within: '7d' },
  Ever: { event: 'login', at_least: 1 },
  Paying: { trait: 'plan', equals: 'pro' },
};

/** Creates a draft, a run, entries, decisions and timers per user, an email passed to the relay, and an opt-out. */
async function getEmails(): Promise<void> {
  const ids = [ADA, 'bob', 'zed'];
  const records = ids.flatMap((id) => [
    { external_user_id: id, name: 'user_signed_up', properties: { plan: 'pro', by: id } },
    { external_user_id: id, name: 'trial_started', properties: { trialDays: 14, by: id } },
  ]);
  await putRecords(db, { projectId, kind: 'events', records });
  await processAll();
  const now = clock.now();
  const all = { projectId, state: null, ruleId: null, userId: null, after: null, limit: 10 };
  const messages = (await listDrafts(db, all)).map(({ id, ruleId, userId }) => ({
    projectId,
    draftId: id,
    id: newId(),
    ruleId,
    userId,
    address: userId === ADA ? EMAIL.toLowerCase() : `${userId}@x.org`,
    counts: true,
    claimedAt: now,
    domain: 'acme.example',
    provider: 'x.org',
    template: 'welcome',
    relay: null,
    relayGeneration: null,
    leaseUntil: now,
  }));
  await claimEmails(db, messages);
  for (const { id, draftId, userId, address } of messages) {
    const raw = Buffer.from(`Subject: Hello ${userId}\r\nTo: ${address}\r\n\r\n${userId}`);
    const envelope = { mailFrom: 'b+x@acme.example', rcptTo: address, raw, at: now };
    await keepMail(db, { projectId, id, draftId, userId, ...envelope });
  }
  for (const message of messages) await becomeSomething(message);
  for (const id of ids) await refuseEverything(id, id === ADA ? EMAIL : `${id}@x.org`);
}

/** Suppresses a user by id and by address, refuses a topic by both, and lifts an earlier suppression of both. */
async function refuseEverything(userId: string, address: string): Promise<void> {
  const now = clock.now();
  const keys = [
    { projectId, kind: 'user' as const, value: userId },
    { projectId, kind: 'email' as const, value: address },
  ];
  const why = { reason: 'unsubscribed', until: null, createdAt: now, createdBy: 'engine' } as const;
  const suppressAll = async (): Promise<void> => {
    for (const key of keys) await addSuppression(db, { ...key, ...why });
  };
  await suppressAll();
  await liftSuppressions(db, { targets: keys, reasons: ['unsubscribed'], at: now, by: 'ann' });
  await suppressAll();
  await setTopicUnsubscribes(db, { targets: keys, refused: ['news'], accepted: [], at: now });
}

type Message = { id: string; draftId: string; userId: string; address: string };

/** Records a bot open, its webhook, a reply, and links that contain the user's address. */
async function becomeSomething({ id, draftId, userId, address }: Message): Promise<void> {
  const at = clock.now();
  await db.query(
    `INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls) VALUES ($1, $2, $3, true, $4)`,
    [projectId, id, userId, [`https://x.org/?for=${address}`]],
  );
  const email = { projectId, emailId: id };
  const hit = {
    ...email,
    kind: 'open',
    link: null,
    at,
    signs: [],
    agent: `of ${userId}`,
    remote: '::1',
  } as const;
  await db.transaction((tx) => addHits(tx, [hit]));
  const opened = { type: 'email.opened', bot: 'yes', botReason: 'prefetch' } as const;
  await recordOutcomes({ db, newId, log: silentLog }, [{ ...email, occurredAt: at, ...opened }]);
  await db.transaction((tx) =>
    insertReply(tx, {
      projectId,
      id: newId(),
      emailId: id,
      draftId,
      userId,
      kind: 'reply',
      verified: 'recipient',
      inboundId: `<${id}@x.org>`,
      receivedAt: at,
      fromAddress: address,
      fromName: userId,
      subject: 'Re: Hello',
      text: `I am ${userId}`,
      raw: Buffer.from(`From: ${address}`),
      forwardAt: null,
    }),
  );
}

function die(userId: string, seq: number): Promise<void> {
  const at = new Date(clock.now());
  const record = { external_user_id: userId, name: 'x', properties: { mail: userId === ADA ? EMAIL : '' } };
  const dead = { projectId, priority: 'live', kind: 'events', seq, acceptedAt: at, record } as const;
  return deadLetterRecord(db, dead, { reason: 'bad', at });
}

/** Queues more records: plain in the live priority, packed in the bulk priority. */
async function sendMore(): Promise<void> {
  const user = (id: string) => ({
    external_user_id: id,
    email: id === ADA ? EMAIL : `${id}@x.org`,
    traits: { waited: true },
  });
  await putRecords(db, { projectId, kind: 'users', records: [user(ADA), user('bob')] });
  const blob = 'x'.repeat(20_000);
  const event = (id: string) => ({ external_user_id: id, name: 'export', properties: { blob } });
  await putRecords(db, { projectId, priority: 'bulk', kind: 'events', records: [event(ADA), event('zed')] });
}

const TABLES = [
  'person',
  'person_email',
  'event',
  'person_event',
  'audience_member',
  'audience_timer',
  'activity',
  'dead_letter',
  'draft',
  'email',
  'test_inbox_email',
  'hit',
  'outcome',
  'reply',
  'webhook',
  'run',
  'decision',
  'enrollment_record',
  'rule_timer',
  'suppression',
];

/** The SQL expression for the user id in tables without the usual column. */
const USER_COLUMNS: Record<string, string> = {
  dead_letter: `record ->> 'external_user_id'`,
  hit: `(SELECT c.external_user_id FROM beckon.hit_count c WHERE c.project_id = hit.project_id AND c.email_id = hit.email_id)`,
  suppression: `CASE kind WHEN 'user' THEN value END`,
};

/** Finds lifted suppressions whose recipient is hashed without a key, so that anyone could compare it with a list of addresses. */
function unkeyedHashes(values: string[]): Promise<unknown[]> {
  return db.query(
    `SELECT kind FROM beckon.suppression_lift WHERE recipient_hash IN (SELECT sha256(convert_to(value, 'UTF8')) FROM unnest($1::text[]) AS value)`,
    [values],
  );
}

async function rowsOf(userId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const id = USER_COLUMNS[table] ?? 'external_user_id';
    const rows = await db.query<{ n: number }>(
      `SELECT count(*) AS n FROM beckon.${table} WHERE project_id = $1 AND ${id} = $2`,
      [projectId, userId],
    );
    counts[table] = rows[0]?.n ?? 0;
  }
  return counts;
}

test('leaves nothing of an erased user in any column of any table, and counts what was removed', async () => {
  await fillEveryTable();
  await getEmails();
  await die(ADA, 1);
  await die('bob', 2);
  await sendMore();
  const before = await rowsOf(ADA);
  const others = [await rowsOf('bob'), await rowsOf('zed')];
  for (const table of TABLES) expect([table, before[table]]).not.toEqual([table, 0]);
  // The search finds existing values: in two months, in JSON, in packed and in plain waiting records.
  expect(await findText(db, [ADA, EMAIL])).toEqual(
    expect.arrayContaining([
      'ingest_queue.body',
      'person.traits',
      'person_email.email_lower',
      'draft.facts',
      'run.anchor',
      'rule_timer.anchor',
      'email.address',
      'test_inbox_email.raw',
      'tracking_link.urls',
      'hit.agent',
      'outcome.external_user_id',
      'import_part.bytes',
      'import_finding.raw',
      'import_finding.message',
      'reply.raw',
      'webhook.body',
      'suppression.value',
      'topic_unsubscribe.value',
      'event_2026_01.external_user_id',
      'event_2026_02.external_user_id',
    ]),
  );

  const proof = await erase();
  const [queue] = await db.query<{ next_seq: number }>(
    'SELECT next_seq FROM beckon.ingest_queue_state WHERE project_id = $1',
    [projectId],
  );
  expect(proof).toEqual({
    external_user_id: ADA,
    erased_at: new Date(clock.now()).toISOString(),
    seq: queue?.next_seq,
    // By id and by address: two suppressions and two refused topics.
    removed: { ...before, suppression: 4, import_row: 3 },
  });
  expect(await findText(db, [ADA, EMAIL])).toEqual(['erasure.external_user_id', 'ingest_queue.body']);
  expect(
    await db.query(
      `SELECT 1 FROM beckon.draft_move m WHERE NOT EXISTS (
         SELECT 1 FROM beckon.draft d WHERE d.project_id = m.project_id AND d.id = m.draft_id)`,
    ),
  ).toEqual([]);
  expect([await rowsOf('bob'), await rowsOf('zed')]).toEqual(others);
  expect(await unkeyedHashes([ADA, EMAIL.toLowerCase()])).toEqual([]);

  await processAll();
  expect(await findText(db, [ADA, EMAIL])).toEqual(['erasure.external_user_id']);
  expect(await rowsOf('bob')).toMatchObject({ person: 1, dead_letter: 1, event: 4, draft: 1, run: 1 });
  expect(await rowsOf('zed')).toMatchObject({ person: 1, event: 5, draft: 1, run: 1 });

  await pruneMarks(db, jobRun());
  expect(await findText(db, [ADA, EMAIL])).toEqual([]);
});

test('updates the audience counts without joins or leaves', async () => {
  await fillEveryTable();
  const moves = () =>
    db.query(
      `SELECT kind, external_user_id FROM beckon.activity WHERE project_id = $1 AND kind LIKE 'audience\\_%' AND external_user_id <> $2 ORDER BY 1, 2`,
      [projectId, ADA],
    );
  const before = await moves();
  await erase();
  const counts = await db.query<{ members: number; rows: number }>(
    `SELECT e.members, (SELECT count(*) FROM beckon.audience_member m WHERE m.project_id = e.project_id AND m.version_id = e.version_id) AS rows
     FROM beckon.audience_version e WHERE e.project_id = $1`,
    [projectId],
  );
  expect(counts).toEqual([
    { members: 2, rows: 2 },
    { members: 2, rows: 2 },
    { members: 2, rows: 2 },
  ]);
  expect(await moves()).toEqual(before);
});

test('reports an erasure in the change stream without the user id', async () => {
  await fillEveryTable();
  const { removed } = await erase();
  const rows = await db.query(
    `SELECT external_user_id, detail FROM beckon.activity WHERE project_id = $1 AND kind = 'user_erased'`,
    [projectId],
  );
  expect(rows).toEqual([{ external_user_id: null, detail: { removed } }]);
});

test('drops records accepted before in both priorities; later ones create a new user', async () => {
  await fillEveryTable();
  await sendMore();
  await erase();
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: ADA, traits: { plan: 'new' } }],
  });
  await processAll();
  expect(await rowsOf(ADA)).toMatchObject({ person: 1, person_email: 0, event: 0, activity: 1 });
  const [person] = await db.query(
    'SELECT plan, traits FROM beckon.person WHERE project_id = $1 AND external_user_id = $2',
    [projectId, ADA],
  );
  expect(person).toEqual({ plan: 'new', traits: {} });
  expect(
    await db.query('SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1', [projectId]),
  ).toEqual([{ waiting: 0 }]);
});

test('ignores an erased history that is sent again', async () => {
  await fillEveryTable();
  await erase();
  const again = [0, 31].map((days) => ({
    external_user_id: ADA,
    name: 'login',
    properties: {},
    message_id: `${days} ${ADA}`,
  }));
  await putRecords(db, { projectId, priority: 'bulk', kind: 'events', records: again });
  await processAll();
  expect(await rowsOf(ADA)).toMatchObject({ person: 0, event: 0 });
});

test('rejects an unknown user if no records wait, and records the erasure if some do', async () => {
  await expect(erase('unseen')).rejects.toMatchObject({ code: 'not_found' });
  await expect(erase('nul\0')).rejects.toMatchObject({ code: 'not_found' });
  await expect(erase('half\ud800')).rejects.toMatchObject({ code: 'not_found' });
  expect(await db.query('SELECT 1 FROM beckon.erasure WHERE project_id = $1', [projectId])).toEqual([]);
  await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: 'unseen', email: EMAIL }] });
  const { removed } = await erase('unseen');
  expect(new Set(Object.values(removed))).toEqual(new Set([0]));
  await processAll();
  expect(await rowsOf('unseen')).toMatchObject({ person: 0, activity: 0 });
  await expect(
    erasePerson({ db, newId, hasher: testHasher }, { projectId: projectId + 1_000, userId: ADA }),
  ).rejects.toMatchObject({ code: 'not_found' });
});

test('keeps the id nowhere if no records wait', async () => {
  await fillEveryTable();
  await erase();
  expect(await findText(db, [ADA, EMAIL])).toEqual([]);
});

test('erases a dead letter alone, and drops one that was queued again', async () => {
  await die(ADA, 1);
  expect((await erase()).removed).toMatchObject({ person: 0, dead_letter: 1 });
  await die(ADA, 2);
  await retryDead(db, projectId);
  expect((await erase()).removed).toMatchObject({ person: 0, dead_letter: 0 });
  await processAll();
  await pruneMarks(db, jobRun());
  expect(await findText(db, [ADA, EMAIL])).toEqual([]);
});

test('treats the same id in another project as another user', async () => {
  await fillEveryTable();
  const { id: other } = await createProject(db, { name: 'Other' });
  await putRecords(db, { projectId: other, kind: 'users', records: [{ external_user_id: ADA }] });
  while ((await processor.batch('live', [other])).records > 0);
  await erase();
  expect(await db.query('SELECT project_id FROM beckon.person WHERE external_user_id = $1', [ADA])).toEqual([
    { project_id: other },
  ]);
});

test('erases more events than one statement takes, including many with the same time', async () => {
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: ADA }, { external_user_id: 'bob' }],
  });
  await processAll();
  await db.query(
    `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
     SELECT $1, $2, gen_random_uuid(), CASE WHEN n % 100 = 0 THEN 'bob' ELSE $3 END, CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END, '{}',
            $2::timestamptz - CASE WHEN n < 15000 THEN 0 ELSE n END * interval '1 second', $2, n, false
     FROM generate_series(1, 30000) AS n`,
    [projectId, new Date(clock.now()), ADA],
  );
  expect((await erase()).removed.event).toBe(29_700);
  expect(await db.query('SELECT count(*) AS n FROM beckon.event WHERE project_id = $1', [projectId])).toEqual(
    [{ n: 300 }],
  );
});

test('continues a build or count that had reached an erased user right after the user before', async () => {
  const ids = Array.from({ length: 1_200 }, (_, i) => `u${String(i).padStart(4, '0')}`);
  for (const part of [ids.slice(0, 600), ids.slice(600)])
    await putRecords(db, { projectId, kind: 'users', records: part.map((id) => ({ external_user_id: id })) });
  await putRecords(db, {
    projectId,
    kind: 'events',
    records: ids.slice(0, 900).map((id) => ({ external_user_id: id, name: 'login', properties: {} })),
  });
  await processAll();
  await createAudience({ db, listRuleNeeds }, { projectId, name: 'Ever', definition: AUDIENCES.Ever });
  const positions = () =>
    db.query<{ at: string | null }>(
      `SELECT counted_to AS at FROM beckon.counted_event WHERE project_id = $1 UNION ALL
       SELECT built_to FROM beckon.audience_version WHERE project_id = $1 AND state = 'building'`,
      [projectId],
    );
  const erased: string[] = [];
  for (let building = await listBuilding(db, 1); building.length > 0; building = await listBuilding(db, 1)) {
    const steps: BuildStep[] = [];
    for (const key of building) steps.push(await processor.build(key));
    // The erasure moved the progress, which looks like the work of another process to the next step.
    if (steps.includes('elsewhere')) continue;
    const last = (await positions()).find(({ at }) => at !== null)?.at;
    if (!last || erased.includes(last)) continue;
    await erase(last);
    erased.push(last);
    expect((await positions()).map(({ at }) => at)).not.toContain(last);
  }
  expect(erased.length).toBeGreaterThanOrEqual(4);
  const members = await db.query<{ id: string }>(
    'SELECT external_user_id AS id FROM beckon.audience_member WHERE project_id = $1 ORDER BY 1',
    [projectId],
  );
  expect(members.map(({ id }) => id)).toEqual(ids.slice(0, 900).filter((id) => !erased.includes(id)));
});
