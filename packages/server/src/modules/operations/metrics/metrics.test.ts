import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase, testDatabase, withoutDatabase } from '../../../../testing/factories/database.ts';
import { insertMany, insertRows } from '../../../../testing/factories/rows.ts';
import { testProject, testServer } from '../../../../testing/servers/server.ts';
import { silentLog } from '../../../platform/log.ts';
import { createProject } from '../../administration/create-project.ts';
import { READINGS } from './depth-readings.ts';
import { type Database, openDatabase } from '../../../platform/db/database.ts';
import { createMetrics } from './metrics.ts';
import { watchDatabase } from './database.ts';
import { watchEmbedded } from './machine.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const RELEASE = { version: '1.2.3', node: 'v26.0.0' };

function metricsOf(db: Database): ReturnType<typeof createMetrics> {
  const metrics = createMetrics(RELEASE);
  metrics.watchRelay(() => false);
  const warn = (facts: object): void => {
    throw new Error('a database that answers was not read', { cause: facts });
  };
  watchDatabase(metrics.registry, { db, log: { ...silentLog, warn } });
  watchEmbedded(metrics.registry, { folder: tmpdir(), newestBackupAt: async () => NOW - 60_000 }, db.clock);
  return metrics;
}

/** The value of each series of the page, by name and labels. */
function readPage(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

function draft(state: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: randomUUID(),
    rule_id: randomUUID(),
    version: 1,
    step: 0,
    external_user_id: 'u1',
    key: 'once',
    state,
    subject: 's',
    preheader: '',
    body: 'b',
    content_hash: 'h',
    is_edited: false,
    facts: {},
    priority: 0,
    counts: true,
    moves: 1,
    created_at: ago(7_200),
    updated_at: ago(7_200),
    format: 'markdown',
    ...more,
  };
}

const chunk = (seq: number, priority: string, more: Record<string, unknown>): Record<string, unknown> => ({
  seq,
  priority,
  kind: 'users',
  body: '\\x5b5d',
  applied: 0,
  ...more,
});

function delivery(state: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const ids = { webhook_id: randomUUID(), endpoint_id: randomUUID() };
  return { ...ids, state, tries: 0, attempts: 0, trigger: 'auto', created_at: ago(60), ...more };
}

function outcome(type: string, refusal: string, seconds: number): Record<string, unknown> {
  return {
    id: randomUUID(),
    email_id: randomUUID(),
    draft_id: randomUUID(),
    rule_id: randomUUID(),
    external_user_id: 'u1',
    type,
    link: -1,
    class: refusal,
    occurred_at: ago(seconds),
    recorded_at: ago(seconds),
    detail: {},
  };
}

function email(state: string, more: Record<string, unknown>): Record<string, unknown> {
  const ids = { draft_id: randomUUID(), id: randomUUID(), rule_id: randomUUID() };
  const about = { external_user_id: 'u1', address: 'a@example.com', counts: true };
  const claims = { epoch: 1, attempts: 0, asks: 0 };
  return { ...ids, ...about, ...claims, state, claimed_at: ago(90), ...more };
}

/** Rows by table. Each gets the project's id unless it has one. */
const WORLD: Record<string, Record<string, unknown>[]> = {
  ingest_queue: [
    chunk(1, 'live', { records: 5, applied: 2, accepted_at: ago(40) }),
    chunk(6, 'live', { records: 4, accepted_at: ago(20) }),
    chunk(10, 'bulk', { records: 1_000, accepted_at: ago(300) }),
  ],
  dead_letter: [1, 2].map((seq) => ({
    seq,
    priority: 'live',
    kind: 'users',
    record: {},
    reason: 'x',
    accepted_at: ago(9),
    dead_lettered_at: ago(8),
  })),
  draft: [
    draft('scheduled', { due_at: ago(30) }),
    draft('scheduled', { due_at: ago(-3_600) }),
    draft('approved', { due_at: ago(10) }),
    draft('held', { reason: 'quiet_hours', resume_state: 'approved' }),
    draft('held', { reason: 'quiet_hours', resume_state: 'approved' }),
    draft('held', { reason: 'frequency_cap', resume_state: 'approved' }),
    draft('sent', { ended_at: ago(100) }),
    draft('unknown', { ended_at: ago(100) }),
    draft('unknown', { ended_at: ago(2 * 86_400) }),
    draft('failed', { ended_at: ago(100), reason: 'rejected' }),
  ],
  email: [
    email('claimed', { next_at: ago(-60) }),
    email('submitting', { next_at: ago(-60) }),
    email('submitting', { next_at: ago(-60) }),
    email('sent', { ended_at: ago(50) }),
  ],
  outcome: [
    outcome('email.bounced', 'hard', 60),
    outcome('email.bounced', 'hard', 120),
    outcome('email.opened', 'person', 60),
    outcome('email.bounced', 'soft', 1_200),
  ],
  webhook_delivery: [
    delivery('pending', { next_at: ago(5), created_at: ago(500) }),
    delivery('pending', { next_at: ago(-600) }),
    delivery('delivering', { next_at: ago(-15) }),
    delivery('delivered', { delivered_at: ago(1), created_at: ago(9_000) }),
  ],
  webhook_endpoint: [null, null, 'gone', 'failing', 'deleted'].map((reason, i) => ({
    id: `00000000-0000-4000-8000-00000000000${i}`,
    url: 'https://hooks.example',
    description: '',
    created_at: ago(9_000),
    disabled_at: reason && ago(10),
    disabled_reason: reason,
    per_second: 10,
    in_flight_max: 5,
  })),
  webhook_health: [
    {
      endpoint_id: '00000000-0000-4000-8000-000000000001',
      tokens: 1,
      refilled_at: ago(1),
      open_until: ago(-60),
      windows: [],
      failures: 5,
    },
  ],
  hit_count: [
    { email_id: randomUUID(), external_user_id: 'u1', hits: 1, classify_at: ago(25) },
    { email_id: randomUUID(), external_user_id: 'u1', hits: 1, classify_at: null },
  ],
  audience_version: [
    {
      version_id: 1,
      audience_id: randomUUID(),
      state: 'building',
      definition: {},
      members: 0,
      users: 0,
      built: 0,
      created_at: ago(70),
    },
  ],
  import: [ago(-30), ago(90)].map((lease_until) => ({
    id: randomUUID(),
    kind: 'users',
    name: 'people.csv',
    state: 'running',
    is_live: false,
    counts: {},
    facts: {},
    findings: 0,
    pace_rows: 0,
    epoch: 1,
    lease_until,
    created_at: ago(100),
    created_by: 'ana',
    changed_at: ago(100),
  })),
};

test('counts waiting work of all projects with its age, and no finished work', async () => {
  const db = await openTestDatabase(fixedClock(NOW));
  // The database clock follows its server, and this test needs a fixed time.
  const held = { ...db, clock: { now: () => NOW } };
  const { id: project_id } = await createProject(db, { name: 'Acme' });
  const { id: other } = await createProject(db, { name: 'Other' });
  for (const [table, rows] of Object.entries(WORLD))
    await insertRows(
      db,
      table,
      rows.map((row) => ({ project_id, ...row })),
    );
  await insertRows(db, 'ingest_queue', [
    { ...chunk(1, 'live', { records: 7, accepted_at: ago(75) }), project_id: other },
  ]);
  await db.query(
    `UPDATE beckon.ingest_queue_state SET waiting = CASE project_id WHEN $1 THEN 1007 ELSE 7 END`,
    [project_id],
  );
  await db.query(`UPDATE beckon.project_timer SET next_at = $2 WHERE project_id = $1 AND work = 'send'`, [
    project_id,
    ago(30),
  ]);
  const metrics = metricsOf(held);
  const page = readPage(await metrics.text());
  metrics.stop();
  const metric = (name: string): number | undefined => page.get(name);
  expect({
    all: metric('beckon_queue_waiting_records'),
    fullest: metric('beckon_queue_fullest_records'),
    live: metric('beckon_queue_records{priority="live"}'),
    bulk: metric('beckon_queue_records{priority="bulk"}'),
    oldestLive: metric('beckon_queue_oldest_seconds{priority="live"}'),
    oldestBulk: metric('beckon_queue_oldest_seconds{priority="bulk"}'),
    dead: metric('beckon_dead_letters'),
  }).toEqual({ all: 1_014, fullest: 1_007, live: 14, bulk: 1_000, oldestLive: 75, oldestBulk: 300, dead: 2 });
  expect({
    scheduled: metric('beckon_open_drafts{state="scheduled"}'),
    approved: metric('beckon_open_drafts{state="approved"}'),
    held: metric('beckon_open_drafts{state="held"}'),
    quiet: metric('beckon_held_drafts{reason="quiet_hours"}'),
    frequency_cap: metric('beckon_held_drafts{reason="frequency_cap"}'),
    due: metric('beckon_due_drafts'),
    overdue: metric('beckon_overdue_seconds{work="send"}'),
    digest: metric('beckon_overdue_seconds{work="process"}'),
  }).toEqual({
    scheduled: 2,
    approved: 1,
    held: 3,
    quiet: 2,
    frequency_cap: 1,
    due: 2,
    overdue: 30,
    digest: 0,
  });
  expect({
    claimed: metric('beckon_unfinished_emails{state="claimed"}'),
    submitting: metric('beckon_unfinished_emails{state="submitting"}'),
    unknown: metric('beckon_unresolved_emails{state="unknown"}'),
    failed: metric('beckon_unresolved_emails{state="failed"}'),
    hard: metric('beckon_recent_outcomes{type="email.bounced",class="hard"}'),
    soft: metric('beckon_recent_outcomes{type="email.bounced",class="soft"}'),
    opened: metric('beckon_recent_outcomes{type="email.opened",class=""}'),
  }).toEqual({ claimed: 1, submitting: 2, unknown: 1, failed: 1, hard: 2, soft: undefined, opened: 1 });
  expect({
    pending: metric('beckon_webhook_deliveries{state="pending"}'),
    delivering: metric('beckon_webhook_deliveries{state="delivering"}'),
    due: metric('beckon_webhook_due_deliveries'),
    oldest: metric('beckon_webhook_oldest_seconds'),
    enabled: metric('beckon_webhook_endpoints{condition="enabled"}'),
    circuit_open: metric('beckon_webhook_endpoints{condition="circuit_open"}'),
    gone: metric('beckon_webhook_endpoints{condition="gone"}'),
    deleted: metric('beckon_webhook_endpoints{condition="deleted"}'),
  }).toEqual({
    pending: 2,
    delivering: 1,
    due: 1,
    oldest: 500,
    enabled: 1,
    circuit_open: 1,
    gone: 1,
    deleted: undefined,
  });
  expect({
    hits: metric('beckon_background_items{work="hits"}'),
    late: metric('beckon_background_overdue_seconds{work="hits"}'),
    replies: metric('beckon_background_items{work="replies"}'),
    building: metric('beckon_building_audiences'),
    buildingFor: metric('beckon_building_audiences_oldest_seconds'),
    running: metric('beckon_active_imports{state="running"}'),
    stuck: metric('beckon_stuck_imports'),
    up: metric('beckon_database_up'),
    failed: metric('beckon_failed_readings'),
  }).toEqual({
    hits: 1,
    late: 25,
    replies: 0,
    building: 1,
    buildingFor: 70,
    running: 2,
    stuck: 1,
    up: 1,
    failed: 0,
  });
});

test('reads no large table of finished work by a sequential scan', async () => {
  const db = await openTestDatabase(fixedClock(NOW));
  const { id: project_id } = await createProject(db, { name: 'Acme' });
  const count = 8_000;
  const { id: _, ...ended } = draft('sent', { project_id, ended_at: ago(90_000) });
  await insertMany(db, 'draft', { count, row: ended, ids: ['id'] });
  const delivered = { ...delivery('delivered', { project_id, delivered_at: ago(9) }) };
  await insertMany(db, 'webhook_delivery', { count, row: delivered, ids: ['webhook_id'] });
  const old = { ...outcome('email.opened', 'person', 90_000), project_id };
  await insertMany(db, 'outcome', { count, row: old, ids: ['id', 'email_id'] });
  const gone = { ...email('sent', { ended_at: ago(90_000) }), project_id };
  await insertMany(db, 'email', { count, row: gone, ids: ['draft_id', 'id'] });
  const seen = { external_user_id: 'u1', hits: 1, classify_at: null, project_id };
  await insertMany(db, 'hit_count', { count, row: seen, ids: ['email_id'] });
  await db.query('ANALYZE');
  const read: string[] = [];
  for (const reading of READINGS) {
    const { text, name } = reading;
    const values = reading.values({ now: new Date(NOW), countedTo: 100_000 });
    const rows = await db.query<{ 'QUERY PLAN': object }>(`EXPLAIN (FORMAT JSON) ${text}`, values);
    const plan = JSON.stringify(rows[0]?.['QUERY PLAN']);
    for (const [, table] of plan.matchAll(/"Node Type":"Seq Scan"[^}]*?"Relation Name":"(\w+)"/g))
      read.push(`${name}: ${table}`);
  }
  const large = ['draft', 'webhook_delivery', 'outcome', 'email', 'hit_count', 'draft_move'];
  expect(read.filter((entry) => large.some((table) => entry.endsWith(`: ${table}`)))).toEqual([]);
  // The pattern matches plans at all.
  expect(read.length).toBeGreaterThan(0);
});

test('cancels a statement after its timeout, and shows the other readings', async () => {
  const database = await testDatabase();
  const db = await openDatabase({ connection: database.connection, clock: fixedClock(NOW), log: silentLog });
  const other = await openDatabase({
    connection: database.connection,
    clock: fixedClock(NOW),
    log: silentLog,
  });
  const metrics = metricsOf(db);
  try {
    await other.transaction(async (tx) => {
      await tx.query('LOCK TABLE beckon.dead_letter IN ACCESS EXCLUSIVE MODE');
      await metrics.text();
      // The first scrape may end before the reading does. A later one shows it.
      await expect
        .poll(async () => readPage(await metrics.text()).get('beckon_failed_readings'), { timeout: 9_000 })
        .toBe(1);
      const page = readPage(await metrics.text());
      expect(page.get('beckon_dead_letters')).toBeUndefined();
      expect(page.get('beckon_queue_waiting_records')).toBe(0);
    });
  } finally {
    metrics.stop();
    await Promise.all([db.close(), other.close()]);
    await database.drop();
  }
});

test('shows process metrics while the database is unavailable', async () => {
  const server = await testServer({ listen: { metricsPort: 0 } });
  try {
    const read = async (): Promise<Map<string, number>> =>
      readPage(await (await fetch(`http://127.0.0.1:${server.ports.metrics}/metrics`)).text());
    await withoutDatabase(server.database, async () => {
      const page = await read();
      expect(page.get('beckon_database_up')).toBe(0);
      expect(page.has('beckon_queue_waiting_records')).toBe(false);
      expect(page.get('process_resident_memory_bytes')).toBeGreaterThan(0);
      expect(page.has('beckon_open_drafts{state="scheduled"}')).toBe(false);
    });
  } finally {
    await server.stop();
  }
});

test('counts responses, rejections and processed records of a running server', async () => {
  const server = await testServer({ listen: { metricsPort: 0 } });
  try {
    const { secret } = await testProject(server);
    const send = async (key: string, body: object): Promise<number> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${server.url}/api/v1/users`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return response.status;
    };
    expect(await send(secret, { external_user_id: 'u1', traits: {} })).toBe(202);
    expect(await send(secret, { traits: {} })).toBe(422);
    const read = async (): Promise<Map<string, number>> =>
      readPage(await (await fetch(`http://127.0.0.1:${server.ports.metrics}/metrics`)).text());
    await expect
      .poll(async () => (await read()).get('beckon_records_processed_total{priority="live"}'), {
        timeout: 5_000,
      })
      .toBe(1);
    const page = await read();
    expect(page.get('beckon_requests_total{endpoint="users",status="202"}')).toBe(1);
    expect(page.get('beckon_rejected_requests_total{endpoint="users",code="validation_failed"}')).toBe(1);
    expect(page.get('beckon_records_accepted_total{priority="live"}')).toBe(1);
    expect(page.get('beckon_relay_breaker_open')).toBe(0);
    expect(page.get('beckon_database_connections{pool="general",state="busy"}')).toBeDefined();
    expect(Math.abs(page.get('beckon_clock_offset_seconds') ?? Number.NaN)).toBeLessThan(5);
  } finally {
    await server.stop();
  }
});

test('shows free disk space and the newest backup of an embedded database', async () => {
  const clock = fixedClock(NOW);
  const metrics = createMetrics(RELEASE);
  const backups = Promise.withResolvers<number | null>();
  let reads = 0;
  const newestBackupAt = (): Promise<number | null> => {
    reads += 1;
    return reads === 1 ? backups.promise : Promise.reject(new Error('the folder is gone'));
  };
  watchEmbedded(metrics.registry, { folder: tmpdir(), newestBackupAt }, clock);
  try {
    // A folder that does not respond does not delay the page, and is not read again at the same time.
    const silent = readPage(await metrics.text());
    expect(silent.get('beckon_backup_newest_timestamp_seconds')).toBe(0);
    expect(silent.get('beckon_data_free_bytes')).toBeGreaterThan(0);
    backups.resolve(NOW - 3_600_000);
    const page = readPage(await metrics.text());
    expect(page.get('beckon_backup_newest_timestamp_seconds')).toBe(NOW / 1_000 - 3_600);
    expect(reads).toBe(1);
    clock.advance(60_000);
    // A folder that cannot be read counts as no backup.
    expect(readPage(await metrics.text()).get('beckon_backup_newest_timestamp_seconds')).toBe(0);
    expect(reads).toBe(2);
  } finally {
    metrics.stop();
  }
});

/** Units that a name may end in. States have none. */
const UNITS =
  /_(?:total|seconds|bytes|records|requests|drafts|emails|dead_letters|deliveries|endpoints|outcomes|items|imports|audiences|domains|readings|connections|callers|fds|info)$/;
const STATES = ['beckon_database_up', 'beckon_relay_breaker_open', 'beckon_log_copies_failing'];

test('metrics have a unit in their name, and the reference page lists them with their help texts', async () => {
  const db = await openTestDatabase(fixedClock(NOW));
  const metrics = metricsOf(db);
  const all = await metrics.registry.getMetricsAsJSON();
  metrics.stop();
  const nameless = all.filter(({ name }) => !UNITS.test(name) && !STATES.includes(name));
  expect(nameless.map(({ name }) => name)).toEqual([]);
  expect(all.filter(({ help }) => help.trim().length < 10)).toEqual([]);
  expect(all.filter(({ type, name }) => String(type) === 'counter' && !name.endsWith('_total'))).toEqual([]);
  const guide = readFileSync(new URL('../../../../../../docs/reference/metrics.md', import.meta.url), 'utf8');
  const rows = guide.matchAll(/^\| `((?:beckon|process|nodejs)_\w+)` .* \| (.*) \|$/gm);
  expect(Object.fromEntries([...rows].map(([, name, meaning]) => [name, meaning]))).toEqual(
    Object.fromEntries(all.map(({ name, help }) => [name, help])),
  );
});
