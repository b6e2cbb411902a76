/** Writes `webhook_endpoint`, `webhook_secret` and `webhook_health`. */

import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Endpoint, EndpointRef } from './endpoint.ts';
import type { Health } from './health.ts';

export type HealthOf = EndpointRef & { health: Health };

/** Requires locks on the rows. */
export async function updateHealth(tx: Tx, all: HealthOf[]): Promise<void> {
  await tx.prepared({
    name: 'webhooks.health',
    text: `UPDATE beckon.webhook_health h SET tokens = s.tokens, refilled_at = s.refilled_at, open_until = s.open_until,
             windows = s.windows, failing_since = s.failing_since, failures = s.failures, warned_at = s.warned_at,
             succeeded_at = s.succeeded_at
           FROM unnest($1::bigint[], $2::uuid[], $3::float8[], $4::timestamptz[], $5::timestamptz[], $6::jsonb[], $7::timestamptz[],
             $8::integer[], $9::timestamptz[], $10::timestamptz[])
             AS s(project_id, endpoint_id, tokens, refilled_at, open_until, windows, failing_since, failures, warned_at, succeeded_at)
           WHERE h.project_id = s.project_id AND h.endpoint_id = s.endpoint_id`,
    values: [
      plainList(all.map(({ projectId }) => projectId)),
      plainList(all.map(({ endpointId }) => endpointId)),
      plainList(all.map(({ health }) => health.tokens)),
      momentList(all.map(({ health }) => health.refilledAt)),
      momentList(all.map(({ health }) => health.openUntil)),
      all.map(({ health }) => JSON.stringify(health.windows)),
      momentList(all.map(({ health }) => health.failingSince)),
      plainList(all.map(({ health }) => health.failures)),
      momentList(all.map(({ health }) => health.warnedAt)),
      momentList(all.map(({ health }) => health.succeededAt)),
    ],
  });
}

/** Requires a lock on the health, so that no delivery is being claimed. */
export async function updateDisabled(
  tx: Tx,
  { projectId, endpointId, at, reason }: EndpointRef & { at: number; reason: string },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.webhook_endpoint SET disabled_at = $3, disabled_reason = $4 WHERE project_id = $1 AND id = $2`,
    [projectId, endpointId, new Date(at), reason],
  );
}

export async function insertEndpoint(tx: Tx, endpoint: Endpoint, health: Health): Promise<void> {
  const { projectId, id, url, types, description, createdAt, perSecond, inFlightMax } = endpoint;
  await tx.query(
    `WITH made AS (
       INSERT INTO beckon.webhook_endpoint (project_id, id, url, types, description, created_at, per_second, in_flight_max)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     )
     INSERT INTO beckon.webhook_health (project_id, endpoint_id, tokens, refilled_at) VALUES ($1, $2, $9, $6)`,
    [projectId, id, url, types, description, new Date(createdAt), perSecond, inFlightMax, health.tokens],
  );
}

/** Updates the settings of an endpoint. */
export async function updateEndpoint(tx: Tx, endpoint: Endpoint): Promise<void> {
  const { projectId, id, url, types, description, perSecond, inFlightMax } = endpoint;
  await tx.query(
    `UPDATE beckon.webhook_endpoint SET url = $3, types = $4, description = $5, per_second = $6, in_flight_max = $7
     WHERE project_id = $1 AND id = $2`,
    [projectId, id, url, types, description, perSecond, inFlightMax],
  );
}

/** Enables an endpoint. Resets its health except for its tokens. */
export async function updateEnabled(tx: Tx, { projectId, endpointId }: EndpointRef): Promise<void> {
  await tx.query(
    `WITH enabled AS (
       UPDATE beckon.webhook_endpoint SET disabled_at = NULL, disabled_reason = NULL WHERE project_id = $1 AND id = $2
     )
     UPDATE beckon.webhook_health SET open_until = NULL, windows = '[]', failing_since = NULL, failures = 0, warned_at = NULL
     WHERE project_id = $1 AND endpoint_id = $2`,
    [projectId, endpointId],
  );
}

export async function deleteEndpoint(tx: Tx, { projectId, endpointId }: EndpointRef): Promise<void> {
  await tx.query(
    `WITH secrets AS (DELETE FROM beckon.webhook_secret WHERE project_id = $1 AND endpoint_id = $2),
       health AS (DELETE FROM beckon.webhook_health WHERE project_id = $1 AND endpoint_id = $2)
     DELETE FROM beckon.webhook_endpoint WHERE project_id = $1 AND id = $2`,
    [projectId, endpointId],
  );
}

export type EncryptedSecret = EndpointRef & {
  id: string;
  encrypted: Buffer;
  createdAt: number;
  expiresAt: number | null;
};

/** Adds a secret. Older ones expire at `othersUntil` unless they expire earlier. Expired ones are deleted. */
export async function insertSecret(tx: Tx, secret: EncryptedSecret, othersUntil: number): Promise<void> {
  const { projectId, endpointId, id, encrypted, createdAt } = secret;
  await tx.query(
    `WITH ended AS (
       DELETE FROM beckon.webhook_secret WHERE project_id = $1 AND endpoint_id = $2 AND least(expires_at, $6) <= $5
     ), others AS (
       UPDATE beckon.webhook_secret SET expires_at = least(expires_at, $6)
       WHERE project_id = $1 AND endpoint_id = $2 AND least(expires_at, $6) > $5
     )
     INSERT INTO beckon.webhook_secret (project_id, endpoint_id, id, encrypted_secret, created_at) VALUES ($1, $2, $3, $4, $5)`,
    [projectId, endpointId, id, encrypted, new Date(createdAt), new Date(othersUntil)],
  );
}

export async function updateSecrets(tx: Tx, secrets: EncryptedSecret[]): Promise<void> {
  await tx.query(
    `UPDATE beckon.webhook_secret k SET encrypted_secret = s.encrypted
     FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::bytea[]) AS s(project_id, endpoint_id, id, encrypted)
     WHERE k.project_id = s.project_id AND k.endpoint_id = s.endpoint_id AND k.id = s.id`,
    [
      plainList(secrets.map(({ projectId }) => projectId)),
      plainList(secrets.map(({ endpointId }) => endpointId)),
      plainList(secrets.map(({ id }) => id)),
      secrets.map(({ encrypted }) => encrypted),
    ],
  );
}
