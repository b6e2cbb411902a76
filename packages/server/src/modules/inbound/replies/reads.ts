import type { Tx } from '../../../platform/db/statements.ts';
import {
  COLUMNS,
  REPLIES_OF_EMAIL_MAX,
  REPLIES_PAGE_MAX,
  type Reply,
  type ReplyRow,
  toReply,
} from './reply.ts';

export type ReplyPage = {
  projectId: number;
  userId?: string | null;
  /** The last reply of the previous page. */
  after?: Pick<Reply, 'receivedAt' | 'id'> | null;
  limit: number;
};

/** Returns one page of replies, newest first. */
export async function listReplies(tx: Tx, page: ReplyPage): Promise<Reply[]> {
  const { projectId, userId = null, after = null, limit } = page;
  const rows = await tx.query<ReplyRow>(
    `SELECT ${COLUMNS} FROM beckon.reply r
     WHERE r.project_id = $1 AND ($2::text IS NULL OR r.external_user_id = $2)
       AND ($3::timestamptz IS NULL OR (r.received_at, r.id) < ($3, $4::uuid))
     ORDER BY r.received_at DESC, r.id DESC LIMIT $5`,
    [
      projectId,
      userId,
      after && new Date(after.receivedAt),
      after?.id ?? null,
      Math.min(limit, REPLIES_PAGE_MAX),
    ],
  );
  return rows.map(toReply);
}

/** Returns the replies to one email, oldest first. */
export async function listThread(
  tx: Tx,
  { projectId, emailId }: { projectId: number; emailId: string },
): Promise<Reply[]> {
  const rows = await tx.query<ReplyRow>(
    `SELECT ${COLUMNS} FROM beckon.reply r WHERE r.project_id = $1 AND r.email_id = $2
     ORDER BY r.received_at, r.id LIMIT $3`,
    [projectId, emailId, REPLIES_OF_EMAIL_MAX],
  );
  return rows.map(toReply);
}

export async function findReply(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<Reply | undefined> {
  const [row] = await tx.query<ReplyRow>(
    `SELECT ${COLUMNS} FROM beckon.reply r WHERE r.project_id = $1 AND r.id = $2`,
    [projectId, id],
  );
  return row && toReply(row);
}
