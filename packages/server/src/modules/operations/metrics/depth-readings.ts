import { DRAFT_STATES } from '../../drafts/index.ts';

export type Gauge = { name: string; help: string; labels: readonly string[] };

/** A statement that returns rows of `gauge`, its labels `a` and `b`, and `value`. It reads tables of several modules. */
export type DepthMeasurement = {
  name: string;
  gauges: readonly Gauge[];
  text: string;
  /** The statement where tables are distributed, if that has to be another one. */
  distributedText?: string;
  values(input: { now: Date; countedTo: number }): unknown[];
};

const ENDED = ['sent', 'skipped', 'canceled', 'failed', 'unknown'];
const OPEN_STATES = DRAFT_STATES.filter((state) => !ENDED.includes(state));

const QUEUE_GAUGES = `SELECT 'beckon_queue_oldest_seconds' AS gauge, l.priority AS a, NULL AS b,
                coalesce(greatest(0, extract(epoch FROM $1::timestamptz - min(head.accepted_at))), 0)::float8 AS value
         FROM unnest(ARRAY['live', 'bulk']) AS l(priority) LEFT JOIN head ON head.priority = l.priority GROUP BY l.priority
         UNION ALL SELECT 'beckon_queue_waiting_records', NULL, NULL, coalesce(sum(waiting), 0)::float8 FROM beckon.ingest_queue_state
         UNION ALL SELECT 'beckon_queue_fullest_records', NULL, NULL, coalesce(max(waiting), 0)::float8 FROM beckon.ingest_queue_state`;

const ingestQueue: DepthMeasurement = {
  name: 'ingest_queue',
  gauges: [
    { name: 'beckon_queue_waiting_records', help: 'Waiting accepted records of both priorities', labels: [] },
    {
      name: 'beckon_queue_fullest_records',
      help: 'Waiting records of the project with the most. Bulk requests are rejected from 50,000.',
      labels: [],
    },
    {
      name: 'beckon_queue_oldest_seconds',
      help: 'Age of the oldest record that is not processed',
      labels: ['priority'],
    },
  ],
  // Skips from queue to queue by the primary key, and reads only the first chunk of each.
  text: `WITH RECURSIVE head AS (
           (SELECT project_id, priority, accepted_at FROM beckon.ingest_queue ORDER BY project_id, priority, seq LIMIT 1)
           UNION ALL
           SELECT next.* FROM head CROSS JOIN LATERAL (
             SELECT i.project_id, i.priority, i.accepted_at FROM beckon.ingest_queue i
             WHERE (i.project_id, i.priority) > (head.project_id, head.priority)
             ORDER BY i.project_id, i.priority, i.seq LIMIT 1) next
         )
         ${QUEUE_GAUGES}`,
  // The nodes read the queues of their projects at the same time. None of them can skip to a queue of another.
  distributedText: `WITH head AS MATERIALIZED (SELECT priority, min(accepted_at) AS accepted_at FROM beckon.ingest_queue GROUP BY priority)
         ${QUEUE_GAUGES}`,
  values: ({ now }) => [now],
};

const queuePriorities: DepthMeasurement = {
  name: 'queue_priorities',
  gauges: [
    {
      name: 'beckon_queue_records',
      help: 'Waiting accepted records by priority, among the first 100,000 chunks',
      labels: ['priority'],
    },
  ],
  text: `WITH chunk AS MATERIALIZED (SELECT priority, records - applied AS waiting FROM beckon.ingest_queue LIMIT $1)
         SELECT 'beckon_queue_records' AS gauge, l.priority AS a, NULL AS b, coalesce(sum(chunk.waiting), 0)::float8 AS value
         FROM unnest(ARRAY['live', 'bulk']) AS l(priority) LEFT JOIN chunk ON chunk.priority = l.priority GROUP BY l.priority`,
  values: ({ countedTo }) => [countedTo],
};

const deadLetters: DepthMeasurement = {
  name: 'dead_letters',
  gauges: [{ name: 'beckon_dead_letters', help: 'Dead-lettered records', labels: [] }],
  text: `SELECT 'beckon_dead_letters' AS gauge, NULL AS a, NULL AS b, count(*)::float8 AS value
         FROM (SELECT FROM beckon.dead_letter LIMIT $1) found`,
  values: ({ countedTo }) => [countedTo],
};

const drafts: DepthMeasurement = {
  name: 'drafts',
  gauges: [
    { name: 'beckon_open_drafts', help: 'Drafts that have not ended', labels: ['state'] },
    { name: 'beckon_held_drafts', help: 'Held drafts, by reason', labels: ['reason'] },
  ],
  text: `WITH open AS MATERIALIZED (SELECT state, reason FROM beckon.draft WHERE ended_at IS NULL LIMIT $1)
         SELECT 'beckon_open_drafts' AS gauge, s.state AS a, NULL AS b, count(open.state)::float8 AS value
         FROM unnest($2::text[]) AS s(state) LEFT JOIN open ON open.state = s.state GROUP BY s.state
         UNION ALL
         SELECT 'beckon_held_drafts', reason, NULL, count(*)::float8 FROM open WHERE state = 'held' GROUP BY reason`,
  values: ({ countedTo }) => [countedTo, OPEN_STATES],
};

const alarms: DepthMeasurement = {
  name: 'alarms',
  gauges: [
    {
      name: 'beckon_overdue_seconds',
      help: 'Longest delay of a project with due work, by kind of work',
      labels: ['work'],
    },
    { name: 'beckon_due_drafts', help: 'Due drafts that were not checked yet', labels: [] },
  ],
  text: `SELECT 'beckon_overdue_seconds' AS gauge, w.work AS a, NULL AS b,
                coalesce(greatest(0, extract(epoch FROM $1::timestamptz - min(t.next_at))), 0)::float8 AS value
         FROM unnest(ARRAY['process', 'send', 'webhooks']) AS w(work) LEFT JOIN beckon.project_timer t ON t.work = w.work GROUP BY w.work
         UNION ALL
         SELECT 'beckon_due_drafts', NULL, NULL, count(*)::float8 FROM (
           SELECT FROM beckon.project_timer t CROSS JOIN LATERAL (
             SELECT FROM beckon.draft d
             WHERE d.project_id = t.project_id AND d.due_at <= $1::timestamptz + t.ahead_ms * interval '1 millisecond') due
           WHERE t.work = 'send' AND t.next_at <= $1 LIMIT $2) found`,
  values: ({ now, countedTo }) => [now, countedTo],
};

const emails: DepthMeasurement = {
  name: 'emails',
  gauges: [
    {
      name: 'beckon_unfinished_emails',
      help: 'Emails between claim and result. One in submitting becomes unknown if its process dies.',
      labels: ['state'],
    },
    {
      name: 'beckon_unresolved_emails',
      help: 'Emails of the last 24 hours that failed, or whose delivery is unknown',
      labels: ['state'],
    },
  ],
  text: `WITH underway AS MATERIALIZED (SELECT state FROM beckon.email WHERE next_at IS NOT NULL LIMIT $2),
         unsettled AS MATERIALIZED (
           SELECT d.state FROM beckon.project p CROSS JOIN LATERAL (
             SELECT state FROM beckon.draft d WHERE d.project_id = p.project_id AND d.state IN ('failed', 'unknown')
               AND d.ended_at > $1::timestamptz - interval '24 hours') d
           LIMIT $2)
         SELECT 'beckon_unfinished_emails' AS gauge, s.state AS a, NULL AS b, count(underway.state)::float8 AS value
         FROM unnest(ARRAY['claimed', 'submitting']) AS s(state) LEFT JOIN underway ON underway.state = s.state GROUP BY s.state
         UNION ALL
         SELECT 'beckon_unresolved_emails', s.state, NULL, count(unsettled.state)::float8
         FROM unnest(ARRAY['failed', 'unknown']) AS s(state) LEFT JOIN unsettled ON unsettled.state = s.state GROUP BY s.state`,
  values: ({ now, countedTo }) => [now, countedTo],
};

const outcomes: DepthMeasurement = {
  name: 'outcomes',
  gauges: [
    {
      name: 'beckon_recent_outcomes',
      help: 'Outcomes of the last ten minutes, by type. Bounces have a class.',
      labels: ['type', 'class'],
    },
  ],
  text: `SELECT 'beckon_recent_outcomes' AS gauge, type AS a, class AS b, count(*)::float8 AS value FROM (
           SELECT o.type, CASE WHEN o.type = 'email.bounced' THEN o.class ELSE '' END AS class
           FROM beckon.project p CROSS JOIN LATERAL (
             SELECT type, class FROM beckon.outcome o WHERE o.project_id = p.project_id
               AND o.recorded_at > $1::timestamptz - interval '10 minutes') o
           LIMIT $2) found
         GROUP BY type, class`,
  values: ({ now, countedTo }) => [now, countedTo],
};

const webhooks: DepthMeasurement = {
  name: 'webhooks',
  gauges: [
    { name: 'beckon_webhook_deliveries', help: 'Undelivered webhooks, by state', labels: ['state'] },
    {
      name: 'beckon_webhook_due_deliveries',
      help: 'Webhook deliveries whose next attempt is due',
      labels: [],
    },
    {
      name: 'beckon_webhook_oldest_seconds',
      help: 'Age of the oldest webhook delivery that is not delivered yet',
      labels: [],
    },
    {
      name: 'beckon_webhook_endpoints',
      help: 'Webhook endpoints that are enabled, paused by their circuit breaker (circuit_open), or disabled, by reason',
      labels: ['condition'],
    },
  ],
  text: `WITH open AS MATERIALIZED (
           SELECT state, next_at, created_at FROM beckon.webhook_delivery WHERE next_at IS NOT NULL LIMIT $2)
         SELECT 'beckon_webhook_deliveries' AS gauge, s.state AS a, NULL AS b, count(open.state)::float8 AS value
         FROM unnest(ARRAY['pending', 'delivering']) AS s(state) LEFT JOIN open ON open.state = s.state GROUP BY s.state
         UNION ALL SELECT 'beckon_webhook_due_deliveries', NULL, NULL, count(*)::float8 FROM open WHERE state = 'pending' AND next_at <= $1
         UNION ALL SELECT 'beckon_webhook_oldest_seconds', NULL, NULL,
                          coalesce(greatest(0, extract(epoch FROM $1::timestamptz - min(created_at))), 0)::float8 FROM open
         UNION ALL
         SELECT 'beckon_webhook_endpoints', c.condition, NULL, count(e.id)::float8
         FROM unnest(ARRAY['enabled', 'circuit_open', 'manual', 'gone', 'failing']) AS c(condition)
         LEFT JOIN (SELECT e.id, coalesce(e.disabled_reason, CASE WHEN h.open_until > $1 THEN 'circuit_open' ELSE 'enabled' END) AS condition
                    FROM beckon.webhook_endpoint e
                    LEFT JOIN beckon.webhook_health h ON h.project_id = e.project_id AND h.endpoint_id = e.id) e
           ON e.condition = c.condition
         GROUP BY c.condition`,
  values: ({ now, countedTo }) => [now, countedTo],
};

/** Kinds of background work: the label, and the column with the time at which a row is due. */
const BACKGROUND = [
  { work: 'hits', table: 'hit_count', column: 'classify_at' },
  { work: 'replies', table: 'reply', column: 'forward_at' },
  { work: 'ai_drafts', table: 'ai_drafting', column: 'next_at' },
  { work: 'domain_checks', table: 'sending_domain', column: 'next_check_at' },
  { work: 'tracking_checks', table: 'sending_domain', column: 'tracking_next_at' },
];

const background: DepthMeasurement = {
  name: 'background',
  gauges: [
    {
      name: 'beckon_background_items',
      help: 'Waiting background work: hits to classify, replies to forward, drafts for AI drafting, DNS checks',
      labels: ['work'],
    },
    {
      name: 'beckon_background_overdue_seconds',
      help: 'Longest delay of waiting background work',
      labels: ['work'],
    },
  ],
  text: BACKGROUND.map(
    ({ work, table, column }) =>
      `SELECT 'beckon_background_items' AS gauge, '${work}' AS a, NULL AS b, count(*)::float8 AS value
       FROM (SELECT FROM beckon.${table} WHERE ${column} IS NOT NULL LIMIT $2) found
       UNION ALL
       SELECT 'beckon_background_overdue_seconds', '${work}', NULL,
              coalesce(greatest(0, extract(epoch FROM $1::timestamptz - min(${column}))), 0)::float8
       FROM beckon.${table} WHERE ${column} IS NOT NULL`,
  ).join(' UNION ALL '),
  values: ({ now, countedTo }) => [now, countedTo],
};

const works: DepthMeasurement = {
  name: 'works',
  gauges: [
    { name: 'beckon_active_imports', help: 'Imports that are being checked or run', labels: ['state'] },
    { name: 'beckon_stuck_imports', help: 'Running imports whose worker missed its lease', labels: [] },
    { name: 'beckon_building_audiences', help: 'Audience definitions that are being built', labels: [] },
    {
      name: 'beckon_building_audiences_oldest_seconds',
      help: 'Age of the oldest audience definition that is being built',
      labels: [],
    },
    { name: 'beckon_sending_domains', help: 'Sending domains, by DNS state', labels: ['state'] },
  ],
  text: `WITH work AS MATERIALIZED (SELECT state, lease_until FROM beckon.import WHERE state IN ('checking', 'running') LIMIT $2),
         build AS MATERIALIZED (SELECT created_at FROM beckon.audience_version WHERE state = 'building' LIMIT $2)
         SELECT 'beckon_active_imports' AS gauge, s.state AS a, NULL AS b, count(work.state)::float8 AS value
         FROM unnest(ARRAY['checking', 'running']) AS s(state) LEFT JOIN work ON work.state = s.state GROUP BY s.state
         UNION ALL SELECT 'beckon_stuck_imports', NULL, NULL, count(*)::float8 FROM work WHERE lease_until < $1
         UNION ALL SELECT 'beckon_building_audiences', NULL, NULL, count(*)::float8 FROM build
         UNION ALL SELECT 'beckon_building_audiences_oldest_seconds', NULL, NULL,
                          coalesce(greatest(0, extract(epoch FROM $1::timestamptz - min(created_at))), 0)::float8 FROM build
         UNION ALL
         SELECT 'beckon_sending_domains', s.state, NULL, count(d.id)::float8
         FROM unnest(ARRAY['pending', 'verified', 'degraded', 'failed']) AS s(state)
         LEFT JOIN beckon.sending_domain d ON d.state = s.state GROUP BY s.state`,
  values: ({ now, countedTo }) => [now, countedTo],
};

const logCopies: DepthMeasurement = {
  name: 'log_copies',
  gauges: [
    {
      name: 'beckon_log_copies_failing',
      help: '1 if the last copy of the write-ahead log (WAL) failed',
      labels: [],
    },
  ],
  text: `SELECT 'beckon_log_copies_failing' AS gauge, NULL AS a, NULL AS b,
                coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)::int::float8 AS value
         FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'`,
  values: () => [],
};

export const READINGS: readonly DepthMeasurement[] = [
  ingestQueue,
  queuePriorities,
  deadLetters,
  drafts,
  alarms,
  emails,
  outcomes,
  webhooks,
  background,
  works,
  logCopies,
];
