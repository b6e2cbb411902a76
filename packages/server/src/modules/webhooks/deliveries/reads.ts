import {
  DELIVERY_STATES,
  type EmailWebhook,
  type FILTER_KEYS,
  type SortOf,
} from '@beckon/contract/dashboard';
import type { EndpointRef } from '../endpoints/endpoint.ts';
import { byProject } from '../../../platform/db/distributed.ts';
import { plainList } from '../../../platform/db/list.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  NO_FILTER,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';
import { readAs } from '../../../platform/db/read-as.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type DeliveryState,
  type FollowedWebhook,
  type MessageCursor,
  type EndpointCapacity,
  TEST_TYPE,
  type AttemptTrigger,
} from './webhook.ts';

/**
 * When each endpoint needs work next, as a relation of project_id and time.
 *
 * - A delivery in progress counts as lost when its lease ends.
 * - A pending delivery is due at its time, but not before the circuit breaker allows one and a token is available.
 * - If the endpoint's limit of deliveries in progress is reached, it waits for an answer, and recording that answer evaluates this again.
 * - A pending delivery of a disabled endpoint is marked as missed immediately.
 *
 * Reads the tables of endpoints.
 */
const NEXT_WORK = `
  SELECT e.project_id, least(w.lease, CASE
    WHEN w.pending IS NULL THEN NULL
    WHEN e.disabled_at IS NOT NULL THEN e.disabled_at
    WHEN w.in_flight < CASE WHEN h.open_until IS NULL THEN e.in_flight_max ELSE 1 END
      THEN greatest(w.pending, h.open_until, h.refilled_at + make_interval(secs => greatest(0, 1 - h.tokens) / e.per_second))
    END) AS at
  FROM beckon.webhook_endpoint e
  JOIN beckon.webhook_health h ON h.project_id = e.project_id AND h.endpoint_id = e.id
  CROSS JOIN LATERAL (
    SELECT
      (SELECT d.next_at FROM beckon.webhook_delivery d WHERE d.project_id = e.project_id AND d.endpoint_id = e.id
         AND d.state = 'pending' AND d.next_at IS NOT NULL ORDER BY d.next_at LIMIT 1) AS pending,
      (SELECT d.next_at FROM beckon.webhook_delivery d WHERE d.project_id = e.project_id AND d.endpoint_id = e.id
         AND d.state = 'delivering' AND d.next_at IS NOT NULL ORDER BY d.next_at LIMIT 1) AS lease,
      (SELECT count(*) FROM beckon.webhook_delivery d WHERE d.project_id = e.project_id AND d.endpoint_id = e.id
         AND d.state = 'delivering' AND d.next_at IS NOT NULL) AS in_flight
  ) w`;

/** Returns when each project needs work on webhook deliveries next. Projects without any are left out. */
export async function nextWorkTimes(tx: Tx, projectIds: number[]): Promise<Map<number, number>> {
  const rows = await byProject(tx, { rows: projectIds, projectOf: (projectId) => projectId }, (ids) =>
    tx.prepared<{ project_id: number; at: Date | null }>({
      name: 'webhooks.next',
      text: `SELECT project_id, min(at) AS at FROM (${NEXT_WORK} WHERE e.project_id = ANY ($1::bigint[])) x GROUP BY project_id`,
      values: [plainList(ids)],
    }),
  );
  return new Map(rows.flatMap(({ project_id: id, at }) => (at === null ? [] : [[id, at.getTime()]])));
}

/** Returns when a delivery of the project needs work next, in milliseconds. */
export async function nextDeliveryAt(tx: Tx, projectId: number): Promise<number | null> {
  return (await nextWorkTimes(tx, [projectId])).get(projectId) ?? null;
}

/** Returns projects whose webhook alarm is too late or missing. Reads the table `project_timer` of another module. */
export async function listLateWebhookProjects(tx: Tx): Promise<number[]> {
  const rows = await tx.query<{ project_id: number }>(
    `SELECT x.project_id FROM (SELECT project_id, min(at) AS at FROM (${NEXT_WORK}) l GROUP BY project_id) x
     JOIN beckon.project_timer t ON t.project_id = x.project_id AND t.work = 'webhooks'
     WHERE x.at IS NOT NULL AND (t.next_at IS NULL OR t.next_at > x.at)`,
  );
  return rows.map((row) => row.project_id);
}

/** The deliveries of an endpoint that are in progress, and how many are due. The count stops at the number that may be claimed. */
export type Load = EndpointRef & { inFlight: number; due: number };

export function listLoads(tx: Tx, capacities: EndpointCapacity[], now: number): Promise<Load[]> {
  return tx.prepared({
    name: 'webhooks.loads',
    text: `SELECT r.project_id AS "projectId", r.endpoint_id AS "endpointId",
             (SELECT count(*) FROM beckon.webhook_delivery d WHERE d.project_id = r.project_id AND d.endpoint_id = r.endpoint_id
                AND d.state = 'delivering' AND d.next_at IS NOT NULL) AS "inFlight",
             (SELECT count(*) FROM (SELECT 1 FROM beckon.webhook_delivery d WHERE d.project_id = r.project_id
                AND d.endpoint_id = r.endpoint_id AND d.state = 'pending' AND d.next_at <= $4 LIMIT r.most) x) AS due
           FROM unnest($1::bigint[], $2::uuid[], $3::integer[]) AS r(project_id, endpoint_id, most)`,
    values: [
      plainList(capacities.map(({ projectId }) => projectId)),
      plainList(capacities.map(({ endpointId }) => endpointId)),
      plainList(capacities.map(({ most }) => most)),
      new Date(now),
    ],
  });
}

export type DeliveryAttempt = {
  number: number;
  trigger: AttemptTrigger;
  url: string;
  startedAt: number;
  endedAt: number | null;
  status: number | null;
  error: string | null;
  response: string | null;
};
export type DeliverySummary = {
  webhookId: string;
  endpointId: string;
  type: string;
  state: DeliveryState;
  trigger: AttemptTrigger;
  isErased: boolean;
  createdAt: number;
  nextAt: number | null;
  deliveredAt: number | null;
  attempts: DeliveryAttempt[];
};
export type DeliveriesQuery = {
  projectId: number;
  endpointId: string | null;
  webhookId: string | null;
  states: DeliveryState[] | null;
  filter?: Filter;
  /** By the creation of the webhook. Default: newest first. */
  sort?: SortOf<'deliveries'>;
  /** Continues after this delivery. If left out, starts at the beginning. */
  after?: { createdAt: number; webhookId: string; endpointId: string } | null;
  limit: number;
};

type DeliveryRow = {
  webhook_id: string;
  endpoint_id: string;
  type: string;
  state: DeliveryState;
  trigger: AttemptTrigger;
  erased: boolean;
  created_at: Date;
  next_at: Date | null;
  delivered_at: Date | null;
  attempts: {
    number: number;
    trigger: AttemptTrigger;
    url: string;
    at: number;
    end: number | null;
    status: number | null;
    error: string | null;
    response: string | null;
  }[];
};

const FILTERED: Record<keyof typeof FILTER_KEYS.deliveries | typeof WORDS, FilterColumn> = {
  state: { sql: 'd.state', among: DELIVERY_STATES },
  type: { sql: 'm.type' },
  created: { sql: 'm.created_at', isTime: true },
  [WORDS]: wordsColumn(['m.type', 'm.id::text']),
};

const SELECTED = `m.project_id = $1 AND ($2::uuid IS NULL OR d.endpoint_id = $2) AND ($3::uuid IS NULL OR m.id = $3)
       AND ($4::text[] IS NULL OR d.state = ANY ($4))`;

/** Counts the deliveries, up to `most`. */
export async function countDeliveries(
  tx: Tx,
  { projectId, endpointId, webhookId, states, filter = NO_FILTER, limit }: DeliveriesQuery,
): Promise<number> {
  const values: unknown[] = [projectId, endpointId, webhookId, states, limit];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const [counted] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM beckon.webhook m
       JOIN beckon.webhook_delivery d ON d.project_id = m.project_id AND d.webhook_id = m.id WHERE ${SELECTED} AND ${where} LIMIT $5
     ) bounded`,
    values,
  );
  return counted?.count ?? 0;
}

/** Returns the body that each endpoint receives, byte for byte. Null if it was erased. */
export async function findBody(
  tx: Tx,
  { projectId, webhookId }: { projectId: number; webhookId: string },
): Promise<string | null> {
  const [webhook] = await tx.query<{ body: string; is_erased: boolean }>(
    `SELECT body, erased_at IS NOT NULL AS is_erased FROM beckon.webhook WHERE project_id = $1 AND id = $2`,
    [projectId, webhookId],
  );
  return webhook && !webhook.is_erased ? webhook.body : null;
}

/** Returns the deliveries, each with its latest attempts. */
export async function listDeliveries(tx: Tx, query: DeliveriesQuery): Promise<DeliverySummary[]> {
  const { filter = NO_FILTER, sort = '-at', after = null } = query;
  const values: unknown[] = [query.projectId, query.endpointId, query.webhookId, query.states, query.limit];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const where = filterSql(filter, FILTERED, bind);
  if (where === null) return [];
  const [direction, than] = sort === 'at' ? ['ASC', '>'] : ['DESC', '<'];
  const rows = await tx.query<DeliveryRow>(
    `SELECT m.id AS webhook_id, d.endpoint_id, m.type, d.state, d.trigger, m.erased_at IS NOT NULL AS erased, d.created_at,
       d.next_at, d.delivered_at, (
         SELECT coalesce(json_agg(json_build_object('number', a.number, 'trigger', a.trigger, 'url', a.url,
             'at', extract(epoch FROM a.started_at) * 1000, 'end', extract(epoch FROM a.ended_at) * 1000,
             'status', a.status, 'error', a.error, 'response', a.answer) ORDER BY a.number), '[]')
         FROM (SELECT * FROM beckon.webhook_attempt a WHERE a.project_id = d.project_id AND a.webhook_id = d.webhook_id
                 AND a.endpoint_id = d.endpoint_id ORDER BY a.number DESC LIMIT ${ATTEMPTS_MAX}) a
       ) AS attempts
     FROM beckon.webhook m JOIN beckon.webhook_delivery d ON d.project_id = m.project_id AND d.webhook_id = m.id
     WHERE ${SELECTED} AND ${where} AND ${after === null ? 'true' : behindSql(after, than, bind)}
     ORDER BY m.created_at ${direction}, m.id ${direction}, d.endpoint_id LIMIT $5`,
    values,
  );
  return rows.map((row) => ({
    webhookId: row.webhook_id,
    endpointId: row.endpoint_id,
    type: row.type,
    state: row.state,
    trigger: row.trigger,
    isErased: row.erased,
    createdAt: row.created_at.getTime(),
    nextAt: row.next_at?.getTime() ?? null,
    deliveredAt: row.delivered_at?.getTime() ?? null,
    attempts: row.attempts.map(({ at, end, ...attempt }) => ({
      ...attempt,
      startedAt: Math.round(at),
      endedAt: end === null ? null : Math.round(end),
    })),
  }));
}

type Position = NonNullable<DeliveriesQuery['after']>;

/** The comparison of the time alone bounds the range of the index, which the alternatives behind it would not. */
function behindSql(after: Position, than: string, bind: (value: unknown) => string): string {
  const at = `${bind(new Date(after.createdAt))}::timestamptz`;
  const [webhook, endpoint] = [`${bind(after.webhookId)}::uuid`, `${bind(after.endpointId)}::uuid`];
  return `(m.created_at ${than}= ${at} AND ((m.created_at, m.id) ${than} (${at}, ${webhook})
    OR (m.created_at = ${at} AND m.id = ${webhook} AND d.endpoint_id > ${endpoint})))`;
}

/** The maximum number of attempts shown per delivery. All attempts of many replays remain in the database. */
const ATTEMPTS_MAX = 100;

/** Returns the deliveries of these webhook events, up to `limit`. Reads the table `webhook_endpoint`. */
export function listWebhookDeliveries(
  tx: Tx,
  { projectId, webhookIds, limit }: { projectId: number; webhookIds: string[]; limit: number },
): Promise<EmailWebhook[]> {
  return readAs(
    tx,
    `SELECT m.id, m.type, d.endpoint_id, coalesce(e.url, '') AS url, d.state, d.attempts, d.created_at, d.delivered_at
     FROM beckon.webhook m
     JOIN beckon.webhook_delivery d ON d.project_id = m.project_id AND d.webhook_id = m.id
     LEFT JOIN beckon.webhook_endpoint e ON e.project_id = d.project_id AND e.id = d.endpoint_id
     WHERE m.project_id = $1 AND m.id = ANY ($2::uuid[]) ORDER BY d.created_at, m.id, d.endpoint_id LIMIT $3`,
    [projectId, webhookIds, limit],
  );
}

/** Returns the webhook events after a cursor, in order. Tests are left out, because each is for one endpoint. */
export async function listMessageCursors(
  tx: Tx,
  { projectId, after, limit }: { projectId: number; after: MessageCursor; limit: number },
): Promise<MessageCursor[]> {
  const rows = await tx.query<{ id: string; created_at: Date }>(
    `SELECT id, created_at FROM beckon.webhook
     WHERE project_id = $1 AND (created_at, id) > ($2, $3::uuid) AND erased_at IS NULL AND type <> '${TEST_TYPE}'
     ORDER BY created_at, id LIMIT $4`,
    [projectId, new Date(after.createdAt), after.id, limit],
  );
  return rows.map(({ id, created_at: at }) => ({ id, createdAt: at.getTime() }));
}

/** Returns the bodies of these webhook events in order, without those erased in the meantime. */
export async function listBodies(
  tx: Tx,
  { projectId, ids }: { projectId: number; ids: string[] },
): Promise<FollowedWebhook[]> {
  if (ids.length === 0) return [];
  const rows = await tx.query<{ id: string; created_at: Date; type: string; body: string }>(
    `SELECT id, created_at, type, body FROM beckon.webhook
     WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND erased_at IS NULL ORDER BY created_at, id`,
    [projectId, plainList(ids)],
  );
  return rows.map(({ created_at: at, ...webhook }) => ({ ...webhook, createdAt: at.getTime() }));
}
