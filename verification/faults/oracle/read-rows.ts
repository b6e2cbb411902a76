import pg from 'pg';
import { ROW_CHECKS } from './row-checks.ts';
import type { ViolatingRow, EventRow, PersonRow, Rows } from './facts.ts';
import { identityOf } from './request-results.ts';

/** Rows per page: a long run has hundreds of thousands. */
const PAGE = 5_000;

/** Reads one snapshot without writing. `quietAt`: work that was due long before it must be done. */
export async function readRows(connectionString: string, quietAt: number | null): Promise<Rows> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const select = <T>(text: string): Promise<T[]> => client.query(text).then(({ rows }) => rows as T[]);
    return {
      idempotencyKeys: await select(STATEMENTS.idempotencyKeys),
      events: await readAll(client, STATEMENTS.events, toEvent),
      people: await readAll(client, STATEMENTS.people, toPerson),
      queues: await select(STATEMENTS.queues),
      keys: await select(STATEMENTS.keys),
      drafts: await select(STATEMENTS.drafts),
      moves: await select(STATEMENTS.moves),
      emails: await select(STATEMENTS.emails),
      suppressions: await select(STATEMENTS.suppressions),
      endpoints: await select(STATEMENTS.endpoints),
      outcomes: await select(STATEMENTS.outcomes),
      webhooks: await select(STATEMENTS.webhooks),
      deliveries: await select(STATEMENTS.deliveries),
      attempts: await select(STATEMENTS.attempts),
      audits: await select(STATEMENTS.audits),
      violations: await readViolations(client, quietAt),
    };
  } finally {
    await client.end();
  }
}

/** The maximum number of reported rows per broken promise. */
const VIOLATIONS_MAX = 20;

async function readViolations(client: pg.Client, quietAt: number | null): Promise<ViolatingRow[]> {
  const violations: ViolatingRow[] = [];
  for (const { invariant, problem, rows } of ROW_CHECKS) {
    const query = rows(quietAt === null ? `'-infinity'::timestamptz` : `to_timestamp(${quietAt / 1_000})`);
    const result = await client.query<{ row: string }>(
      `SELECT x.row::text AS row FROM (${query}) AS x(row) LIMIT ${VIOLATIONS_MAX}`,
    );
    violations.push(...result.rows.map(({ row }) => ({ invariant, problem, row })));
  }
  return violations;
}

async function readAll<Row, T>(client: pg.Client, text: string, toFact: (row: Row) => T): Promise<T[]> {
  const facts: T[] = [];
  await client.query(`DECLARE page NO SCROLL CURSOR FOR ${text}`);
  for (;;) {
    const { rows } = await client.query(`FETCH ${PAGE} FROM page`);
    for (const row of rows as Row[]) facts.push(toFact(row));
    if (rows.length < PAGE) break;
  }
  await client.query('CLOSE page');
  return facts;
}

/** Bigints come as text, and times in PostgreSQL's own format. Both are converted to the formats of the journals. */
const ms = (column: string, name: string): string =>
  `(extract(epoch FROM ${column}) * 1000)::float8 AS "${name}"`;
const PROJECT = `project_id::text AS project`;

/** A test of all statements lets PostgreSQL parse these too. */
export const STATEMENTS = {
  idempotencyKeys: `SELECT ${PROJECT}, encode(key, 'hex') AS key, status, convert_from(body, 'UTF8') AS body, ${ms('accepted_at', 'acceptedAt')}
  FROM beckon.idempotency`,
  events: `SELECT ${PROJECT}, external_user_id AS user, name, properties::text AS properties, seq::float8 AS seq,
  ${ms('accepted_at', 'acceptedAt')}, suppressed FROM beckon.event`,
  people: `SELECT p.project_id::text AS project, p.external_user_id AS user, p.traits, p.name, p.plan, p.signup_date, p.company, p.role,
  p.suppressed_seq::float8 AS "suppressedSeq", p.normal_seq::float8 AS "normalSeq", e.email
  FROM beckon.person p LEFT JOIN beckon.person_email e USING (project_id, external_user_id)`,
  queues: `SELECT ${PROJECT}, next_seq::float8 AS "nextSeq", waiting::float8 AS waiting FROM beckon.ingest_queue_state`,
  keys: `SELECT ${PROJECT}, id, ${ms('revoked_at', 'revokedAt')} FROM beckon.api_key`,
  drafts: `SELECT ${PROJECT}, id, external_user_id AS user, state, resume_state AS "resumeState", reason,
  ${ms('deadline_at', 'deadlineAt')}, ${ms('not_before', 'notBefore')}, ${ms('due_at', 'dueAt')}, moves FROM beckon.draft`,
  moves: `SELECT ${PROJECT}, draft_id AS draft, number, ${ms('at', 'at')}, action, from_state AS from, to_state AS to, actor
  FROM beckon.draft_move ORDER BY project_id, draft_id, number`,
  emails: `SELECT ${PROJECT}, draft_id AS draft, id, external_user_id AS user, address, state, reason, epoch, attempts,
  ${ms('first_at', 'firstAt')} FROM beckon.email`,
  suppressions: `SELECT ${PROJECT}, kind, value, ${ms('until', 'until')}, ${ms('created_at', 'createdAt')} FROM beckon.suppression`,
  endpoints: `SELECT ${PROJECT}, id, url, types, ${ms('created_at', 'createdAt')}, ${ms('disabled_at', 'disabledAt')},
  disabled_reason AS "disabledReason" FROM beckon.webhook_endpoint`,
  outcomes: `SELECT ${PROJECT}, id, email_id AS email, type, class, ${ms('recorded_at', 'recordedAt')} FROM beckon.outcome`,
  webhooks: `SELECT ${PROJECT}, id, outcome_id AS outcome, type, body, ${ms('created_at', 'createdAt')} FROM beckon.webhook`,
  deliveries: `SELECT ${PROJECT}, webhook_id AS webhook, endpoint_id AS endpoint, state, tries, attempts, ${ms('next_at', 'nextAt')}
  FROM beckon.webhook_delivery`,
  attempts: `SELECT ${PROJECT}, webhook_id AS webhook, endpoint_id AS endpoint, number, ${ms('started_at', 'startedAt')},
  ${ms('ended_at', 'endedAt')}, status FROM beckon.webhook_attempt`,
  audits: `SELECT ${PROJECT}, ${ms('at', 'at')}, action, subject, completed AS "isCompleted" FROM beckon.audit`,
};

type StoredEvent = Omit<EventRow, 'identity'> & { properties: string };

function toEvent({ properties, ...row }: StoredEvent): EventRow {
  const isOwnEvent = row.suppressed === null;
  return { ...row, identity: isOwnEvent ? null : identityOf(row.user, row.name, JSON.parse(properties)) };
}

type StoredPerson = PersonRow & Record<(typeof COLUMNS)[number][1], string | null>;
/** Traits that have a column of their own, as the wire names them. */
const COLUMNS = [
  ['name', 'name'],
  ['plan', 'plan'],
  ['signupDate', 'signup_date'],
  ['company', 'company'],
  ['role', 'role'],
] as const;

function toPerson({
  project,
  user,
  traits,
  email,
  suppressedSeq,
  normalSeq,
  ...columns
}: StoredPerson): PersonRow {
  const columnTraits = COLUMNS.flatMap(([wire, column]) =>
    columns[column] === null ? [] : [[wire, columns[column]]],
  );
  return {
    project,
    user,
    traits: { ...traits, ...(Object.fromEntries(columnTraits) as Record<string, string>) },
    email,
    suppressedSeq,
    normalSeq,
  };
}
