/**
 * Reads what was known about users at past times: everything received by then, and nothing later. Each query has its own time in
 * milliseconds. Answers have the order of the queries. Meant for some hundred at once.
 */

import type { NamedEvent, NewestEvent, Total } from '../users/index.ts';
import { momentList, plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { WindowQuery } from '../../platform/predicate/predicate.ts';
import { propertyTestsSql, sqlParams, windowSumSql } from '../../platform/predicate/sql-values.ts';

type UserAsOf = { projectId: number; userId: string; by: number };
type EventAsOf = UserAsOf & { name: string };

const USERS = `unnest($1::bigint[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS q(project_id, user_id, by, n)`;
const EVENTS = `unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[])
  WITH ORDINALITY AS q(project_id, user_id, by, name, n)`;
const OF_PERSON = `e.project_id = q.project_id AND e.external_user_id = q.user_id`;

function columnsOf(queries: UserAsOf[]): unknown[] {
  return [
    plainList(queries.map(({ projectId }) => projectId)),
    queries.map(({ userId }) => userId),
    momentList(queries.map(({ by }) => by)),
  ];
}

function namesOf(queries: NamedEvent[]): string[] {
  return queries.map(({ name }) => name);
}

/** Finds the newest event by the time it occurred. */
export async function findNewestAsOf(tx: Tx, queries: EventAsOf[]): Promise<(NewestEvent | undefined)[]> {
  const found = queries.map((): NewestEvent | undefined => undefined);
  if (queries.length === 0) return found;
  const rows = await tx.query<{
    n: number;
    id: string;
    seq: number;
    properties: Record<string, unknown>;
    occurred_ms: number;
    accepted_ms: number;
  }>(
    `SELECT q.n::int AS n, e.* FROM ${EVENTS}
     CROSS JOIN LATERAL (
       SELECT e.id, e.seq, e.properties, (extract(epoch FROM e.occurred_at) * 1000)::float8 AS occurred_ms,
         (extract(epoch FROM e.accepted_at) * 1000)::float8 AS accepted_ms
       FROM beckon.event e WHERE ${OF_PERSON} AND e.name = q.name AND e.received_at <= q.by
       ORDER BY e.occurred_at DESC, e.seq DESC LIMIT 1
     ) e`,
    [...columnsOf(queries), namesOf(queries)],
  );
  for (const { n, occurred_ms, accepted_ms, ...row } of rows) {
    const query = queries[n - 1];
    if (!query) continue;
    const moments = { occurredAt: Math.round(occurred_ms), acceptedAt: Math.round(accepted_ms) };
    found[n - 1] = { ...row, ...moments, projectId: query.projectId, userId: query.userId, name: query.name };
  }
  return found;
}

/** Counts the events that are still stored today. */
export async function countAsOf(tx: Tx, queries: EventAsOf[]): Promise<(Total | undefined)[]> {
  const found = queries.map((): Total | undefined => undefined);
  if (queries.length === 0) return found;
  const rows = await tx.query<{ n: number; count: number; first_ms: number; last_ms: number }>(
    `SELECT q.n::int AS n, e.* FROM ${EVENTS}
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS count, (extract(epoch FROM min(e.occurred_at)) * 1000)::float8 AS first_ms,
         (extract(epoch FROM max(e.occurred_at)) * 1000)::float8 AS last_ms
       FROM beckon.event e WHERE ${OF_PERSON} AND e.name = q.name AND e.received_at <= q.by
     ) e WHERE e.count > 0`,
    [...columnsOf(queries), namesOf(queries)],
  );
  for (const { n, count, first_ms, last_ms } of rows) {
    const query = queries[n - 1];
    if (!query) continue;
    const { projectId, userId, name } = query;
    found[n - 1] = {
      projectId,
      userId,
      name,
      count,
      firstAt: Math.round(first_ms),
      lastAt: Math.round(last_ms),
    };
  }
  return found;
}

/** `at`: when the nth newest event in the window occurred or, for a sum, the oldest. Null without such an event. */
type WindowValue = { at: number | null; sum: number };

/** Answers one question for windows that end at the given times. */
export async function evaluateWindowAsOf(
  tx: Tx,
  query: WindowQuery,
  users: UserAsOf[],
): Promise<WindowValue[]> {
  const found = users.map((): WindowValue => ({ at: null, sum: 0 }));
  if (users.length === 0) return found;
  const { window, event } = query;
  const params = sqlParams([...columnsOf(users), event, window.withinMs / 1_000]);
  const context = { params, now: 'q.by', properties: 'e.properties' };
  const events = `FROM beckon.event e
    WHERE ${OF_PERSON} AND e.name = $4::text AND e.received_at <= q.by
      AND e.occurred_at > q.by - make_interval(secs => $5::float8) AND (${propertyTestsSql(window.where, context)})`;
  const valueSql =
    query.kind === 'nth'
      ? `SELECT date_part('epoch', e.occurred_at) * 1000 AS at, 0::float8 AS sum ${events}
         ORDER BY e.occurred_at DESC OFFSET ${params.add(query.nth)}::int - 1 LIMIT 1`
      : `SELECT date_part('epoch', min(e.occurred_at)) * 1000 AS at, ${windowSumSql(query.property, context).sum} AS sum ${events}`;
  const rows = await tx.query<{ n: number; at: number | null; sum: number }>(
    `SELECT q.n::int AS n, a.at, a.sum FROM ${USERS} CROSS JOIN LATERAL (${valueSql}) a`,
    params.values,
  );
  for (const { n, at, sum } of rows) found[n - 1] = { at: at === null ? null : Math.round(at), sum };
  return found;
}

/**
 * The last suppressed event, the last normal event, and the first normal event after the last suppressed one, in the order of acceptance.
 * Meant only for users with a suppressed event.
 */
type WatermarkAsOf = {
  suppressedSeq: number | null;
  normalSeq: number | null;
  liveSeq: number | null;
};

export async function findWatermarksAsOf(tx: Tx, users: UserAsOf[]): Promise<WatermarkAsOf[]> {
  const found = users.map((): WatermarkAsOf => ({ suppressedSeq: null, normalSeq: null, liveSeq: null }));
  if (users.length === 0) return found;
  const fromSql = `FROM beckon.event e WHERE ${OF_PERSON} AND e.received_at <= q.by`;
  const rows = await tx.query<{ n: number } & WatermarkAsOf>(
    `SELECT q.n::int AS n, s.seq AS "suppressedSeq", m.normal AS "normalSeq", m.live AS "liveSeq" FROM ${USERS}
     CROSS JOIN LATERAL (SELECT max(e.seq) AS seq ${fromSql} AND e.suppressed) s
     CROSS JOIN LATERAL (
       SELECT max(e.seq) AS normal, min(e.seq) FILTER (WHERE e.seq > s.seq) AS live ${fromSql} AND NOT e.suppressed
     ) m`,
    columnsOf(users),
  );
  for (const { n, ...mark } of rows) found[n - 1] = mark;
  return found;
}

/** `since`: events that occurred earlier do not count. */
type FirstEventQuery = UserAsOf & { since: number };

/** Returns when the first event of any of these names was received after the time and up to `until`, or null. */
export async function findFirstAfter(
  tx: Tx,
  { queries, names, until }: { queries: FirstEventQuery[]; names: string[]; until: number },
): Promise<(number | null)[]> {
  const found = queries.map((): number | null => null);
  if (queries.length === 0 || names.length === 0) return found;
  const rows = await tx.query<{ n: number; at: number | null }>(
    `SELECT q.n::int AS n, e.at FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[])
       WITH ORDINALITY AS q(project_id, user_id, by, since, n)
     CROSS JOIN LATERAL (
       SELECT (extract(epoch FROM min(e.received_at)) * 1000)::float8 AS at
       FROM unnest($5::text[]) AS w(name) JOIN beckon.event e ON ${OF_PERSON} AND e.name = w.name
       WHERE e.occurred_at >= q.since AND e.received_at > q.by AND e.received_at <= $6
     ) e WHERE e.at IS NOT NULL`,
    [...columnsOf(queries), momentList(queries.map(({ since }) => since)), names, new Date(until)],
  );
  for (const { n, at } of rows) found[n - 1] = at === null ? null : Math.ceil(at);
  return found;
}

/** A stored event with the time of its storage. Times are in milliseconds. */
export type ReceivedEvent = {
  id: string;
  userId: string;
  name: string;
  properties: Record<string, unknown>;
  occurredAt: number;
  acceptedAt: number;
  receivedAt: number;
  seq: number;
};

type ReceivedPage = {
  projectId: number;
  names: string[];
  /** The range of receive times: from `from` on and before `until`. */
  from: number;
  until: number;
  /** The maximum number of events of any name to read. Events of one millisecond stay together. */
  looksAt: number;
};

/**
 * Lists events of these names in the order of receipt. They are searched among all events of that time, so a page is limited by the number
 * of events read. `upTo` is the start of the next page.
 */
export async function listReceived(
  tx: Tx,
  page: ReceivedPage,
): Promise<{ events: ReceivedEvent[]; upTo: number }> {
  const upTo = await findPageEnd(tx, page);
  const rows = await tx.query<Row>(
    `SELECT id, external_user_id, name, properties, seq, (extract(epoch FROM occurred_at) * 1000)::float8 AS occurred_ms,
       (extract(epoch FROM accepted_at) * 1000)::float8 AS accepted_ms, (extract(epoch FROM received_at) * 1000)::float8 AS received_ms
     FROM beckon.event
     WHERE project_id = $1 AND received_at >= $2 AND received_at < $3 AND name = ANY ($4::text[])
     ORDER BY received_at, seq`,
    [page.projectId, new Date(page.from), new Date(upTo), page.names],
  );
  return { events: rows.map(toEvent), upTo };
}

async function findPageEnd(tx: Tx, { projectId, from, until, looksAt }: ReceivedPage): Promise<number> {
  const rows = await tx.query<{ at: number }>(
    `SELECT (extract(epoch FROM received_at) * 1000)::float8 AS at FROM beckon.event
     WHERE project_id = $1 AND received_at >= $2 AND received_at < $3
     ORDER BY received_at OFFSET $4::int - 1 LIMIT 1`,
    [projectId, new Date(from), new Date(until), looksAt],
  );
  const [last] = rows;
  return last ? Math.min(Math.floor(last.at) + 1, until) : until;
}

type Row = {
  id: string;
  external_user_id: string;
  name: string;
  properties: Record<string, unknown>;
  seq: number;
  occurred_ms: number;
  accepted_ms: number;
  received_ms: number;
};

function toEvent(row: Row): ReceivedEvent {
  const { id, name, properties, seq } = row;
  return {
    id,
    name,
    properties,
    seq,
    userId: row.external_user_id,
    occurredAt: Math.round(row.occurred_ms),
    acceptedAt: Math.round(row.accepted_ms),
    receivedAt: Math.ceil(row.received_ms),
  };
}
