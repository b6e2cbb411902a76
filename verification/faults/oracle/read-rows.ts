import pg from 'pg';
import { BROKEN } from './broken.ts';
import type { BrokenRow, EventRow, PersonRow, Rows } from './facts.ts';
import { identityOf } from './sent.ts';

/** Rows per page: a long run has hundreds of thousands. */
const PAGE = 5_000;

/** Reads one snapshot without writing. `quietAt`: work that was due long before it must be done. */
export async function readRows(connectionString: string, quietAt: number | null): Promise<Rows> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const of = <T>(text: string): Promise<T[]> => client.query(text).then(({ rows }) => rows as T[]);
    return {
      once: await of(ONCE),
      events: await readAll(client, EVENTS, toEvent),
      people: await readAll(client, PEOPLE, toPerson),
      queues: await of(QUEUES),
      keys: await of(KEYS),
      drafts: await of(DRAFTS),
      moves: await of(MOVES),
      messages: await of(MESSAGES),
      suppressions: await of(SUPPRESSIONS),
      endpoints: await of(ENDPOINTS),
      outcomes: await of(OUTCOMES),
      webhooks: await of(WEBHOOKS),
      deliveries: await of(DELIVERIES),
      attempts: await of(ATTEMPTS),
      audits: await of(AUDITS),
      broken: await readBroken(client, quietAt),
    };
  } finally {
    await client.end();
  }
}

/** The maximum number of reported rows per broken promise. */
const BROKEN_MAX = 20;

async function readBroken(client: pg.Client, quietAt: number | null): Promise<BrokenRow[]> {
  const found: BrokenRow[] = [];
  for (const { invariant, what, rows } of BROKEN) {
    const asked = rows(quietAt === null ? `'-infinity'::timestamptz` : `to_timestamp(${quietAt / 1_000})`);
    const answer = await client.query<{ row: string }>(
      `SELECT x.row::text AS row FROM (${asked}) AS x(row) LIMIT ${BROKEN_MAX}`,
    );
    found.push(...answer.rows.map(({ row }) => ({ invariant, what, row })));
  }
  return found;
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

const ONCE = `SELECT ${PROJECT}, encode(key, 'hex') AS key, status, convert_from(body, 'UTF8') AS body, ${ms('accepted_at', 'acceptedAt')}
  FROM beckon.idempotency`;

const EVENTS = `SELECT ${PROJECT}, external_user_id AS user, name, properties::text AS properties, seq::float8 AS seq,
  ${ms('accepted_at', 'acceptedAt')}, suppressed FROM beckon.event`;
type EventAsRead = Omit<EventRow, 'identity'> & { properties: string };

function toEvent({ properties, ...row }: EventAsRead): EventRow {
  const isOurs = row.suppressed === null;
  return { ...row, identity: isOurs ? null : identityOf(row.user, row.name, JSON.parse(properties)) };
}

const PEOPLE = `SELECT p.project_id::text AS project, p.external_user_id AS user, p.traits, p.name, p.plan, p.signup_date, p.company, p.role,
  p.suppressed_seq::float8 AS "suppressedSeq", p.normal_seq::float8 AS "normalSeq", e.email
  FROM beckon.person p LEFT JOIN beckon.person_email e USING (project_id, external_user_id)`;
type PersonAsRead = PersonRow & Record<(typeof COLUMNS)[number][1], string | null>;
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
}: PersonAsRead): PersonRow {
  const known = COLUMNS.flatMap(([wire, column]) =>
    columns[column] === null ? [] : [[wire, columns[column]]],
  );
  return {
    project,
    user,
    traits: { ...traits, ...(Object.fromEntries(known) as Record<string, string>) },
    email,
    suppressedSeq,
    normalSeq,
  };
}

const QUEUES = `SELECT ${PROJECT}, next_seq::float8 AS "nextSeq", waiting::float8 AS waiting FROM beckon.ingest_queue_state`;
const KEYS = `SELECT ${PROJECT}, id, ${ms('revoked_at', 'revokedAt')} FROM beckon.api_key`;
const DRAFTS = `SELECT ${PROJECT}, id, external_user_id AS user, state, resume_state AS "resumeState", reason,
  ${ms('deadline_at', 'deadlineAt')}, ${ms('not_before', 'notBefore')}, ${ms('due_at', 'dueAt')}, moves FROM beckon.draft`;
const MOVES = `SELECT ${PROJECT}, draft_id AS draft, number, ${ms('at', 'at')}, action, from_state AS from, to_state AS to, actor
  FROM beckon.draft_move ORDER BY project_id, draft_id, number`;
const MESSAGES = `SELECT ${PROJECT}, draft_id AS draft, id, external_user_id AS user, address, state, reason, epoch, attempts,
  ${ms('first_at', 'firstAt')} FROM beckon.email`;
const SUPPRESSIONS = `SELECT ${PROJECT}, kind, value, ${ms('until', 'until')}, ${ms('created_at', 'createdAt')} FROM beckon.suppression`;
const ENDPOINTS = `SELECT ${PROJECT}, id, url, types, ${ms('created_at', 'createdAt')}, ${ms('disabled_at', 'disabledAt')},
  disabled_reason AS "disabledReason" FROM beckon.webhook_endpoint`;
const OUTCOMES = `SELECT ${PROJECT}, id, type, class, ${ms('recorded_at', 'recordedAt')} FROM beckon.outcome`;
const WEBHOOKS = `SELECT ${PROJECT}, id, outcome_id AS outcome, type, body, ${ms('created_at', 'createdAt')} FROM beckon.webhook`;
const DELIVERIES = `SELECT ${PROJECT}, webhook_id AS webhook, endpoint_id AS endpoint, state, tries, attempts, ${ms('next_at', 'nextAt')}
  FROM beckon.webhook_delivery`;
const ATTEMPTS = `SELECT ${PROJECT}, webhook_id AS webhook, endpoint_id AS endpoint, number, ${ms('started_at', 'startedAt')},
  ${ms('ended_at', 'endedAt')}, status FROM beckon.webhook_attempt`;
const AUDITS = `SELECT ${PROJECT}, ${ms('at', 'at')}, action, subject, completed AS "isDone" FROM beckon.audit`;
