import type { WebhookType } from '@beckon/contract';
import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { DisabledReason, Endpoint, EndpointRef } from './endpoint.ts';
import type { Health, HealthWindow } from './health.ts';
import type { EncryptedSecret } from './store.ts';

type EndpointRow = {
  project_id: number;
  id: string;
  url: string;
  types: WebhookType[] | null;
  description: string;
  created_at: Date;
  disabled_at: Date | null;
  disabled_reason: DisabledReason | null;
  per_second: number;
  in_flight_max: number;
};
type HealthRow = {
  tokens: number;
  refilled_at: Date;
  open_until: Date | null;
  windows: HealthWindow[];
  failing_since: Date | null;
  failures: number;
  warned_at: Date | null;
  succeeded_at: Date | null;
};

const COLUMNS = `e.project_id, e.id, e.url, e.types, e.description, e.created_at, e.disabled_at, e.disabled_reason, e.per_second,
  e.in_flight_max`;
const HEALTH = `h.tokens, h.refilled_at, h.open_until, h.windows, h.failing_since, h.failures, h.warned_at, h.succeeded_at`;
const JOINED = `FROM beckon.webhook_endpoint e
  JOIN beckon.webhook_health h ON h.project_id = e.project_id AND h.endpoint_id = e.id`;
/**
 * Locks both rows. All writers lock the health, so that lock alone would exclude others. But a statement that waits for a lock sees the old
 * version of rows that it does not lock. With both locked, the endpoint is read in its latest version.
 */
const LOCKED = 'FOR UPDATE OF h, e';

/** An endpoint with its health. */
export type EndpointState = { endpoint: Endpoint; health: Health };

/** Lists the endpoints of a project, oldest first. */
export async function listEndpoints(tx: Tx, projectId: number): Promise<EndpointState[]> {
  const rows = await tx.query<EndpointRow & HealthRow>(
    `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = $1 ORDER BY e.created_at, e.id`,
    [projectId],
  );
  return rows.map(toState);
}

/** Locks an endpoint with its health. While the lock is held, no delivery of the endpoint is claimed and no result recorded. */
export async function lockEndpoint(
  tx: Tx,
  { projectId, endpointId }: EndpointRef,
): Promise<EndpointState | undefined> {
  const rows = await tx.query<EndpointRow & HealthRow>(
    `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = $1 AND e.id = $2 ${LOCKED}`,
    [projectId, endpointId],
  );
  return rows[0] && toState(rows[0]);
}

/** Locks the given endpoints in order, waiting for their current holders. */
export async function lockEndpoints(tx: Tx, keys: EndpointRef[]): Promise<EndpointState[]> {
  const rows = await tx.prepared<EndpointRow & HealthRow>({
    name: 'endpoints.lock',
    text: `SELECT ${COLUMNS}, ${HEALTH} ${JOINED}
           JOIN unnest($1::bigint[], $2::uuid[]) AS p(project_id, endpoint_id) ON p.project_id = e.project_id AND p.endpoint_id = e.id
           ORDER BY h.project_id, h.endpoint_id ${LOCKED}`,
    values: [
      plainList(keys.map(({ projectId }) => projectId)),
      plainList(keys.map(({ endpointId }) => endpointId)),
    ],
  });
  return rows.map(toState);
}

/**
 * Locks those endpoints of these projects that no other process has locked. Includes disabled ones, which may still have pending
 * deliveries.
 */
export async function lockFreeEndpoints(tx: Tx, projectIds: number[]): Promise<EndpointState[]> {
  const rows = await tx.prepared<EndpointRow & HealthRow>({
    name: 'endpoints.lock_free',
    text: `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = ANY ($1::bigint[])
           ORDER BY h.project_id, h.endpoint_id ${LOCKED} SKIP LOCKED`,
    values: [plainList(projectIds)],
  });
  return rows.map(toState);
}

/** Lists endpoints with new problems up to `until`: those that failed for a day, and those that were disabled for it. */
export async function listFailingEndpoints(
  tx: Tx,
  { projectId, since, until }: { projectId: number; since: number; until: number },
): Promise<EndpointState[]> {
  const rows = await tx.query<EndpointRow & HealthRow>(
    `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = $1
       AND ((e.disabled_reason IN ('gone', 'failing') AND e.disabled_at > $2 AND e.disabled_at <= $3)
         OR (e.disabled_at IS NULL AND h.warned_at > $2 AND h.warned_at <= $3))
     ORDER BY e.created_at, e.id`,
    [projectId, new Date(since), new Date(until)],
  );
  return rows.map(toState);
}

type SecretRow = {
  project_id: number;
  endpoint_id: string;
  id: string;
  encrypted: Buffer;
  created_at: Date;
  expires_at: Date | null;
};

/** Lists the secrets that sign deliveries now, newest first for each endpoint. */
export async function listLiveSecrets(
  tx: Tx,
  { keys, now }: { keys: EndpointRef[]; now: number },
): Promise<EncryptedSecret[]> {
  const rows = await tx.prepared<SecretRow>({
    name: 'endpoints.secrets',
    text: `SELECT s.project_id, s.endpoint_id, s.id, s.encrypted_secret AS encrypted, s.created_at, s.expires_at
           FROM unnest($1::bigint[], $2::uuid[]) AS p(project_id, endpoint_id)
           JOIN beckon.webhook_secret s ON s.project_id = p.project_id AND s.endpoint_id = p.endpoint_id
           WHERE s.expires_at IS NULL OR s.expires_at > $3 ORDER BY s.created_at DESC, s.id DESC`,
    values: [
      plainList(keys.map(({ projectId }) => projectId)),
      plainList(keys.map(({ endpointId }) => endpointId)),
      new Date(now),
    ],
  });
  return rows.map(toSecret);
}

/** Lists all stored secrets in the order of their primary key. `after` is the last one of the previous page. */
export async function listEncryptedSecrets(
  tx: Tx,
  { after, limit }: { after: EncryptedSecret | null; limit: number },
): Promise<EncryptedSecret[]> {
  const rows = await tx.query<SecretRow>(
    `SELECT project_id, endpoint_id, id, encrypted_secret AS encrypted, created_at, expires_at FROM beckon.webhook_secret
     WHERE (project_id, endpoint_id, id) > ($1, $2::uuid, $3::uuid) ORDER BY project_id, endpoint_id, id LIMIT $4`,
    [after?.projectId ?? 0, after?.endpointId ?? NO_ID, after?.id ?? NO_ID, limit],
  );
  return rows.map(toSecret);
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

function toSecret(row: SecretRow): EncryptedSecret {
  return {
    projectId: row.project_id,
    endpointId: row.endpoint_id,
    id: row.id,
    encrypted: row.encrypted,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at?.getTime() ?? null,
  };
}

function toState(row: EndpointRow & HealthRow): EndpointState {
  return {
    endpoint: {
      projectId: row.project_id,
      id: row.id,
      url: row.url,
      types: row.types,
      description: row.description,
      createdAt: row.created_at.getTime(),
      disabledAt: row.disabled_at?.getTime() ?? null,
      disabledReason: row.disabled_reason,
      perSecond: row.per_second,
      inFlightMax: row.in_flight_max,
    },
    health: {
      tokens: row.tokens,
      refilledAt: row.refilled_at.getTime(),
      openUntil: row.open_until?.getTime() ?? null,
      windows: row.windows,
      failingSince: row.failing_since?.getTime() ?? null,
      failures: row.failures,
      warnedAt: row.warned_at?.getTime() ?? null,
      succeededAt: row.succeeded_at?.getTime() ?? null,
    },
  };
}
