/** Reads of emails whose relays may be asked again. */

import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { UnknownEmail } from './decide-ask.ts';

/** Lists the projects whose relays are due to be asked again. It reads one entry of an index for each project that waits. */
export async function listProjectsToAsk(
  tx: Tx,
  { now, limit }: { now: Date; limit: number },
): Promise<number[]> {
  // Where tables are distributed, no statement skips from project to project: each node reads its part of the index.
  if (tx.isDistributed) {
    const due = await tx.query<{ project_id: number }>(
      `SELECT DISTINCT project_id FROM beckon.email WHERE ask_at <= $1 ORDER BY project_id LIMIT $2`,
      [now, limit],
    );
    return due.map((row) => row.project_id);
  }
  const rows = await tx.query<{ project_id: number }>(
    `WITH RECURSIVE waiting AS (
       (SELECT m.project_id FROM beckon.email m WHERE m.ask_at IS NOT NULL ORDER BY m.project_id LIMIT 1)
       UNION ALL
       SELECT (SELECT m.project_id FROM beckon.email m WHERE m.ask_at IS NOT NULL AND m.project_id > w.project_id
               ORDER BY m.project_id LIMIT 1)
       FROM waiting w WHERE w.project_id IS NOT NULL
     )
     SELECT w.project_id FROM waiting w
     WHERE EXISTS (SELECT 1 FROM beckon.email m WHERE m.project_id = w.project_id AND m.ask_at <= $1) LIMIT $2`,
    [now, limit],
  );
  return rows.map((row) => row.project_id);
}

/** Lists the emails of a project whose relays are due to be asked again, the longest overdue first. */
export async function listDueAsks(
  tx: Tx,
  { projectId, now, limit }: { projectId: number; now: Date; limit: number },
): Promise<UnknownEmail[]> {
  const rows = await tx.query<{
    draft_id: string;
    id: string;
    address: string;
    domain: string | null;
    relay: string;
    relay_generation: number;
    ended_at: Date;
    asks: number;
    ask_until: Date;
  }>(
    `SELECT draft_id, id, address, domain, relay, relay_generation, ended_at, asks, ask_until FROM beckon.email
     WHERE project_id = $1 AND ask_at <= $2 AND state = 'unknown' ORDER BY ask_at LIMIT $3`,
    [projectId, now, limit],
  );
  return rows.map((row) => ({
    draftId: row.draft_id,
    id: row.id,
    address: row.address,
    domain: row.domain ?? '',
    relay: row.relay,
    relayGeneration: row.relay_generation,
    endedAt: row.ended_at.getTime(),
    asks: row.asks,
    askUntil: row.ask_until.getTime(),
  }));
}

/** Returns those of these drafts that a member has sent again as a new draft. Reads a table of the drafts module. */
export async function findSentAgain(
  tx: Tx,
  { projectId, draftIds }: { projectId: number; draftIds: string[] },
): Promise<Set<string>> {
  const rows = await tx.query<{ draft_id: string }>(
    `SELECT DISTINCT m.draft_id FROM beckon.draft_move m
     WHERE m.project_id = $1 AND m.draft_id = ANY ($2::uuid[]) AND m.action = 'send_again'`,
    [projectId, plainList(draftIds)],
  );
  return new Set(rows.map((row) => row.draft_id));
}
