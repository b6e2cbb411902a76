import { claimOfAny } from '../../../platform/db/distributed.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  COLUMNS,
  type NewReply,
  packRaw,
  REPLIES_OF_EMAIL_MAX,
  type Reply,
  type ReplyRow,
  toReply,
  unpackRaw,
} from './reply.ts';

/** `known`: the reply arrived before. `full`: the email has the maximum number of replies, so no more are kept. */
export type Inserted = 'new' | 'known' | 'full';

export async function insertReply(tx: Tx, reply: NewReply): Promise<Inserted> {
  const { projectId, emailId, inboundId, raw, forwardAt } = reply;
  const added = await tx.query(
    `INSERT INTO beckon.reply (project_id, id, email_id, draft_id, external_user_id, inbound_id, kind, verified,
       received_at, from_address, from_name, subject, text, raw, forward_at)
     SELECT $1::bigint, $2::uuid, $3::uuid, $4::uuid, $5, $6, $7, $8, $9::timestamptz, $10, $11, $12, $13, $14::bytea,
       $15::timestamptz
     WHERE (SELECT count(*) FROM beckon.reply WHERE project_id = $1 AND email_id = $3) < $16
     ON CONFLICT (project_id, email_id, inbound_id) DO NOTHING RETURNING 1`,
    [
      projectId,
      reply.id,
      emailId,
      reply.draftId,
      reply.userId,
      inboundId,
      reply.kind,
      reply.verified,
      new Date(reply.receivedAt),
      reply.fromAddress,
      reply.fromName,
      reply.subject,
      reply.text,
      raw && packRaw(raw),
      forwardAt === null ? null : new Date(forwardAt),
      REPLIES_OF_EMAIL_MAX,
    ],
  );
  if (added.length > 0) return 'new';
  const existing = await tx.query(
    `SELECT 1 FROM beckon.reply WHERE project_id = $1 AND email_id = $2 AND inbound_id = $3`,
    [projectId, emailId, inboundId],
  );
  return existing.length > 0 ? 'known' : 'full';
}

/** A reply to forward. `raw` is null if only its text is left. */
export type ForwardedReply = Reply & { raw: Buffer | null };

/** Leases the reply that has waited longest. After `leaseUntil`, another worker may take it. */
export async function takeForward(
  tx: Tx,
  { now, leaseUntil }: { now: number; leaseUntil: number },
): Promise<ForwardedReply | undefined> {
  const [row] = await claimOfAny<ReplyRow & { raw: Buffer | null }>(tx, {
    due: {
      text: 'SELECT project_id FROM beckon.reply WHERE forward_at <= $1 ORDER BY forward_at',
      values: [new Date(now)],
    },
    text: (of) => `WITH due AS MATERIALIZED (
       SELECT project_id, id FROM beckon.reply WHERE ${of('reply')}forward_at <= $1 ORDER BY forward_at LIMIT 1 FOR UPDATE SKIP LOCKED
     )
     UPDATE beckon.reply r SET forward_at = $2, forward_attempts = r.forward_attempts + 1 FROM due
     WHERE ${of('r')}r.project_id = due.project_id AND r.id = due.id RETURNING ${COLUMNS}, r.raw`,
    values: [new Date(now), new Date(leaseUntil)],
  });
  return row && { ...toReply(row), raw: row.raw && unpackRaw(row.raw) };
}

export type ForwardEnd = Pick<Reply, 'projectId' | 'id'> &
  (
    | { forwardedAt: number }
    /** `retryAt` null: forwarding is given up. `withoutRaw`: the next attempt forwards only the text. */
    | { failure: string; retryAt: number | null; withoutRaw: boolean }
  );

export async function endForward(tx: Tx, end: ForwardEnd): Promise<void> {
  if ('forwardedAt' in end) {
    await tx.query(
      `UPDATE beckon.reply SET forward_at = NULL, forwarded_at = $3, forward_error = NULL, raw = NULL
       WHERE project_id = $1 AND id = $2`,
      [end.projectId, end.id, new Date(end.forwardedAt)],
    );
    return;
  }
  const { failure, retryAt, withoutRaw } = end;
  await tx.query(
    `UPDATE beckon.reply SET forward_at = $3, forward_error = $4, raw = CASE WHEN $5::boolean THEN NULL ELSE raw END
     WHERE project_id = $1 AND id = $2`,
    [end.projectId, end.id, retryAt === null ? null : new Date(retryAt), failure, withoutRaw],
  );
}

/**
 * Schedules a reply to be forwarded again, with its attempts reset. Returns false if its sender failed verification. An automatic reply is
 * forwarded with its text only.
 */
export async function forwardAgain(
  tx: Tx,
  { projectId, id, at }: { projectId: number; id: string; at: number },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.reply SET forward_at = $3, forward_attempts = 0, forward_error = NULL
     WHERE project_id = $1 AND id = $2 AND verified <> 'failed' RETURNING 1`,
    [projectId, id, new Date(at)],
  );
  return rows.length > 0;
}

type Forgotten = { projectId: number; before: Date; limit: number };

/** Deletes up to `limit` replies received before `before`, oldest first. Returns their number. */
export async function forgetReplies(tx: Tx, { projectId, before, limit }: Forgotten): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT id FROM beckon.reply WHERE project_id = $1 AND received_at < $2 ORDER BY received_at, id LIMIT $3
       FOR UPDATE SKIP LOCKED
     )
     DELETE FROM beckon.reply r USING old WHERE r.project_id = $1 AND r.id = old.id RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}

/** Deletes only the raw message of such replies; their text stays. */
export async function forgetRaw(tx: Tx, { projectId, before, limit }: Forgotten): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT id FROM beckon.reply WHERE project_id = $1 AND received_at < $2 AND raw IS NOT NULL
       ORDER BY received_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     UPDATE beckon.reply r SET raw = NULL, forward_at = NULL FROM old
     WHERE r.project_id = $1 AND r.id = old.id RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}

/** Deletes the replies of an erased user. Returns their number. */
export async function eraseReplies(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.reply WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}
