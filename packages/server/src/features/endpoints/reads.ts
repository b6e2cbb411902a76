import type { WebhookType } from '@beckon/contract';
import { plainList, type Tx } from '../../io/db/index.ts';
import type { DisabledReason, Endpoint, EndpointPlace } from './endpoint.ts';
import type { Health, Window } from './health.ts';
import type { SealedSecret } from './store.ts';

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
  windows: Window[];
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
 * Whoever changes either has the health, so that it alone would keep others out. But of a row that a statement does not lock it
 * shows what was there before it waited: locked behind the health, the endpoint is read as whoever had it before left it.
 */
const LOCKED = 'FOR UPDATE OF h, e';

/** An endpoint and how it does. */
export type EndpointState = { endpoint: Endpoint; health: Health };

/** Those of a project, the oldest first. */
export async function listEndpoints(tx: Tx, projectId: number): Promise<EndpointState[]> {
  const rows = await tx.query<EndpointRow & HealthRow>(
    `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = $1 ORDER BY e.created_at, e.id`,
    [projectId],
  );
  return rows.map(toState);
}

/** Locked, with its health: while it is held nothing of the endpoint is claimed, and no result of it recorded. */
export async function lockEndpoint(
  tx: Tx,
  { projectId, endpointId }: EndpointPlace,
): Promise<EndpointState | undefined> {
  const rows = await tx.query<EndpointRow & HealthRow>(
    `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = $1 AND e.id = $2 ${LOCKED}`,
    [projectId, endpointId],
  );
  return rows[0] && toState(rows[0]);
}

/** Those of which something is to be recorded, in order; whoever has one of them is waited for. */
export async function lockEndpoints(tx: Tx, places: EndpointPlace[]): Promise<EndpointState[]> {
  const rows = await tx.prepared<EndpointRow & HealthRow>({
    name: 'endpoints.lock',
    text: `SELECT ${COLUMNS}, ${HEALTH} ${JOINED}
           JOIN unnest($1::bigint[], $2::uuid[]) AS p(project_id, endpoint_id) ON p.project_id = e.project_id AND p.endpoint_id = e.id
           ORDER BY h.project_id, h.endpoint_id ${LOCKED}`,
    values: [
      plainList(places.map(({ projectId }) => projectId)),
      plainList(places.map(({ endpointId }) => endpointId)),
    ],
  });
  return rows.map(toState);
}

/** Those of these projects that nobody else has in hand; disabled ones too, for what still waits of them. */
export async function lockFreeEndpoints(tx: Tx, projectIds: number[]): Promise<EndpointState[]> {
  const rows = await tx.prepared<EndpointRow & HealthRow>({
    name: 'endpoints.lock_free',
    text: `SELECT ${COLUMNS}, ${HEALTH} ${JOINED} WHERE e.project_id = ANY ($1::bigint[])
           ORDER BY h.project_id, h.endpoint_id ${LOCKED} SKIP LOCKED`,
    values: [plainList(projectIds)],
  });
  return rows.map(toState);
}

/** Endpoints that people must hear of: those that failed for a day, and those that were disabled for it, `until` at the latest. */
export async function listEndpointTroubles(
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
  sealed: Buffer;
  created_at: Date;
  expires_at: Date | null;
};

/** By which deliveries are signed now, of each endpoint the newest first. */
export async function listLiveSecrets(
  tx: Tx,
  { places, now }: { places: EndpointPlace[]; now: number },
): Promise<SealedSecret[]> {
  const rows = await tx.prepared<SecretRow>({
    name: 'endpoints.secrets',
    text: `SELECT s.project_id, s.endpoint_id, s.id, s.sealed, s.created_at, s.expires_at
           FROM unnest($1::bigint[], $2::uuid[]) AS p(project_id, endpoint_id)
           JOIN beckon.webhook_secret s ON s.project_id = p.project_id AND s.endpoint_id = p.endpoint_id
           WHERE s.expires_at IS NULL OR s.expires_at > $3 ORDER BY s.created_at DESC, s.id DESC`,
    values: [
      plainList(places.map(({ projectId }) => projectId)),
      plainList(places.map(({ endpointId }) => endpointId)),
      new Date(now),
    ],
  });
  return rows.map(toSecret);
}

/** All that are stored, in the order of their places; `after` is the last one of the page before. */
export async function listSealedSecrets(
  tx: Tx,
  { after, limit }: { after: SealedSecret | null; limit: number },
): Promise<SealedSecret[]> {
  const rows = await tx.query<SecretRow>(
    `SELECT project_id, endpoint_id, id, sealed, created_at, expires_at FROM beckon.webhook_secret
     WHERE (project_id, endpoint_id, id) > ($1, $2::uuid, $3::uuid) ORDER BY project_id, endpoint_id, id LIMIT $4`,
    [after?.projectId ?? 0, after?.endpointId ?? NO_ID, after?.id ?? NO_ID, limit],
  );
  return rows.map(toSecret);
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

function toSecret(row: SecretRow): SealedSecret {
  return {
    projectId: row.project_id,
    endpointId: row.endpoint_id,
    id: row.id,
    sealed: row.sealed,
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
