import { ORDER_EVENT } from '../stage/world.ts';

/** A promise that the database alone shows to be broken. `rows` returns one short text for each row that breaks it. */
export type RowCheck = { invariant: string; problem: string; rows: (quietAt: string) => string };

/** The time within which anything due has been checked, on a busy machine. */
const LATE = `interval '1 minute'`;

/** I12: every row refers only to rows of its own project. */
const REFERENCES: [table: string, column: string, to: string, key: string][] = [
  ['draft', 'rule_id', 'rule', 'id'],
  ['draft', 'external_user_id', 'person', 'external_user_id'],
  ['draft_move', 'draft_id', 'draft', 'id'],
  ['email', 'draft_id', 'draft', 'id'],
  ['email', 'external_user_id', 'person', 'external_user_id'],
  ['run', 'rule_id', 'rule', 'id'],
  ['run', 'external_user_id', 'person', 'external_user_id'],
  ['enrollment_record', 'rule_id', 'rule', 'id'],
  ['outcome', 'email_id', 'email', 'id'],
  ['outcome', 'draft_id', 'draft', 'id'],
  ['hit', 'email_id', 'email', 'id'],
  ['tracking_link', 'email_id', 'email', 'id'],
  ['reply', 'email_id', 'email', 'id'],
  ['webhook_delivery', 'webhook_id', 'webhook', 'id'],
  ['webhook_delivery', 'endpoint_id', 'webhook_endpoint', 'id'],
  ['webhook_attempt', 'webhook_id', 'webhook', 'id'],
  ['webhook', 'outcome_id', 'outcome', 'id'],
  ['api_key', 'project_id', 'project', 'project_id'],
  ['event', 'external_user_id', 'person', 'external_user_id'],
  ['audience_member', 'external_user_id', 'person', 'external_user_id'],
];

const ISOLATION: RowCheck[] = REFERENCES.map(([table, column, to, key]) => ({
  invariant: 'I12',
  problem: `${table}: a row refers to a ${to} of another project`,
  rows: () => `SELECT format('project %s: %s', x.project_id, x.${column}) FROM beckon.${table} x
    WHERE x.${column} IS NOT NULL AND NOT EXISTS (
      SELECT FROM beckon.${to} y WHERE y.project_id = x.project_id AND y.${key} = x.${column})`,
}));

/** I13: no lock or lease is held, no temporary row is left, and everything due has been checked. */
const SETTLEMENT: RowCheck[] = [
  leftover(
    'accepted records are not processed',
    `SELECT format('project %s: %s in %s', project_id, records, priority) FROM beckon.ingest_queue`,
  ),
  leftover(
    'a queue row counts records that do not exist',
    `SELECT format('project %s: %s', project_id, waiting) FROM beckon.ingest_queue_state WHERE waiting <> 0`,
  ),
  leftover(
    'an email is still claimed',
    `SELECT format('project %s: %s %s', project_id, id, state) FROM beckon.email WHERE state IN ('claimed', 'submitting')`,
  ),
  leftover(
    'an email is deferred, but its draft has ended',
    `SELECT format('project %s: %s, draft %s', m.project_id, m.id, d.state) FROM beckon.email m
     JOIN beckon.draft d ON d.project_id = m.project_id AND d.id = m.draft_id
     WHERE m.state = 'deferred' AND d.state NOT IN ('held', 'canceled')
       AND (m.attempts > 0 OR d.state NOT IN ('scheduled', 'approved'))`,
  ),
  leftover(
    'a webhook delivery is still claimed',
    `SELECT format('project %s: %s', project_id, webhook_id) FROM beckon.webhook_delivery WHERE state = 'delivering'`,
  ),
  leftover(
    'an attempt has no end',
    `SELECT format('project %s: %s, %s', project_id, webhook_id, number) FROM beckon.webhook_attempt WHERE ended_at IS NULL`,
  ),
  leftover(
    'an import is still claimed',
    `SELECT format('project %s: %s', project_id, id) FROM beckon.import WHERE lease_until IS NOT NULL AND state = 'running'`,
  ),
  leftover(
    'a run waits for a draft that has ended or does not exist',
    `SELECT format('project %s: %s', r.project_id, r.id) FROM beckon.run r
     WHERE r.state = 'active' AND r.waits_for = 'draft' AND NOT EXISTS (
       SELECT FROM beckon.draft d WHERE d.project_id = r.project_id AND d.run_id = r.id AND d.ended_at IS NULL)`,
  ),
  leftover(
    'a record could not be applied',
    `SELECT format('project %s: %s, %s', project_id, seq, reason) FROM beckon.dead_letter`,
    'I1',
  ),
  overdue('a hit is not classified', 'hit_count', 'classify_at'),
  overdue('a due run was not processed', 'run', `CASE WHEN state = 'active' THEN next_at END`),
  overdue('a due rule timer was not processed', 'rule_timer', 'at'),
  overdue('a due audience timer was not processed', 'audience_timer', 'at'),
  overdue(
    'a reply to an email is not forwarded',
    'reply',
    `CASE WHEN forwarded_at IS NULL THEN forward_at END`,
  ),
  {
    invariant: 'I13',
    problem: 'work is due, but its project timer is not set',
    rows: () => `SELECT format('%s of project %s', w.work, w.project_id) FROM (
        SELECT project_id, 'send' AS work, min(due_at) AS at FROM beckon.draft WHERE due_at IS NOT NULL GROUP BY 1
        UNION ALL SELECT project_id, 'webhooks', min(next_at) FROM beckon.webhook_delivery WHERE next_at IS NOT NULL GROUP BY 1
        UNION ALL SELECT project_id, 'process', min(at) FROM beckon.rule_timer GROUP BY 1
        UNION ALL SELECT project_id, 'process', min(next_at) FROM beckon.run WHERE state = 'active' AND next_at IS NOT NULL GROUP BY 1
      ) w JOIN beckon.project_timer t USING (project_id, work)
      WHERE (t.next_at IS NULL OR t.next_at > w.at + ${LATE})
        AND NOT EXISTS (SELECT FROM beckon.project_settings s WHERE s.project_id = w.project_id AND s.settings ->> 'paused' = 'true')`,
  },
];

function leftover(problem: string, rows: string, invariant = 'I13'): RowCheck {
  return { invariant, problem, rows: () => rows };
}

function overdue(problem: string, table: string, moment: string): RowCheck {
  return {
    invariant: 'I13',
    problem,
    rows: (quietAt) =>
      `SELECT format('project %s since %s', project_id, ${moment}) FROM beckon.${table} WHERE (${moment}) < ${quietAt} - ${LATE}`,
  };
}

/** I1: running counts match the stored rows. Work that was done twice is counted twice. */
const COUNTS: RowCheck[] = [
  {
    invariant: 'I1',
    problem: 'event counts do not match the stored events',
    rows: () => `SELECT format('project %s, %s: counted %s, there %s', project_id, name, coalesce(v.count, 0), coalesce(e.count, 0))
      FROM (SELECT project_id, name, sum(count) AS count FROM beckon.event_volume GROUP BY 1, 2) v
      FULL JOIN (SELECT project_id, name, count(*) AS count FROM beckon.event GROUP BY 1, 2) e USING (project_id, name)
      WHERE v.count IS DISTINCT FROM e.count`,
  },
  {
    invariant: 'I1',
    problem: 'no rule evaluated an order',
    rows: () => `SELECT format('project %s, %s: %s', e.project_id, e.external_user_id, e.properties ->> 'order') FROM beckon.event e
      WHERE e.name = '${ORDER_EVENT}' AND e.properties ? 'order'
        AND NOT EXISTS (SELECT FROM beckon.enrollment_record x WHERE x.project_id = e.project_id
          AND x.external_user_id = e.external_user_id AND x.key = jsonb_build_array(e.properties -> 'order')::text)
        AND NOT EXISTS (SELECT FROM beckon.decision d WHERE d.project_id = e.project_id
          AND d.external_user_id = e.external_user_id AND d.key = jsonb_build_array(e.properties -> 'order')::text)`,
  },
  {
    invariant: 'I1',
    problem: 'an enrollment does not have exactly one run with one email',
    rows: () => `SELECT format('project %s, %s: %s', x.project_id, x.external_user_id, x.key) FROM beckon.enrollment_record x
      LEFT JOIN beckon.run r ON r.project_id = x.project_id AND r.external_user_id = x.external_user_id
        AND r.rule_id = x.rule_id AND r.key = x.key
      LEFT JOIN beckon.draft d ON d.project_id = r.project_id AND d.run_id = r.id AND d.resend_of IS NULL
      WHERE r.variant IS DISTINCT FROM 'holdout'
      GROUP BY x.project_id, x.external_user_id, x.rule_id, x.key HAVING count(DISTINCT r.id) <> 1 OR count(d.id) <> 1`,
  },
];

export const ROW_CHECKS: RowCheck[] = [...ISOLATION, ...SETTLEMENT, ...COUNTS];
