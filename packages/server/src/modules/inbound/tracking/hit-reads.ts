import type { BotLikelihood } from '@beckon/contract';
import { plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { DueQueries } from '../../../platform/jobs/work-watch.ts';
import type { EmailRef } from '../../outcomes/index.ts';
import { HITS_MAX, type HitSign, type StoredHit } from './hits.ts';

export type LinkKey = EmailRef & { link: number };

/** Returns the target of each of these links, or null for a link that no longer exists. Reads a table of the outcomes module. */
export async function listTargets(tx: Tx, keys: LinkKey[]): Promise<(string | null)[]> {
  const rows = await tx.prepared<{ url: string | null }>({
    name: 'inbound.targets',
    text: `SELECT l.urls[n.link + 1] AS url
           FROM unnest($1::bigint[], $2::uuid[], $3::int[]) WITH ORDINALITY AS n(project_id, email_id, link, position)
           LEFT JOIN beckon.tracking_link l ON l.project_id = n.project_id AND l.email_id = n.email_id
           ORDER BY n.position`,
    values: [
      plainList(keys.map((key) => key.projectId)),
      plainList(keys.map((key) => key.emailId)),
      plainList(keys.map((key) => key.link)),
    ],
  });
  return rows.map((row) => row.url);
}

/** For the watch of work: when the next hits are due. The condition is that of the partial index. */
export const HITS_DUE: DueQueries = {
  nextAt: 'SELECT min(classify_at) FROM beckon.hit_count WHERE classify_at IS NOT NULL',
};

/** `hits`: how many of its hits may be stored. */
export type DueHits = { emailId: string; hits: number };

/** Lists emails by project with hits that are due for classification, those with the longest wait first. */
export async function listDueHits(
  tx: Tx,
  { now, limit }: { now: number; limit: number },
): Promise<Map<number, DueHits[]>> {
  const rows = await tx.prepared<{ project_id: number; email_id: string; hits: number }>({
    name: 'inbound.due_hits',
    text: `SELECT project_id, email_id, least(hits, ${HITS_MAX})::int AS hits FROM beckon.hit_count
           WHERE classify_at <= $1 ORDER BY classify_at LIMIT $2`,
    values: [new Date(now), limit],
  });
  const byProject = Map.groupBy(rows, (row) => row.project_id);
  return new Map(
    [...byProject].map(([projectId, projectRows]) => [
      projectId,
      projectRows.map(({ email_id: emailId, hits }) => ({ emailId, hits })),
    ]),
  );
}

/** `sentAt`: when the next server accepted the email, or the first attempt if that is unknown. `opens`: opens are tracked. */
export type DueEmail = { emailId: string; opens: boolean; urls: string[]; sentAt: number | null };

/**
 * Claims those of these emails that are still due and that no other process classifies. Reads the table `tracking_link` of the outcomes
 * module. Reads the table `email` of the sending module for the time of sending, one email at a time. In a join, a planner without
 * statistics reads all emails of the project.
 */
export async function claimDueHits(
  tx: Tx,
  { projectId, emailIds, now }: { projectId: number; emailIds: string[]; now: number },
): Promise<DueEmail[]> {
  const rows = await tx.prepared<{
    email_id: string;
    opens: boolean;
    urls: string[];
    sent_at: Date | null;
  }>({
    name: 'inbound.claim_hits',
    text: `SELECT c.email_id, l.opens, l.urls,
             (SELECT CASE WHEN m.state = 'sent' THEN m.ended_at ELSE m.first_at END FROM beckon.email m
              WHERE m.project_id = c.project_id AND m.id = c.email_id) AS sent_at
           FROM beckon.hit_count c
           JOIN beckon.tracking_link l ON l.project_id = c.project_id AND l.email_id = c.email_id
           WHERE c.project_id = $1 AND c.email_id = ANY ($2::uuid[]) AND c.classify_at <= $3
           ORDER BY c.email_id FOR UPDATE OF c SKIP LOCKED`,
    values: [projectId, plainList(emailIds), new Date(now)],
  });
  return rows.map((row) => ({
    emailId: row.email_id,
    opens: row.opens,
    urls: row.urls,
    sentAt: row.sent_at?.getTime() ?? null,
  }));
}

type Row = {
  project_id: number;
  email_id: string;
  number: number;
  kind: StoredHit['kind'];
  link: number | null;
  at: Date;
  bot: BotLikelihood | null;
  agent: string | null;
  remote: string | null;
  signs: HitSign[];
};

export type KeptHitOf = EmailRef & StoredHit;

/** Lists the stored hits of these emails, at most a hundred each. */
export async function listHits(tx: Tx, emails: EmailRef[]): Promise<KeptHitOf[]> {
  if (emails.length === 0) return [];
  const rows = await tx.prepared<Row>({
    name: 'inbound.hits',
    text: `SELECT h.project_id, h.email_id, h.number, h.kind, h.link, h.at, h.bot, h.agent, h.remote, h.signs
           FROM unnest($1::bigint[], $2::uuid[]) AS n(project_id, email_id)
           JOIN beckon.hit h ON h.project_id = n.project_id AND h.email_id = n.email_id
           ORDER BY h.project_id, h.email_id, h.number`,
    values: [
      plainList(emails.map((email) => email.projectId)),
      plainList(emails.map((email) => email.emailId)),
    ],
  });
  return rows.map(({ project_id: projectId, email_id: emailId, at, ...rest }) => ({
    projectId,
    emailId,
    at: at.getTime(),
    ...rest,
  }));
}

/** A hit with its classification. `bot` is null before that. */
export type ClassifiedHit = StoredHit & { botReason: string | null };

/** Lists the hits of an email with their classification. `counted` is the number of all hits, while at most a hundred are stored. */
export async function listClassifiedHits(
  tx: Tx,
  { projectId, emailId }: EmailRef,
): Promise<{ hits: ClassifiedHit[]; counted: number }> {
  const rows = await tx.query<Omit<Row, 'project_id' | 'email_id'> & { reason: string | null; hits: number }>(
    `SELECT h.number, h.kind, h.link, h.at, h.bot, h.bot_reason AS reason, h.agent, h.remote, h.signs, c.hits
     FROM beckon.hit_count c JOIN beckon.hit h ON h.project_id = c.project_id AND h.email_id = c.email_id
     WHERE c.project_id = $1 AND c.email_id = $2 ORDER BY h.at, h.number`,
    [projectId, emailId],
  );
  const hits = rows.map(({ at, reason: botReason, hits: _hits, ...rest }) => ({
    ...rest,
    at: at.getTime(),
    botReason,
  }));
  return { hits, counted: rows[0]?.hits ?? 0 };
}
