import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../packages/server/testing/factories/database.ts';
import { ROW_CHECKS } from './row-checks.ts';
import { readRows } from './read-rows.ts';

const database = await testDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
afterAll(async () => {
  await client.end();
  await database.drop();
});

const AT = Date.UTC(2026, 0, 1, 12);
const [OURS, THEIRS] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
const LONG_AGO = `'2026-01-01 11:00Z'`;

const PROJECTS = `INSERT INTO beckon.project (project_id, name, livemode, created_at)
  SELECT n, 'project', true, now() FROM generate_series(1, 2) n`;

/** Statements that break an invariant, and the message that they cause. */
const VIOLATIONS: [invariant: string, problem: string, statement: string][] = [
  [
    'I13',
    'accepted records are not processed',
    `INSERT INTO beckon.ingest_queue (project_id, seq, priority, kind, records, body, accepted_at) VALUES (1, 1, 'live', 'users', 1, '[]', now())`,
  ],
  [
    'I13',
    'a queue row counts records that do not exist',
    `INSERT INTO beckon.ingest_queue_state VALUES (1, 1, 7)`,
  ],
  [
    'I13',
    'an email is still claimed',
    `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at, next_at)
     VALUES (1, '${OURS}', '${OURS}', '${OURS}', 'u1', 'u1@x.test', 'submitting', true, now(), now())`,
  ],
  [
    'I12',
    `email: a row refers to a draft of another project`,
    `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at)
     VALUES (2, '${THEIRS}', '${OURS}', '${OURS}', 'u1', 'u1@x.test', 'sent', true, now())`,
  ],
  [
    'I13',
    'a webhook delivery is still claimed',
    `INSERT INTO beckon.webhook_delivery (project_id, webhook_id, endpoint_id, state, next_at, created_at)
     VALUES (1, '${OURS}', '${OURS}', 'delivering', now(), now())`,
  ],
  [
    'I12',
    `webhook_delivery: a row refers to a webhook_endpoint of another project`,
    `INSERT INTO beckon.webhook_delivery (project_id, webhook_id, endpoint_id, state, created_at)
     VALUES (1, '${OURS}', '${THEIRS}', 'delivered', now())`,
  ],
  [
    'I13',
    'an attempt has no end',
    `INSERT INTO beckon.webhook_attempt (project_id, webhook_id, endpoint_id, number, trigger, url, started_at)
     VALUES (1, '${OURS}', '${OURS}', 1, 'auto', 'https://x.test', now())`,
  ],
  [
    'I13',
    'a due run was not processed',
    `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, waits_for, next_at, anchor, enrolled_at)
     VALUES (1, '${OURS}', '${OURS}', 1, 'u1', '', 'active', 'treatment', true, 1, 'time', ${LONG_AGO}, '{}', now())`,
  ],
  [
    'I13',
    'a run waits for a draft that has ended or does not exist',
    `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, waits_for, anchor, enrolled_at)
     VALUES (1, '${OURS}', '${OURS}', 1, 'u1', '', 'active', 'treatment', true, 1, 'draft', '{}', now())`,
  ],
  [
    'I13',
    'work is due, but its project timer is not set',
    `INSERT INTO beckon.project_timer (project_id, work) VALUES (1, 'webhooks');
     INSERT INTO beckon.webhook_delivery (project_id, webhook_id, endpoint_id, state, next_at, created_at)
     VALUES (1, '${OURS}', '${OURS}', 'pending', now(), now())`,
  ],
  [
    'I1',
    'a record could not be applied',
    `INSERT INTO beckon.dead_letter VALUES (1, 1, 'live', 'users', '{}', 'no', now(), now())`,
  ],
  [
    'I1',
    'event counts do not match the stored events',
    `INSERT INTO beckon.event_volume VALUES (1, 'login', '2026-01-01', 2, now(), now())`,
  ],
  [
    'I1',
    'no rule evaluated an order',
    `CREATE TABLE beckon.event_of_test PARTITION OF beckon.event DEFAULT;
     INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq)
     VALUES (1, ${LONG_AGO}, '${OURS}', 'u1', 'order_placed', '{"order":7}', now(), now(), 1)`,
  ],
  [
    'I1',
    'an enrollment does not have exactly one run with one email',
    `INSERT INTO beckon.enrollment_record VALUES (1, 'u1', '${OURS}', '[7]', now(), 0)`,
  ],
];

test('finds no violations in an empty database', async () => {
  expect((await readRows(database.url, AT)).violations).toEqual([]);
});

test.each(VIOLATIONS)('%s: %s', async (invariant, problem, statement) => {
  await client.query('BEGIN');
  try {
    await client.query(PROJECTS);
    await client.query(statement);
    const check = ROW_CHECKS.find(
      (candidate) => candidate.invariant === invariant && candidate.problem === problem,
    );
    const { rows } = await client.query(check?.rows(`to_timestamp(${AT / 1_000})`) ?? '');
    expect(rows).toHaveLength(1);
  } finally {
    await client.query('ROLLBACK');
  }
});
