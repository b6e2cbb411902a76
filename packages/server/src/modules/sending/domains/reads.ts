import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { DkimKey, Slot } from './dkim-key.ts';
import {
  type DomainState,
  parseThrottle,
  type SendingDomain,
  type Tracking,
  type TrackingState,
} from './domain.ts';
import type { DueDomain, DueProbe, EncryptedDkimKey } from './store.ts';
import type { DnsRecordFinding, DkimKeyState } from './findings.ts';

type DomainRow = {
  project_id: number;
  id: string;
  name: string;
  state: DomainState;
  findings: DnsRecordFinding[];
  misses: number;
  failing_since: Date | null;
  created_at: Date;
  verified_at: Date | null;
  checked_at: Date | null;
  next_check_at: Date | null;
  throttle: string;
  warm: boolean;
  warmup_from: Date | null;
  paused_at: Date | null;
  paused_reason: string | null;
  resumed_at: Date | null;
} & TrackingRow;

type TrackingRow = {
  tracking_host: string | null;
  tracking_state: TrackingState | null;
  tracking_found: string | null;
  tracking_misses: number;
  tracking_since: Date | null;
  tracking_worked_at: Date | null;
  tracking_checked_at: Date | null;
  tracking_next_at: Date | null;
};

const COLUMNS = `d.project_id, d.id, d.name, d.state, d.findings, d.misses, d.failing_since, d.created_at, d.verified_at,
  d.checked_at, d.next_check_at, d.throttle, d.warm, d.warmup_from, d.paused_at, d.paused_reason, d.resumed_at,
  d.tracking_host, d.tracking_state, d.tracking_found, d.tracking_misses, d.tracking_since,
  d.tracking_worked_at, d.tracking_checked_at, d.tracking_next_at`;

export async function findDomain(
  tx: Tx,
  { projectId, name }: { projectId: number; name: string },
): Promise<SendingDomain | undefined> {
  const rows = await tx.query<DomainRow>(
    `SELECT ${COLUMNS} FROM beckon.sending_domain d WHERE d.project_id = $1 AND d.name = $2`,
    [projectId, name],
  );
  return rows[0] && toDomain(rows[0]);
}

type DomainId = Pick<SendingDomain, 'projectId' | 'id'>;

export async function findDomainById(
  tx: Tx,
  { projectId, id }: DomainId,
): Promise<SendingDomain | undefined> {
  const rows = await tx.query<DomainRow>(
    `SELECT ${COLUMNS} FROM beckon.sending_domain d WHERE d.project_id = $1 AND d.id = $2`,
    [projectId, id],
  );
  return rows[0] && toDomain(rows[0]);
}

/** Locks a domain, waiting for its current holder. Required to change the domain or its keys. */
export async function lockDomain(tx: Tx, { projectId, id }: DomainId): Promise<SendingDomain | undefined> {
  const rows = await tx.query<DomainRow>(
    `SELECT ${COLUMNS} FROM beckon.sending_domain d WHERE d.project_id = $1 AND d.id = $2 FOR UPDATE`,
    [projectId, id],
  );
  return rows[0] && toDomain(rows[0]);
}

/** Lists the domains of a project by name. There are at most a hundred. */
export async function listDomains(tx: Tx, projectId: number): Promise<SendingDomain[]> {
  const rows = await tx.query<DomainRow>(
    `SELECT ${COLUMNS} FROM beckon.sending_domain d WHERE d.project_id = $1 ORDER BY d.name`,
    [projectId],
  );
  return rows.map(toDomain);
}

/** Lists the domains of all projects that are due for a check, the longest overdue first. */
export async function listDueDomains(
  tx: Tx,
  { now, limit }: { now: number; limit: number },
): Promise<DueDomain[]> {
  const rows = await tx.query<{ project_id: number; id: string; next_check_at: Date }>(
    `SELECT project_id, id, next_check_at FROM beckon.sending_domain WHERE next_check_at <= $1
     ORDER BY next_check_at LIMIT $2`,
    [new Date(now), limit],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    id: row.id,
    nextCheckAt: row.next_check_at.getTime(),
  }));
}

/** Lists SPF records of all projects that lack an include, as the last check of the domain found. */
export function listSpfFaults(tx: Tx, limit: number): Promise<{ name: string; include: string }[]> {
  return tx.query(
    `SELECT DISTINCT f ->> 'name' AS name, f ->> 'include' AS include
     FROM beckon.sending_domain d CROSS JOIN LATERAL jsonb_array_elements(d.findings) AS f
     WHERE f ->> 'kind' = 'return_path_spf' AND f ->> 'verdict' IN ('missing', 'wrong') AND f ->> 'include' IS NOT NULL
     ORDER BY 1, 2 LIMIT $1`,
    [limit],
  );
}

/** Lists the domains of all projects with a tracking host that is due for a probe, the longest overdue first. */
export async function listDueProbes(
  tx: Tx,
  { now, limit }: { now: number; limit: number },
): Promise<DueProbe[]> {
  const rows = await tx.query<{ project_id: number; id: string; tracking_next_at: Date }>(
    `SELECT project_id, id, tracking_next_at FROM beckon.sending_domain WHERE tracking_next_at <= $1
     ORDER BY tracking_next_at LIMIT $2`,
    [new Date(now), limit],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    id: row.id,
    nextAt: row.tracking_next_at.getTime(),
  }));
}

/**
 * Lists the tracking hosts of all projects whose domain is verified and that have worked at least once. Any member who may add a domain can
 * register a host below it. So a host without both proofs must not change how a request is answered.
 */
export async function listTrackingHosts(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ host: string }>(
    `SELECT DISTINCT tracking_host AS host FROM beckon.sending_domain
     WHERE tracking_worked_at IS NOT NULL AND state IN ('verified', 'degraded') LIMIT $1`,
    [limit],
  );
  return rows.map(({ host }) => host);
}

type KeyRow = {
  project_id: number;
  domain_id: string;
  slot: Slot;
  state: DkimKeyState;
  public_key: string;
  created_at: Date;
  changed_at: Date;
};

/** Lists the keys of these domains of one project, without their private halves. */
export async function listKeys(tx: Tx, projectId: number, domainIds: string[]): Promise<DkimKey[]> {
  const rows = await tx.query<KeyRow>(
    `SELECT project_id, domain_id, slot, state, public_key, created_at, changed_at FROM beckon.dkim_key
     WHERE project_id = $1 AND domain_id = ANY ($2::uuid[]) ORDER BY domain_id, slot`,
    [projectId, plainList(domainIds)],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    domainId: row.domain_id,
    slot: row.slot,
    state: row.state,
    publicKey: row.public_key,
    createdAt: row.created_at.getTime(),
    changedAt: row.changed_at.getTime(),
  }));
}

type EncryptedKeyRow = {
  project_id: number;
  domain_id: string;
  slot: Slot;
  created_at: Date;
  private_key: Buffer;
};

/** Lists all stored keys in the order of their primary key. `after` is the last one of the previous page. */
export async function listEncryptedKeys(
  tx: Tx,
  { after, limit }: { after: EncryptedDkimKey | null; limit: number },
): Promise<EncryptedDkimKey[]> {
  const rows = await tx.query<EncryptedKeyRow>(
    `SELECT project_id, domain_id, slot, created_at, private_key FROM beckon.dkim_key
     WHERE (project_id, domain_id, slot) > ($1, $2::uuid, $3) ORDER BY project_id, domain_id, slot LIMIT $4`,
    [after?.projectId ?? 0, after?.domainId ?? NO_ID, after?.slot ?? '', limit],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    domainId: row.domain_id,
    slot: row.slot,
    createdAt: row.created_at.getTime(),
    encrypted: row.private_key,
  }));
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

export type SignerRow = {
  domain: SendingDomain;
  key: { slot: Slot; createdAt: number; encrypted: Buffer } | null;
};

/** Finds the domain to send from with its signing key: the longest of these names that may send, or otherwise the longest of them. */
export async function findSigner(
  tx: Tx,
  { projectId, names }: { projectId: number; names: string[] },
): Promise<SignerRow | null> {
  const rows = await tx.prepared<
    DomainRow & { slot: Slot | null; key_created_at: Date | null; private_key: Buffer | null }
  >({
    name: 'domains.signer',
    text: `SELECT ${COLUMNS}, k.slot, k.created_at AS key_created_at, k.private_key
           FROM (
             SELECT * FROM beckon.sending_domain WHERE project_id = $1 AND name = ANY ($2)
             ORDER BY state IN ('verified', 'degraded') DESC, length(name) DESC LIMIT 1
           ) d
           LEFT JOIN beckon.dkim_key k ON k.project_id = $1 AND k.domain_id = d.id AND k.state = 'active'`,
    values: [projectId, names],
  });
  const [row] = rows;
  if (!row) return null;
  const { slot, key_created_at: at, private_key: encrypted } = row;
  const key = slot && at && encrypted ? { slot, createdAt: at.getTime(), encrypted } : null;
  return { domain: toDomain(row), key };
}

function toDomain(row: DomainRow): SendingDomain {
  return {
    projectId: row.project_id,
    id: row.id,
    name: row.name,
    state: row.state,
    findings: row.findings,
    misses: row.misses,
    failingSince: ms(row.failing_since),
    throttle: parseThrottle(row.throttle),
    warm: row.warm,
    warmupFrom: ms(row.warmup_from),
    pausedAt: ms(row.paused_at),
    pausedReason: row.paused_reason,
    resumedAt: ms(row.resumed_at),
    tracking: toTracking(row),
    createdAt: row.created_at.getTime(),
    verifiedAt: ms(row.verified_at),
    checkedAt: ms(row.checked_at),
    nextCheckAt: ms(row.next_check_at),
  };
}

function toTracking(row: TrackingRow): Tracking | null {
  const { tracking_host: host, tracking_state: state, tracking_since: since, tracking_next_at: next } = row;
  if (host === null || state === null || since === null || next === null) return null;
  return {
    host,
    state,
    found: row.tracking_found,
    misses: row.tracking_misses,
    since: since.getTime(),
    workedAt: ms(row.tracking_worked_at),
    checkedAt: ms(row.tracking_checked_at),
    nextAt: next.getTime(),
  };
}

function ms(at: Date | null): number | null {
  return at?.getTime() ?? null;
}
