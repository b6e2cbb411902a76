import { momentList, plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Outcome } from './outcome.ts';

/**
 * Inserts into `outcome` and returns the ids of the new ones. Rows are sorted, so that concurrent writers of the same outcome do not
 * deadlock.
 */
export async function insertOutcomes(tx: Tx, outcomes: Outcome[]): Promise<Set<string>> {
  if (outcomes.length === 0) return new Set();
  const rows = await tx.prepared<{ id: string }>({
    name: 'outcomes.insert',
    text: `INSERT INTO beckon.outcome (project_id, id, email_id, draft_id, rule_id, external_user_id, type, link, class,
             occurred_at, recorded_at, detail)
           SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::int[],
             $9::text[], $10::timestamptz[], $11::timestamptz[], $12::jsonb[])
             AS n(project_id, id, email_id, draft_id, rule_id, user_id, type, link, class, occurred_at, recorded_at, detail)
           ORDER BY project_id, email_id, type, link, class
           ON CONFLICT (project_id, email_id, type, link, class) DO NOTHING RETURNING id`,
    values: [
      plainList(outcomes.map((outcome) => outcome.projectId)),
      plainList(outcomes.map((outcome) => outcome.id)),
      plainList(outcomes.map((outcome) => outcome.emailId)),
      plainList(outcomes.map((outcome) => outcome.draftId)),
      plainList(outcomes.map((outcome) => outcome.ruleId)),
      outcomes.map((outcome) => outcome.userId),
      plainList(outcomes.map((outcome) => outcome.type)),
      plainList(outcomes.map((outcome) => outcome.link)),
      outcomes.map((outcome) => outcome.class),
      momentList(outcomes.map((outcome) => outcome.occurredAt)),
      momentList(outcomes.map((outcome) => outcome.recordedAt)),
      outcomes.map((outcome) => JSON.stringify(outcome.detail)),
    ],
  });
  return new Set(rows.map((row) => row.id));
}

/** Deletes the outcomes of a user's emails and returns their number. */
export async function eraseOutcomes(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.outcome WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length;
}

/** An email in `tracking_link`, with its hits in `hit_count` and `hit`. */
export type TrackedEmail = EmailRef & {
  userId: string;
  opens: boolean;
  /** The link targets by link number, encoded as URLs in browsers are, which contain no spaces. */
  urls: readonly string[];
};

/** Inserts the links of emails submitted in the same transaction. */
export async function insertLinks(tx: Tx, emails: TrackedEmail[]): Promise<void> {
  if (emails.length === 0) return;
  await tx.prepared({
    name: 'outcomes.links',
    text: `INSERT INTO beckon.tracking_link (project_id, email_id, external_user_id, opens, urls)
           SELECT project_id, email_id, user_id, opens, string_to_array(urls, ' ')
           FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::boolean[], $5::text[])
             AS n(project_id, email_id, user_id, opens, urls)
           ON CONFLICT (project_id, email_id) DO UPDATE SET opens = excluded.opens, urls = excluded.urls`,
    values: [
      plainList(emails.map((email) => email.projectId)),
      plainList(emails.map((email) => email.emailId)),
      emails.map((email) => email.userId),
      plainList(emails.map((email) => email.opens)),
      emails.map((email) => email.urls.join(' ')),
    ],
  });
}

/** Deletes the link targets of emails created before a time, and returns the ids of these emails. Their hits are deleted afterwards. */
export async function deleteLinksBefore(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ email_id: string }>(
    `DELETE FROM beckon.tracking_link WHERE project_id = $1 AND email_id = ANY (ARRAY(
       SELECT email_id FROM beckon.tracking_link WHERE project_id = $1 AND email_id < $2::uuid
       ORDER BY email_id LIMIT $3)) RETURNING email_id`,
    [projectId, smallestIdOf(before), limit],
  );
  return rows.map((row) => row.email_id);
}

/** Ids start with the time of their creation. */
function smallestIdOf(moment: Date): string {
  const time = moment.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** Deletes the link targets of a user's emails. */
export async function deleteLinksOf(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<void> {
  await tx.query(`DELETE FROM beckon.tracking_link WHERE project_id = $1 AND external_user_id = $2`, [
    projectId,
    userId,
  ]);
}

export type EmailRef = { projectId: number; emailId: string };
