import { momentList, plainList, type Tx } from '../../io/db/index.ts';
import type { NewWebhookMessage } from './webhook.ts';

/**
 * The messages, and a delivery of each for every endpoint of its project that wants its type. What comes while an endpoint
 * is disabled is noted as missed. Who calls it rings the alarm `tell` of these projects in the same transaction.
 */
export async function insertMessages(tx: Tx, messages: NewWebhookMessage[]): Promise<void> {
  if (messages.length === 0) return;
  await tx.prepared({
    name: 'webhooks.insert',
    text: `WITH told AS MATERIALIZED (
             SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
               AS m(project_id, id, outcome_id, type, user_id, body, at)
           ), kept AS (
             INSERT INTO beckon.webhook_message (project_id, id, outcome_id, type, external_user_id, body, created_at)
             SELECT project_id, id, outcome_id, type, user_id, body, at FROM told
           )
           INSERT INTO beckon.webhook_delivery (project_id, endpoint_id, message_id, state, next_at, created_at)
           SELECT t.project_id, e.id, t.id, CASE WHEN e.disabled_at IS NULL THEN 'pending' ELSE 'missed' END,
             CASE WHEN e.disabled_at IS NULL THEN t.at END, t.at
           FROM told t JOIN beckon.webhook_endpoint e ON e.project_id = t.project_id
           WHERE e.types IS NULL OR t.type = ANY (e.types)`,
    values: [
      plainList(messages.map((one) => one.projectId)),
      plainList(messages.map((one) => one.id)),
      messages.map((one) => one.outcomeId),
      messages.map((one) => one.type),
      messages.map((one) => one.userId),
      messages.map((one) => one.body),
      momentList(messages.map((one) => one.createdAt)),
    ],
  });
}
