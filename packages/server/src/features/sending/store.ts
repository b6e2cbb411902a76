import { momentList, plainList, type Tx } from '../../io/db/index.ts';

/** `send_turn` and `message`. */
export async function insertSendTurn(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`INSERT INTO beckon.send_turn (project_id) VALUES ($1)`, [projectId]);
}

export type SendTurnRow = { tokens: number | null; refilled_at: Date | null };

/** Null where somebody else sends for this project just now. */
export async function lockFreeSendTurn(tx: Tx, projectId: number): Promise<SendTurnRow | null> {
  const rows = await tx.prepared<SendTurnRow>({
    name: 'sending.turn',
    text: `SELECT tokens, refilled_at FROM beckon.send_turn WHERE project_id = $1 FOR UPDATE SKIP LOCKED`,
    values: [projectId],
  });
  return rows[0] ?? null;
}

export async function findSendTurn(tx: Tx, projectId: number): Promise<SendTurnRow | undefined> {
  const rows = await tx.query<SendTurnRow>(
    `SELECT tokens, refilled_at FROM beckon.send_turn WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}

/** Waits for whoever is sending; a batch lasts some hundred milliseconds at most. */
export async function lockSendTurn(tx: Tx, projectId: number): Promise<void> {
  await tx.query(`SELECT 1 FROM beckon.send_turn WHERE project_id = $1 FOR UPDATE`, [projectId]);
}

export async function updateTokens(
  tx: Tx,
  { projectId, tokens, refilledAt }: { projectId: number; tokens: number; refilledAt: number },
): Promise<void> {
  await tx.prepared({
    name: 'sending.tokens',
    text: `UPDATE beckon.send_turn SET tokens = $2, refilled_at = $3 WHERE project_id = $1`,
    values: [projectId, tokens, new Date(refilledAt)],
  });
}

export type MessageRow = {
  projectId: number;
  draftId: string;
  id: string;
  ruleId: string;
  userId: string;
  /** Normalised. */
  address: string;
  counts: boolean;
  claimedAt: number;
};

/** One for each draft, for ever: the drafts whose message is new. */
export async function insertMessages(tx: Tx, rows: MessageRow[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const inserted = await tx.prepared<{ draft_id: string }>({
    name: 'sending.claim',
    text: `INSERT INTO beckon.message (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at)
           SELECT project_id, draft_id, id, rule_id, user_id, address, 'claimed', counts, claimed_at
           FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[])
             AS n(project_id, draft_id, id, rule_id, user_id, address, counts, claimed_at)
           ON CONFLICT (project_id, draft_id) DO NOTHING RETURNING draft_id`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      plainList(rows.map((row) => row.draftId)),
      plainList(rows.map((row) => row.id)),
      plainList(rows.map((row) => row.ruleId)),
      rows.map((row) => row.userId),
      rows.map((row) => row.address),
      plainList(rows.map((row) => row.counts)),
      momentList(rows.map((row) => row.claimedAt)),
    ],
  });
  return new Set(inserted.map((row) => row.draft_id));
}

export type MessageEnd = {
  draftId: string;
  state: 'sent' | 'failed' | 'unknown';
  reason: string | null;
};

/** What became of messages that were claimed; those that have ended already stay as they ended. */
export async function endMessages(
  tx: Tx,
  { projectId, at, ends }: { projectId: number; at: number; ends: MessageEnd[] },
): Promise<Set<string>> {
  const rows = await tx.prepared<{ draft_id: string }>({
    name: 'sending.end',
    text: `UPDATE beckon.message m SET state = n.state, reason = n.reason, ended_at = $5
           FROM unnest($2::uuid[], $3::text[], $4::text[]) AS n(draft_id, state, reason)
           WHERE m.project_id = $1 AND m.draft_id = n.draft_id AND m.ended_at IS NULL RETURNING m.draft_id`,
    values: [
      projectId,
      plainList(ends.map((end) => end.draftId)),
      plainList(ends.map((end) => end.state)),
      ends.map((end) => end.reason),
      new Date(at),
    ],
  });
  return new Set(rows.map((row) => row.draft_id));
}

/** How many messages of this person there were. */
export async function deleteMessages(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.message WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}
