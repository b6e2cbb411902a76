import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { RelayKind, RelaySettings } from '../../../platform/relays/adapter.ts';
import {
  type AssignedRelays,
  type ConfiguredRelay,
  INSTALLATION,
  type RelayId,
  type RelayRef,
} from './relay.ts';
import type { EncryptedRelay } from './store.ts';

type RelayRow = {
  project_id: number;
  id: string;
  kind: RelayKind;
  name: string;
  settings: RelaySettings;
  generation: number;
  created_at: Date;
  changed_at: Date;
  checked_at: Date | null;
  check_failure: string | null;
  failing_since: Date | null;
  failed_at: Date | null;
  failure: string | null;
  feedback_proven_at: Date | null;
  feedback_cursor: string | null;
};

const COLUMNS = `r.project_id, r.id, r.kind, r.name, r.settings, r.generation, r.created_at, r.changed_at, r.checked_at,
  r.check_failure, r.failing_since, r.failed_at, r.failure, r.feedback_proven_at, r.feedback_cursor`;

/** Lists the relays of a project by name. There are at most as many as `RELAYS_MAX`. */
export async function listRelays(tx: Tx, projectId: number): Promise<ConfiguredRelay[]> {
  const rows = await tx.query<RelayRow>(
    `SELECT ${COLUMNS} FROM beckon.relay r WHERE r.project_id = $1 ORDER BY r.name`,
    [projectId],
  );
  return rows.map(toRelay);
}

export async function findRelay(tx: Tx, { projectId, id }: RelayId): Promise<ConfiguredRelay | undefined> {
  const rows = await tx.query<RelayRow>(
    `SELECT ${COLUMNS} FROM beckon.relay r WHERE r.project_id = $1 AND r.id = $2`,
    [projectId, id],
  );
  return rows[0] && toRelay(rows[0]);
}

/** Finds the feedback of the relay of `SMTP_URL`, if it was added. There is at most one. */
export async function findSmtpUrlRelay(tx: Tx): Promise<ConfiguredRelay | undefined> {
  const rows = await tx.query<RelayRow>(
    `SELECT ${COLUMNS} FROM beckon.relay r WHERE r.project_id = $1 AND r.kind = 'smtp_url'`,
    [INSTALLATION],
  );
  return rows[0] && toRelay(rows[0]);
}

/** Locks a relay, waiting for its current holder. Required to change it, and to assign it. */
export async function lockRelay(tx: Tx, { projectId, id }: RelayId): Promise<ConfiguredRelay | undefined> {
  const rows = await tx.query<RelayRow>(
    `SELECT ${COLUMNS} FROM beckon.relay r WHERE r.project_id = $1 AND r.id = $2 FOR UPDATE`,
    [projectId, id],
  );
  return rows[0] && toRelay(rows[0]);
}

/** Finds a relay by the id in the address of its webhook, before its project is known. */
export async function findRelayById(
  tx: Tx,
  id: string,
): Promise<{ relay: ConfiguredRelay; encrypted: Buffer } | undefined> {
  const rows = await tx.query<RelayRow & { encrypted_secrets: Buffer }>(
    `SELECT ${COLUMNS}, r.encrypted_secrets FROM beckon.relay r WHERE r.id = $1`,
    [id],
  );
  return rows[0] && { relay: toRelay(rows[0]), encrypted: rows[0].encrypted_secrets };
}

export async function findEncryptedSecrets(tx: Tx, { projectId, id }: RelayId): Promise<Buffer | undefined> {
  const rows = await tx.query<{ encrypted_secrets: Buffer }>(
    `SELECT encrypted_secrets FROM beckon.relay WHERE project_id = $1 AND id = $2`,
    [projectId, id],
  );
  return rows[0]?.encrypted_secrets;
}

/** Lists the encrypted secrets of all relays in the order of their primary key. */
export async function listEncryptedRelays(
  tx: Tx,
  { after, limit }: { after: RelayId | null; limit: number },
): Promise<EncryptedRelay[]> {
  const rows = await tx.query<{
    project_id: number;
    id: string;
    generation: number;
    encrypted_secrets: Buffer;
  }>(
    `SELECT project_id, id, generation, encrypted_secrets FROM beckon.relay
     WHERE (project_id, id) > ($1, $2::uuid) ORDER BY project_id, id LIMIT $3`,
    [after?.projectId ?? INSTALLATION, after?.id ?? NO_ID, limit],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    id: row.id,
    generation: row.generation,
    encrypted: row.encrypted_secrets,
  }));
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

type AssignedRow = {
  project_id: number;
  domain: string;
  owner_id: number;
  id: string;
  kind: RelayKind;
  generation: number;
  connections: string | null;
};

/** Returns the relays that the emails of a project are sent through, as they are assigned now. */
export async function findAssignedRelays(tx: Tx, projectId: number): Promise<AssignedRelays> {
  const rows = await listAssignedRows(tx, projectId);
  const fallback = rows.find(({ project_id: owner }) => owner === INSTALLATION);
  return {
    byDomain: new Map(
      rows.filter(({ project_id: owner }) => owner === projectId).map((row) => [row.domain, toRef(row)]),
    ),
    fallback: fallback ? toRef(fallback) : null,
  };
}

type AssignedSettings = Pick<ConfiguredRelay, 'kind' | 'settings'>;

/** Returns the same relays with their settings, without secrets. */
export async function findAssignedSettings(
  tx: Tx,
  projectId: number,
): Promise<AssignedRelays<AssignedSettings>> {
  const rows = await listAssignedRows(tx, projectId);
  const relays = await tx.query<Pick<ConfiguredRelay, 'id' | 'settings'>>(
    `SELECT r.id, r.settings FROM beckon.relay r WHERE r.project_id = ANY ($1::bigint[]) AND r.id = ANY ($2::uuid[])`,
    [plainList([projectId, INSTALLATION]), plainList(rows.map(({ id }) => id))],
  );
  const settingsOf = (row: AssignedRow): AssignedSettings | null => {
    const found = relays.find(({ id }) => id === row.id);
    return found ? { kind: row.kind, settings: found.settings } : null;
  };
  const fallback = rows.find(({ project_id: owner }) => owner === INSTALLATION);
  return {
    byDomain: new Map(
      rows.flatMap((row) => {
        const settings = row.project_id === projectId && settingsOf(row);
        return settings ? [[row.domain, settings]] : [];
      }),
    ),
    fallback: fallback ? settingsOf(fallback) : null,
  };
}

async function listAssignedRows(tx: Tx, projectId: number): Promise<AssignedRow[]> {
  if (!tx.isDistributed)
    return tx.prepared<AssignedRow>({
      name: 'relays.assigned',
      text: `SELECT a.project_id, a.domain, r.project_id AS owner_id, r.id, r.kind, r.generation, r.settings ->> 'connections' AS connections
           FROM beckon.relay_assignment a JOIN beckon.relay r ON r.project_id = a.relay_project_id AND r.id = a.relay_id
           WHERE a.project_id = ANY ($1::bigint[])`,
      values: [plainList([projectId, INSTALLATION])],
    });
  // Where tables are distributed, a relay of the installation may be on another node than the assignment, which no join reads.
  const assignments = await listAssignments(tx, projectId);
  const relays = await listRelayRows(tx, { projectId, ids: assignments.map(({ relayId }) => relayId) });
  return assignments.flatMap(({ projectId: owner, domain, relayId }) => {
    const relay = relays.find(({ id }) => id === relayId);
    return relay ? [{ ...relay, project_id: owner, domain }] : [];
  });
}

/** Returns those of these relays that exist and that emails of the project may be sent through, whether assigned or not. */
export async function findRelayRefs(
  tx: Tx,
  { projectId, ids }: { projectId: number; ids: string[] },
): Promise<Map<string, RelayRef>> {
  const rows = await listRelayRows(tx, { projectId, ids });
  return new Map(rows.map((row) => [row.id, toRef(row)]));
}

type FoundRelayRow = Omit<AssignedRow, 'project_id' | 'domain'>;

async function listRelayRows(
  tx: Tx,
  { projectId, ids }: { projectId: number; ids: string[] },
): Promise<FoundRelayRow[]> {
  if (ids.length === 0) return [];
  return tx.query<FoundRelayRow>(
    `SELECT r.project_id AS owner_id, r.id, r.kind, r.generation, r.settings ->> 'connections' AS connections
     FROM beckon.relay r WHERE r.project_id = ANY ($1::bigint[]) AND r.id = ANY ($2::uuid[])`,
    [plainList([projectId, INSTALLATION]), plainList(ids)],
  );
}

function toRef({ owner_id: projectId, id, kind, generation, connections }: FoundRelayRow): RelayRef {
  return { projectId, id, kind, generation, connections: connections === null ? null : Number(connections) };
}

/** Returns whether any email of a project, or of the project that a sandbox belongs to, has a relay of its own. Reads `project`. */
export async function hasAssignedRelay(tx: Tx, projectId: number): Promise<boolean> {
  const [row] = await tx.query<{ assigned: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM beckon.relay_assignment a WHERE a.project_id = ANY (ARRAY[$2, $1,
       (SELECT p.sandbox_of FROM beckon.project p WHERE p.project_id = $1)]::bigint[])) AS assigned`,
    [projectId, INSTALLATION],
  );
  return row?.assigned ?? false;
}

/** Returns whether any project or the installation has a relay assigned. */
export async function hasAssignments(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ any: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM beckon.relay_assignment) AS any`,
  );
  return row?.any ?? false;
}

/** Returns whether projects without a relay of their own use one of the installation. */
export async function hasFallbackRelay(tx: Tx): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 FROM beckon.relay_assignment WHERE project_id = $1 LIMIT 1`, [
    INSTALLATION,
  ]);
  return rows.length > 0;
}

/** Where a relay is used: by project, and by the name of the domain, which is empty for the whole project. */
export type RelayUse = { projectId: number; domain: string };

/** Lists where a relay is used, in all projects. */
export async function listUses(
  tx: Tx,
  { projectId, id, limit }: RelayId & { limit: number },
): Promise<RelayUse[]> {
  const rows = await tx.query<{ project_id: number; domain: string }>(
    `SELECT project_id, domain FROM beckon.relay_assignment WHERE relay_project_id = $1 AND relay_id = $2
     ORDER BY project_id, domain LIMIT $3`,
    [projectId, id, limit],
  );
  return rows.map((row) => ({ projectId: row.project_id, domain: row.domain }));
}

/** Lists the assignments of a project and of the installation. A project has at most one for each domain. */
export async function listAssignments(
  tx: Tx,
  projectId: number,
): Promise<(RelayUse & { relayId: string })[]> {
  const rows = await tx.query<{ project_id: number; domain: string; relay_id: string }>(
    `SELECT project_id, domain, relay_id FROM beckon.relay_assignment WHERE project_id = ANY ($1::bigint[])
     ORDER BY project_id, domain`,
    [plainList([projectId, INSTALLATION])],
  );
  return rows.map((row) => ({ projectId: row.project_id, domain: row.domain, relayId: row.relay_id }));
}

function toRelay(row: RelayRow): ConfiguredRelay {
  return {
    projectId: row.project_id,
    id: row.id,
    kind: row.kind,
    name: row.name,
    settings: row.settings,
    generation: row.generation,
    createdAt: row.created_at.getTime(),
    changedAt: row.changed_at.getTime(),
    checkedAt: row.checked_at?.getTime() ?? null,
    checkFailure: row.check_failure,
    failing: toFailing(row),
    feedbackProvenAt: row.feedback_proven_at?.getTime() ?? null,
    feedbackCursor: row.feedback_cursor,
  };
}

function toFailing({
  failing_since: since,
  failed_at: lastAt,
  failure,
}: RelayRow): ConfiguredRelay['failing'] {
  if (since === null || lastAt === null || failure === null) return null;
  return { since: since.getTime(), lastAt: lastAt.getTime(), message: failure };
}
