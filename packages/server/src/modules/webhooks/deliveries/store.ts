import type { EndpointRef } from '../endpoints/endpoint.ts';
import {
  type ClaimedDelivery,
  type DeliveryResult,
  type NewWebhook,
  type EndpointCapacity,
  type Test,
  TEST_TYPE,
} from './webhook.ts';
import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** Writes `webhook`, `webhook_delivery` and `webhook_attempt`: the events, their deliveries to endpoints, and every attempt. */

/**
 * Inserts webhook events, with a delivery for every endpoint of the project that subscribes to the type. Events that arrive while an
 * endpoint is disabled are marked as missed. The caller sets the webhook alarm of these projects in the same transaction.
 */
export async function insertWebhooks(tx: Tx, webhooks: NewWebhook[]): Promise<void> {
  if (webhooks.length === 0) return;
  await tx.prepared({
    name: 'webhooks.insert',
    text: `WITH input AS MATERIALIZED (
             SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
               AS m(project_id, id, outcome_id, type, user_id, body, at)
           ), message AS (
             INSERT INTO beckon.webhook (project_id, id, outcome_id, type, external_user_id, body, created_at)
             SELECT project_id, id, outcome_id, type, user_id, body, at FROM input)
           INSERT INTO beckon.webhook_delivery (project_id, endpoint_id, webhook_id, state, next_at, created_at)
           SELECT t.project_id, e.id, t.id, CASE WHEN e.disabled_at IS NULL THEN 'pending' ELSE 'missed' END,
             CASE WHEN e.disabled_at IS NULL THEN t.at END, t.at
           FROM input t JOIN beckon.webhook_endpoint e ON e.project_id = t.project_id
           WHERE (e.types IS NULL OR t.type = ANY (e.types)) AND e.disabled_reason IS DISTINCT FROM 'deleted'`,
    values: [
      plainList(webhooks.map((message) => message.projectId)),
      plainList(webhooks.map((message) => message.id)),
      webhooks.map((message) => message.outcomeId),
      webhooks.map((message) => message.type),
      webhooks.map((message) => message.userId),
      webhooks.map((message) => message.body),
      momentList(webhooks.map((message) => message.createdAt)),
    ],
  });
}

/**
 * Claims due deliveries, longest overdue first, and begins an attempt for each. Deliveries of erased events are canceled instead. Replays
 * only get the capacity that new events leave, so no number of replays delays new events.
 */
export function claimDeliveries(
  tx: Tx,
  { capacities, now, leaseUntil }: { capacities: EndpointCapacity[]; now: number; leaseUntil: number },
): Promise<ClaimedDelivery[]> {
  return tx.prepared({
    name: 'webhooks.claim',
    text: `WITH capacity AS MATERIALIZED (
             SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::integer[]) AS r(project_id, endpoint_id, most)
           ), fresh AS MATERIALIZED (${pick('auto', 'r.most')}
           ), again AS MATERIALIZED (${pick('manual', 'r.most - (SELECT count(*) FROM fresh f WHERE f.endpoint_id = r.endpoint_id)')}
           ), picked AS (SELECT * FROM fresh UNION ALL SELECT * FROM again), claimed AS (
             UPDATE beckon.webhook_delivery d SET state = CASE WHEN m.erased_at IS NULL THEN 'delivering' ELSE 'canceled' END,
               next_at = CASE WHEN m.erased_at IS NULL THEN $5::timestamptz END, tries = d.tries + 1,
               attempts = d.attempts + CASE WHEN m.erased_at IS NULL THEN 1 ELSE 0 END
             FROM picked p JOIN beckon.webhook m ON m.project_id = p.project_id AND m.id = p.webhook_id
             WHERE d.project_id = p.project_id AND d.webhook_id = p.webhook_id AND d.endpoint_id = p.endpoint_id
             RETURNING d.project_id, d.webhook_id, d.endpoint_id, d.state, d.tries, d.attempts, d.trigger, m.body
           ), leaving AS MATERIALIZED (
             SELECT c.*, e.url FROM claimed c
             JOIN beckon.webhook_endpoint e ON e.project_id = c.project_id AND e.id = c.endpoint_id WHERE c.state = 'delivering'
           ), begun AS (
             INSERT INTO beckon.webhook_attempt (project_id, webhook_id, endpoint_id, number, trigger, url, started_at)
             SELECT project_id, webhook_id, endpoint_id, attempts, trigger, url, $4 FROM leaving
           )
           SELECT project_id AS "projectId", endpoint_id AS "endpointId", webhook_id AS "webhookId", attempts AS number, tries, url, body
           FROM leaving`,
    values: [
      ...keyLists(capacities),
      plainList(capacities.map(({ most }) => most)),
      new Date(now),
      new Date(leaseUntil),
    ],
  });
}

function pick(trigger: 'auto' | 'manual', most: string): string {
  return `SELECT p.* FROM capacity r CROSS JOIN LATERAL (SELECT d.project_id, d.webhook_id, d.endpoint_id FROM beckon.webhook_delivery d
    WHERE d.project_id = r.project_id AND d.endpoint_id = r.endpoint_id AND d.state = 'pending' AND d.next_at <= $4
      AND d.trigger = '${trigger}' ORDER BY d.next_at, d.webhook_id LIMIT ${most} FOR UPDATE SKIP LOCKED) p`;
}

/** Releases deliveries whose lease has expired. They are tried again immediately if a try is left. Returns their number. */
export async function loseLeases(
  tx: Tx,
  { keys, now, triesMax }: { keys: EndpointRef[]; now: number; triesMax: number },
): Promise<number> {
  const rows = await tx.prepared<{ lost: number }>({
    name: 'webhooks.lose',
    text: `WITH lost AS (
             UPDATE beckon.webhook_delivery d SET state = CASE WHEN d.tries < $4 THEN 'pending' ELSE 'exhausted' END,
               next_at = CASE WHEN d.tries < $4 THEN $3::timestamptz END
             FROM unnest($1::bigint[], $2::uuid[]) AS p(project_id, endpoint_id)
             WHERE d.project_id = p.project_id AND d.endpoint_id = p.endpoint_id AND d.state = 'delivering' AND d.next_at <= $3
             RETURNING d.project_id, d.webhook_id, d.endpoint_id, d.attempts
           ), ended AS (
             UPDATE beckon.webhook_attempt a SET ended_at = $3, error = 'lost' FROM lost l
             WHERE a.project_id = l.project_id AND a.webhook_id = l.webhook_id AND a.endpoint_id = l.endpoint_id
               AND a.number = l.attempts AND a.ended_at IS NULL
           )
           SELECT count(*) AS lost FROM lost`,
    values: [...keyLists(keys), new Date(now), triesMax],
  });
  return rows[0]?.lost ?? 0;
}

/** Ends attempts and updates deliveries that were not released as lost. No answer is stored for erased events. */
export async function updateResults(tx: Tx, results: DeliveryResult[]): Promise<void> {
  await tx.prepared({
    name: 'webhooks.results',
    text: `WITH result AS MATERIALIZED (
             SELECT s.*, m.erased_at FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::integer[], $5::timestamptz[], $6::integer[],
               $7::text[], $8::text[], $9::text[], $10::timestamptz[])
               AS s(project_id, endpoint_id, webhook_id, number, at, status, error, answer, state, next_at)
             JOIN beckon.webhook m ON m.project_id = s.project_id AND m.id = s.webhook_id
           ), ended AS (
             UPDATE beckon.webhook_attempt a SET ended_at = s.at, status = s.status, error = s.error,
               answer = CASE WHEN s.erased_at IS NULL THEN s.answer END
             FROM result s WHERE a.project_id = s.project_id AND a.webhook_id = s.webhook_id AND a.endpoint_id = s.endpoint_id
               AND a.number = s.number AND a.ended_at IS NULL
           )
           UPDATE beckon.webhook_delivery d SET state = s.state, next_at = s.next_at,
             delivered_at = CASE WHEN s.state = 'delivered' THEN s.at ELSE d.delivered_at END
           FROM result s WHERE d.project_id = s.project_id AND d.webhook_id = s.webhook_id AND d.endpoint_id = s.endpoint_id
             AND d.state = 'delivering' AND d.attempts = s.number`,
    values: [
      ...keyLists(results),
      plainList(results.map(({ webhookId }) => webhookId)),
      plainList(results.map(({ number }) => number)),
      momentList(results.map(({ endedAt }) => endedAt)),
      plainList(results.map(({ status }) => status)),
      results.map(({ error }) => error),
      results.map(({ response }) => response),
      plainList(results.map(({ state }) => state)),
      momentList(results.map(({ nextAt }) => nextAt)),
    ],
  });
}

function keyLists(keys: EndpointRef[]): [projects: string, endpoints: string] {
  return [
    plainList(keys.map(({ projectId }) => projectId)),
    plainList(keys.map(({ endpointId }) => endpointId)),
  ];
}

/**
 * Marks pending deliveries of disabled endpoints as missed, up to `limit`. If the endpoint is deleted, deliveries in progress are canceled
 * too.
 */
export async function dropPending(
  tx: Tx,
  { keys, state, limit }: { keys: EndpointRef[]; state: 'missed' | 'canceled'; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `WITH waiting AS MATERIALIZED (
       SELECT d.project_id, d.webhook_id, d.endpoint_id FROM unnest($1::bigint[], $2::uuid[]) AS p(project_id, endpoint_id)
       JOIN beckon.webhook_delivery d ON d.project_id = p.project_id AND d.endpoint_id = p.endpoint_id
       WHERE d.next_at IS NOT NULL AND (d.state = 'pending' OR $4::text = 'canceled') LIMIT $3 FOR UPDATE OF d
     )
     UPDATE beckon.webhook_delivery d SET state = $4::text, next_at = NULL FROM waiting s
     WHERE d.project_id = s.project_id AND d.webhook_id = s.webhook_id AND d.endpoint_id = s.endpoint_id RETURNING 1`,
    [...keyLists(keys), limit, state],
  );
  return rows.length;
}

/** Inserts a test event for one endpoint, already in progress: the caller posts it after the commit. */
export async function insertTest(tx: Tx, test: Test): Promise<void> {
  const { projectId, webhookId, endpointId, tries, url, body, now, leaseUntil } = test;
  await tx.query(
    `WITH message AS (
       INSERT INTO beckon.webhook (project_id, id, type, body, created_at) VALUES ($1, $2, '${TEST_TYPE}', $3, $4)
     ), delivery AS (
       INSERT INTO beckon.webhook_delivery (project_id, endpoint_id, webhook_id, state, tries, attempts, trigger, next_at, created_at)
       VALUES ($1, $5, $2, 'delivering', $8, 1, 'manual', $7, $4)
     )
     INSERT INTO beckon.webhook_attempt (project_id, webhook_id, endpoint_id, number, trigger, url, started_at)
     VALUES ($1, $2, $5, 1, 'manual', $6, $4)`,
    [projectId, webhookId, body, new Date(now), endpointId, url, new Date(leaseUntil), tries],
  );
}

/**
 * Erases a user from stored webhook events, cancels their pending deliveries, and prevents sending them again. Returns the number of
 * events.
 */
export async function eraseWebhooks(
  tx: Tx,
  { projectId, userId, at }: { projectId: number; userId: string; at: number },
): Promise<number> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE beckon.webhook SET body = '', external_user_id = NULL, erased_at = $3
     WHERE project_id = $1 AND external_user_id = $2 RETURNING id`,
    [projectId, userId, new Date(at)],
  );
  const ids = plainList(rows.map(({ id }) => id));
  await tx.query(
    `UPDATE beckon.webhook_delivery SET state = 'canceled', next_at = NULL
     WHERE project_id = $1 AND webhook_id = ANY ($2::uuid[]) AND state = 'pending'`,
    [projectId, ids],
  );
  // Attempts in progress end later, without storing the answer.
  await tx.query(
    `UPDATE beckon.webhook_attempt SET answer = NULL
     WHERE project_id = $1 AND webhook_id = ANY ($2::uuid[]) AND ended_at IS NOT NULL AND answer IS NOT NULL`,
    [projectId, ids],
  );
  return rows.length;
}

/** Deletes older webhook events with their deliveries and attempts, except those that an endpoint still waits for. Returns their number. */
export async function forgetWebhooks(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT m.id FROM beckon.webhook m WHERE m.project_id = $1 AND m.created_at < $2
         AND NOT EXISTS (
           SELECT 1 FROM beckon.webhook_delivery d
           JOIN beckon.webhook_endpoint e ON e.project_id = d.project_id AND e.id = d.endpoint_id
           WHERE d.project_id = m.project_id AND d.webhook_id = m.id AND d.next_at IS NOT NULL)
       ORDER BY m.created_at LIMIT $3
     ), attempts AS (
       DELETE FROM beckon.webhook_attempt a USING old WHERE a.project_id = $1 AND a.webhook_id = old.id
     ), deliveries AS (
       DELETE FROM beckon.webhook_delivery d USING old WHERE d.project_id = $1 AND d.webhook_id = old.id
     )
     DELETE FROM beckon.webhook m USING old WHERE m.project_id = $1 AND m.id = old.id RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}
