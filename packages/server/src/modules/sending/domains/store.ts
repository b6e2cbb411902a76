import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { KeyMove, DkimKeyId, DkimKey } from './dkim-key.ts';
import { printThrottle, type SendingDomain, type Tracking } from './domain.ts';

/** Writes `sending_domain` and `dkim_key`. Returns false if the project already has the domain. */
export async function insertDomain(tx: Tx, domain: SendingDomain): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO beckon.sending_domain (project_id, id, name, state, findings, misses, failing_since, created_at, state_at, verified_at,
       checked_at, next_check_at, throttle, warm, warmup_from)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14)
     ON CONFLICT (project_id, name) DO NOTHING RETURNING 1`,
    [
      domain.projectId,
      domain.id,
      domain.name,
      domain.state,
      JSON.stringify(domain.findings),
      domain.misses,
      moment(domain.failingSince),
      moment(domain.createdAt),
      moment(domain.verifiedAt),
      moment(domain.checkedAt),
      moment(domain.nextCheckAt),
      printThrottle(domain.throttle),
      domain.warm,
      moment(domain.warmupFrom),
    ],
  );
  return rows.length > 0;
}

/** Requires a lock on the row of the domain. */
export async function updateDomain(tx: Tx, domain: SendingDomain): Promise<void> {
  await tx.query(
    `UPDATE beckon.sending_domain SET state = $3, findings = $4, misses = $5, failing_since = $6, verified_at = $7,
       checked_at = $8, next_check_at = $9, throttle = $10, warm = $11, warmup_from = $12,
       state_at = CASE WHEN state = $3 THEN state_at ELSE coalesce($8, state_at) END
     WHERE project_id = $1 AND id = $2`,
    [
      domain.projectId,
      domain.id,
      domain.state,
      JSON.stringify(domain.findings),
      domain.misses,
      moment(domain.failingSince),
      moment(domain.verifiedAt),
      moment(domain.checkedAt),
      moment(domain.nextCheckAt),
      printThrottle(domain.throttle),
      domain.warm,
      moment(domain.warmupFrom),
    ],
  );
}

/**
 * Checks the DNS records of domains of a project soon, because another relay needs other records. `domain`: null for all of them. Domains
 * that were never checked stay as they are.
 */
export async function setChecksDue(
  tx: Tx,
  { projectId, domain, at }: { projectId: number; domain: string | null; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.sending_domain SET next_check_at = $3
     WHERE project_id = $1 AND ($2::text IS NULL OR name = $2) AND next_check_at > $3`,
    [projectId, domain, new Date(at)],
  );
}

type DomainId = Pick<SendingDomain, 'projectId' | 'id'>;

/** Pauses sending from a domain until a member resumes it. A domain that is already paused keeps its reason. */
export async function pauseDomain(
  tx: Tx,
  { projectId, id, reason, at }: DomainId & { reason: string; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.sending_domain SET paused_at = $3, paused_reason = $4
     WHERE project_id = $1 AND id = $2 AND paused_at IS NULL`,
    [projectId, id, moment(at), reason],
  );
}

/** Resumes a domain and returns whether it was paused. Earlier rejections no longer count. */
export async function resumeDomain(
  tx: Tx,
  { projectId, id, at }: DomainId & { at: number },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.sending_domain SET paused_at = NULL, paused_reason = NULL, resumed_at = $3
     WHERE project_id = $1 AND id = $2 AND paused_at IS NOT NULL RETURNING 1`,
    [projectId, id, moment(at)],
  );
  return rows.length > 0;
}

/** Deletes a domain with its keys, so that nothing is signed for it anymore. Returns whether it existed. */
export async function deleteDomain(
  tx: Tx,
  { projectId, id }: Pick<SendingDomain, 'projectId' | 'id'>,
): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM beckon.sending_domain WHERE project_id = $1 AND id = $2 RETURNING 1`,
    [projectId, id],
  );
  await tx.query(`DELETE FROM beckon.dkim_key WHERE project_id = $1 AND domain_id = $2`, [projectId, id]);
  return rows.length > 0;
}

/** Requires a lock on the row of the domain. */
export async function updateTracking(
  tx: Tx,
  { projectId, id, tracking }: Pick<SendingDomain, 'projectId' | 'id' | 'tracking'>,
): Promise<void> {
  await tx.query(
    `UPDATE beckon.sending_domain SET tracking_host = $3, tracking_state = $4, tracking_found = $5, tracking_misses = $6,
       tracking_since = $7, tracking_worked_at = $8, tracking_checked_at = $9, tracking_next_at = $10
     WHERE project_id = $1 AND id = $2`,
    [projectId, id, ...(tracking ? columnsOf(tracking) : NO_TRACKING)],
  );
}

const NO_TRACKING = [null, null, null, 0, null, null, null, null];

function columnsOf(tracking: Tracking): unknown[] {
  const { host, state, found, misses, since, workedAt, checkedAt, nextAt } = tracking;
  return [host, state, found, misses, moment(since), moment(workedAt), moment(checkedAt), moment(nextAt)];
}

export type DueProbe = { projectId: number; id: string; nextAt: number };

/** Claims a probe in the same way as `claimCheck`. */
export async function claimProbe(tx: Tx, due: DueProbe, until: number): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.sending_domain SET tracking_next_at = $4
     WHERE project_id = $1 AND id = $2 AND tracking_next_at = $3 RETURNING 1`,
    [due.projectId, due.id, moment(due.nextAt), moment(until)],
  );
  return rows.length > 0;
}

export type DueDomain = { projectId: number; id: string; nextCheckAt: number };

/** Claims a check by moving its time forward, so that only one of two processes gets it. */
export async function claimCheck(tx: Tx, due: DueDomain, until: number): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.sending_domain SET next_check_at = $4 WHERE project_id = $1 AND id = $2 AND next_check_at = $3
     RETURNING 1`,
    [due.projectId, due.id, moment(due.nextCheckAt), moment(until)],
  );
  return rows.length > 0;
}

export async function insertDkimKey(tx: Tx, key: DkimKey, encrypted: Uint8Array): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.dkim_key (project_id, domain_id, slot, state, public_key, private_key, created_at, changed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      key.projectId,
      key.domainId,
      key.slot,
      key.state,
      key.publicKey,
      encrypted,
      moment(key.createdAt),
      moment(key.changedAt),
    ],
  );
}

/** Requires a lock on the row of the domain. */
export async function updateKeys(
  tx: Tx,
  { projectId, domainId }: Pick<DkimKey, 'projectId' | 'domainId'>,
  { moves, now }: { moves: KeyMove[]; now: number },
): Promise<void> {
  if (moves.length === 0) return;
  const gone = moves.filter(({ to }) => to === 'gone');
  const kept = moves.filter(({ to }) => to !== 'gone');
  await tx.query(`DELETE FROM beckon.dkim_key WHERE project_id = $1 AND domain_id = $2 AND slot = ANY ($3)`, [
    projectId,
    domainId,
    gone.map(({ slot }) => slot),
  ]);
  await tx.query(
    `UPDATE beckon.dkim_key k SET state = m.state, changed_at = $5
     FROM unnest($3::text[], $4::text[]) AS m(slot, state)
     WHERE k.project_id = $1 AND k.domain_id = $2 AND k.slot = m.slot`,
    [projectId, domainId, kept.map(({ slot }) => slot), kept.map(({ to }) => to), moment(now)],
  );
}

export type EncryptedDkimKey = DkimKeyId & { createdAt: number; encrypted: Buffer };

/** Replaces the encrypted value of the same key only. A key that was replaced since is already encrypted with the current secret. */
export async function updateEncryptedKeys(tx: Tx, keys: EncryptedDkimKey[]): Promise<void> {
  await tx.query(
    `UPDATE beckon.dkim_key k SET private_key = s.encrypted
     FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::timestamptz[], $5::bytea[])
       AS s(project_id, domain_id, slot, created_at, encrypted)
     WHERE k.project_id = s.project_id AND k.domain_id = s.domain_id AND k.slot = s.slot AND k.created_at = s.created_at`,
    [
      plainList(keys.map((key) => key.projectId)),
      plainList(keys.map((key) => key.domainId)),
      keys.map((key) => key.slot),
      momentList(keys.map((key) => key.createdAt)),
      keys.map((key) => key.encrypted),
    ],
  );
}

function moment(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
