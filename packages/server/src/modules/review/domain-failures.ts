import type { Tx } from '../../platform/db/statements.ts';
import type { SendingDomain } from '../sending/index.ts';

/**
 * Lists domains with new problems: those that were paused, degraded or failed after `since` and up to `until`. Reads a table of the sending
 * module.
 */
export async function listDomainFailures(
  tx: Tx,
  { projectId, since, until }: { projectId: number; since: number; until: number },
): Promise<DomainFailure[]> {
  return tx.query(
    `SELECT name, state, CASE WHEN paused_at > $2 AND paused_at <= $3 THEN paused_reason END AS paused FROM beckon.sending_domain
     WHERE project_id = $1 AND ((paused_at > $2 AND paused_at <= $3)
       OR (state IN ('degraded', 'failed') AND state_at > $2 AND state_at <= $3)) ORDER BY name`,
    [projectId, new Date(since), new Date(until)],
  );
}

/** `paused`: the reason, if the pause is new. */
export type DomainFailure = Pick<SendingDomain, 'name' | 'state'> & { paused: string | null };
