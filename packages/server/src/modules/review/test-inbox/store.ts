/** Rows of `test_inbox_email`. */

import type { Tx } from '../../../platform/db/statements.ts';
import type { KeptMail, NewMail } from './mail.ts';

export type MailRow = Omit<NewMail, 'raw'> & { subject: string; packed: Uint8Array; size: number };

/** Returns the number of this copy. Undefined: another copy arrived at the same time and took it. */
export async function insertMail(tx: Tx, row: MailRow): Promise<number | undefined> {
  const rows = await tx.prepared<{ copy: number }>({
    name: 'test_inbox.keep',
    text: `INSERT INTO beckon.test_inbox_email
             (project_id, id, copy, draft_id, external_user_id, mail_from, rcpt_to, subject, raw, size, at)
           SELECT $1, $2, 1 + coalesce((SELECT max(copy) FROM beckon.test_inbox_email WHERE project_id = $1 AND id = $2), 0),
                  $3, $4, $5, $6, $7, $8, $9, $10
           ON CONFLICT (project_id, id, copy) DO NOTHING RETURNING copy`,
    values: [
      row.projectId,
      row.id,
      row.draftId,
      row.userId,
      row.mailFrom,
      row.rcptTo,
      row.subject,
      row.packed,
      row.size,
      new Date(row.at),
    ],
  });
  return rows[0]?.copy;
}

/** Deletes the stored emails to or about this user. Returns their number. */
export async function deleteMailOf(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.test_inbox_email WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}

export type MailCursor = Pick<KeptMail, 'at' | 'id' | 'copy'>;

/** Deletes up to `limit` emails that arrived before this time, oldest first. Returns their number. */
export async function deleteMailBefore(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: number; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT id, copy FROM beckon.test_inbox_email WHERE project_id = $1 AND at < $2 ORDER BY at, id, copy LIMIT $3
       FOR UPDATE SKIP LOCKED
     )
     DELETE FROM beckon.test_inbox_email m USING old o
     WHERE m.project_id = $1 AND m.id = o.id AND m.copy = o.copy RETURNING 1`,
    [projectId, new Date(before), limit],
  );
  return rows.length;
}

/** Does the same for emails beyond the newest `keep`, which are counted by an index scan. */
export async function deleteMailBeyond(
  tx: Tx,
  { projectId, keep, limit }: { projectId: number; keep: number; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `WITH old AS MATERIALIZED (
       SELECT id, copy FROM beckon.test_inbox_email WHERE project_id = $1 ORDER BY at DESC, id DESC, copy DESC
       OFFSET $2 LIMIT $3
     )
     DELETE FROM beckon.test_inbox_email m USING old o
     WHERE m.project_id = $1 AND m.id = o.id AND m.copy = o.copy RETURNING 1`,
    [projectId, keep, limit],
  );
  return rows.length;
}
