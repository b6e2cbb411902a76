import type { Tx } from '../../../platform/db/statements.ts';
import { type History, type Replay, type ReplayStep, TEST_TYPE } from './webhook.ts';

/** The number of webhook events per step, with all of their deliveries. */
const REPLAY_STEP = 100;

/**
 * Starts the schedule of deliveries again, now. Deliveries that are pending or in progress continue as they are, and erased events stay
 * erased. Reads the table `webhook_endpoint`.
 */
export async function replayDeliveries(tx: Tx, replay: Replay): Promise<ReplayStep> {
  const [row] = await tx.query<{ replayed: number; webhooks: number; id: string; at: number }>(
    `WITH page AS MATERIALIZED (
       SELECT m.id, m.created_at FROM beckon.webhook m
       WHERE m.project_id = $1 AND m.created_at >= $2 AND m.created_at < $3 AND m.erased_at IS NULL
         AND ($4::uuid IS NULL OR m.id = $4) AND (m.created_at, m.id) > ($5::timestamptz, $6::uuid)
       ORDER BY m.created_at, m.id LIMIT ${REPLAY_STEP}
     ), selected AS MATERIALIZED (
       SELECT d.project_id, d.webhook_id, d.endpoint_id FROM page
       JOIN beckon.webhook_delivery d ON d.project_id = $1 AND d.webhook_id = page.id
       JOIN beckon.webhook_endpoint e ON e.project_id = $1 AND e.id = d.endpoint_id AND e.disabled_at IS NULL
       WHERE d.state = ANY ($8) AND ($7::uuid IS NULL OR d.endpoint_id = $7)
       ORDER BY d.webhook_id, d.endpoint_id FOR UPDATE OF d
     ), again AS (
       UPDATE beckon.webhook_delivery d SET state = 'pending', trigger = 'manual', tries = 0, next_at = $9
       FROM selected w WHERE d.project_id = w.project_id AND d.webhook_id = w.webhook_id AND d.endpoint_id = w.endpoint_id
       RETURNING 1
     )
     SELECT (SELECT count(*) FROM again) AS replayed, (SELECT count(*) FROM page) AS webhooks, l.id,
       extract(epoch FROM l.created_at)::float8 * 1000 AS at
     FROM page l ORDER BY l.created_at DESC, l.id DESC LIMIT 1`,
    [
      replay.projectId,
      new Date(replay.since),
      new Date(replay.before),
      replay.webhookId,
      new Date(replay.after?.createdAt ?? 0),
      replay.after?.id ?? '00000000-0000-0000-0000-000000000000',
      replay.endpointId,
      replay.states,
      new Date(replay.now),
    ],
  );
  if (row?.webhooks !== REPLAY_STEP) return { replayed: row?.replayed ?? 0, last: null };
  return { replayed: row.replayed, last: { createdAt: Math.round(row.at), id: row.id } };
}

/**
 * Adds deliveries, marked as missed, for events that an endpoint did not get because it was created later or did not subscribe to the type.
 * It must subscribe to the type now. Adds up to `limit` deliveries, each once. Returns the time from which to continue, or null at the end.
 * Reads the table `webhook_endpoint`.
 */
export async function insertHistory(tx: Tx, history: History): Promise<number | null> {
  const { projectId, endpointId, since, before, now, limit } = history;
  const [full] = await tx.query<{ last: Date }>(
    `WITH page AS MATERIALIZED (
       SELECT m.id, m.created_at FROM beckon.webhook_endpoint e JOIN beckon.webhook m ON m.project_id = e.project_id
       WHERE e.project_id = $1 AND e.id = $2 AND m.created_at >= $3 AND m.created_at < $4 AND m.erased_at IS NULL
         AND m.type <> '${TEST_TYPE}' AND (e.types IS NULL OR m.type = ANY (e.types)) AND NOT EXISTS (
           SELECT 1 FROM beckon.webhook_delivery d WHERE d.project_id = $1 AND d.webhook_id = m.id AND d.endpoint_id = $2)
       ORDER BY m.created_at, m.id LIMIT $6
     ), noted AS (
       INSERT INTO beckon.webhook_delivery (project_id, endpoint_id, webhook_id, state, created_at)
       SELECT $1, $2, id, 'missed', $5 FROM page ON CONFLICT DO NOTHING
     )
     SELECT max(created_at) AS last FROM page HAVING count(*) = $6`,
    [projectId, endpointId, new Date(since), new Date(before), new Date(now), limit],
  );
  return full?.last.getTime() ?? null;
}
