import { FILTER_KEYS } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  NO_FILTER,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';
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
  filter?: Filter;
  /** The last reply of the previous page. */
  after?: Pick<Reply, 'receivedAt' | 'id'> | null;
  limit: number;
};

/** Returns one page of replies, newest first. */
export async function listReplies(tx: Tx, page: ReplyPage): Promise<Reply[]> {
  const { projectId, userId = null, filter = NO_FILTER, after = null, limit } = page;
  const values: unknown[] = [
    projectId,
    userId,
    after && new Date(after.receivedAt),
    after?.id ?? null,
    Math.min(limit, REPLIES_PAGE_MAX),
  ];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  const rows = await tx.query<ReplyRow>(
    `SELECT ${COLUMNS} FROM beckon.reply r
     WHERE r.project_id = $1 AND ($2::text IS NULL OR r.external_user_id = $2)
       AND ($3::timestamptz IS NULL OR (r.received_at, r.id) < ($3, $4::uuid)) AND ${where}
     ORDER BY r.received_at DESC, r.id DESC LIMIT $5`,
    values,
  );
  return rows.map(toReply);
}

/** Counts the replies of a list, up to `most`. */
export async function countListedReplies(
  tx: Tx,
  {
    projectId,
    userId = null,
    filter = NO_FILTER,
    most,
  }: Omit<ReplyPage, 'after' | 'limit'> & { most: number },
): Promise<number> {
  const values: unknown[] = [projectId, userId, most];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const [row] = await tx.query<{ replies: number }>(
    `SELECT count(*) AS replies FROM (
       SELECT 1 FROM beckon.reply r
       WHERE r.project_id = $1 AND ($2::text IS NULL OR r.external_user_id = $2) AND ${where} LIMIT $3
     ) counted`,
    values,
  );
  return row?.replies ?? 0;
}

const FILTERED: Record<keyof typeof FILTER_KEYS.replies | typeof WORDS, FilterColumn> = {
  user: { sql: 'r.external_user_id' },
  from: { sql: 'r.from_address' },
  subject: { sql: 'r.subject' },
  forwarded: {
    sql: `CASE WHEN r.forward_error IS NOT NULL THEN 'failed' WHEN r.forward_at IS NOT NULL THEN 'waiting'
      WHEN r.forwarded_at IS NULL THEN 'none' ELSE 'done' END`,
    among: FILTER_KEYS.replies.forwarded.values,
  },
  received: { sql: 'r.received_at', isTime: true },
  [WORDS]: wordsColumn(['r.external_user_id', 'r.from_address', 'r.from_name', 'r.subject', 'r.text']),
};

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
