import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { findAssignedRelays } from './reads.ts';
import { INSTALLATION, WHOLE_PROJECT } from './relay.ts';

/** Lists the relays that are used by any project, a domain or the installation, and the feedback of `SMTP_URL`. */
export async function listUsedRelayIds(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ relay_id: string }>(
    `SELECT relay_id FROM beckon.relay_assignment
     UNION SELECT id FROM beckon.relay WHERE project_id = $1 AND kind = 'smtp_url'
     ORDER BY relay_id LIMIT $2`,
    [INSTALLATION, limit],
  );
  return rows.map((row) => row.relay_id);
}

/** Lists the names of all relays in use through which no bounce or complaint has come back yet. */
export async function listUnprovenNames(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `SELECT r.name FROM beckon.relay r
     WHERE r.feedback_proven_at IS NULL AND (r.kind = 'smtp_url' OR EXISTS (SELECT 1 FROM beckon.relay_assignment a
       WHERE a.relay_project_id = r.project_id AND a.relay_id = r.id))
     ORDER BY r.name LIMIT $1`,
    [limit],
  );
  return rows.map((row) => row.name);
}

/** Lists the relays in use by a project through which no bounce or complaint has come back yet. */
export async function listUnprovenRelays(
  tx: Tx,
  projectId: number,
): Promise<{ unproven: { id: string; name: string }[]; usesSmtpUrl: boolean }> {
  const { byDomain, fallback } = await findAssignedRelays(tx, projectId);
  const used = [...byDomain.values(), ...(fallback && !byDomain.has(WHOLE_PROJECT) ? [fallback] : [])];
  const usesSmtpUrl = !fallback && !byDomain.has(WHOLE_PROJECT);
  if (used.length === 0) return { unproven: [], usesSmtpUrl };
  const unproven = await tx.query<{ id: string; name: string }>(
    `SELECT r.id, r.name FROM beckon.relay r
     WHERE r.project_id = ANY ($1::bigint[]) AND r.id = ANY ($2::uuid[]) AND r.feedback_proven_at IS NULL
     ORDER BY r.name`,
    [plainList([projectId, INSTALLATION]), plainList(used.map(({ id }) => id))],
  );
  return { unproven, usesSmtpUrl };
}
