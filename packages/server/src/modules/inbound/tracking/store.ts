import { type EmailRef, deleteLinksBefore, deleteLinksOf } from '../../outcomes/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { plainList, momentList } from '../../../platform/db/list.ts';
import type { AdmittedHit, BotClassification } from './hits.ts';

type CountedHits = EmailRef & { hits: number; classifyAt: number };

/**
 * Counts hits and locks the counts of their emails in one order. Returns the new totals as `hits`. An email that does not exist is ignored:
 * its recipient was erased, or it is too old. The lock serializes this with an erasure. Reads a table of the outcomes module.
 */
export async function addHitCounts(tx: Tx, counted: CountedHits[]): Promise<(EmailRef & { hits: number })[]> {
  const rows = await tx.prepared<{ project_id: number; email_id: string; hits: number }>({
    name: 'inbound.count_hits',
    text: `WITH tracked AS MATERIALIZED (
             SELECT l.project_id, l.email_id, l.external_user_id, n.hits, n.classify_at
             FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::timestamptz[]) AS n(project_id, email_id, hits, classify_at)
             JOIN beckon.tracking_link l ON l.project_id = n.project_id AND l.email_id = n.email_id
             ORDER BY l.project_id, l.email_id FOR KEY SHARE OF l
           )
           INSERT INTO beckon.hit_count AS c (project_id, email_id, external_user_id, hits, classify_at)
           SELECT * FROM tracked ORDER BY project_id, email_id
           ON CONFLICT (project_id, email_id) DO UPDATE
             SET hits = c.hits + excluded.hits, classify_at = least(c.classify_at, excluded.classify_at)
           RETURNING project_id, email_id, hits`,
    values: [
      plainList(counted.map((count) => count.projectId)),
      plainList(counted.map((count) => count.emailId)),
      plainList(counted.map((count) => count.hits)),
      momentList(counted.map((count) => count.classifyAt)),
    ],
  });
  return rows.map((row) => ({ projectId: row.project_id, emailId: row.email_id, hits: row.hits }));
}

/** Stores each hit in its slot, replacing the earlier one. */
export async function upsertHits(tx: Tx, hits: (EmailRef & AdmittedHit)[]): Promise<void> {
  if (hits.length === 0) return;
  await tx.prepared({
    name: 'inbound.insert_hits',
    text: `INSERT INTO beckon.hit (project_id, email_id, number, kind, link, at, agent, remote, signs)
           SELECT project_id, email_id, number, kind, link, at, agent, remote, string_to_array(signs, ' ')
           FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::int[], $6::timestamptz[], $7::text[], $8::text[], $9::text[])
             AS n(project_id, email_id, number, kind, link, at, agent, remote, signs)
           ON CONFLICT (project_id, email_id, number) DO UPDATE SET kind = excluded.kind, link = excluded.link,
             at = excluded.at, agent = excluded.agent, remote = excluded.remote, signs = excluded.signs,
             bot = NULL, bot_reason = NULL`,
    values: [
      plainList(hits.map((hit) => hit.projectId)),
      plainList(hits.map((hit) => hit.emailId)),
      plainList(hits.map((hit) => hit.number)),
      plainList(hits.map((hit) => hit.kind)),
      plainList(hits.map((hit) => hit.link)),
      momentList(hits.map((hit) => hit.at)),
      hits.map((hit) => hit.agent),
      hits.map((hit) => hit.remote),
      hits.map((hit) => hit.signs.join(' ')),
    ],
  });
}

type HitClassification = { emailId: string; number: number } & BotClassification;

export async function saveClassifications(
  tx: Tx,
  projectId: number,
  classifications: HitClassification[],
): Promise<void> {
  if (classifications.length === 0) return;
  await tx.prepared({
    name: 'inbound.classifications',
    text: `UPDATE beckon.hit h SET bot = n.bot, bot_reason = n.reason
           FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[]) AS n(email_id, number, bot, reason)
           WHERE h.project_id = $1 AND h.email_id = n.email_id AND h.number = n.number`,
    values: [
      projectId,
      plainList(classifications.map((hit) => hit.emailId)),
      plainList(classifications.map((hit) => hit.number)),
      plainList(classifications.map((hit) => hit.bot)),
      plainList(classifications.map((hit) => hit.reason)),
    ],
  });
}

/** `classifyAt`: when the oldest unclassified hit is due. */
export async function settleCounts(
  tx: Tx,
  projectId: number,
  counts: { emailId: string; classifyAt: number | null }[],
): Promise<void> {
  await tx.prepared({
    name: 'inbound.mark_classified',
    text: `UPDATE beckon.hit_count c SET classify_at = n.classify_at
           FROM unnest($2::uuid[], $3::timestamptz[]) AS n(email_id, classify_at)
           WHERE c.project_id = $1 AND c.email_id = n.email_id`,
    values: [
      projectId,
      plainList(counts.map((count) => count.emailId)),
      momentList(counts.map((count) => count.classifyAt)),
    ],
  });
}

/** Postpones the hits of emails that no other process has locked. */
export async function postponeHits(
  tx: Tx,
  { projectId, emailIds, until }: { projectId: number; emailIds: string[]; until: Date },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.hit_count c SET classify_at = $3
     FROM (SELECT email_id FROM beckon.hit_count WHERE project_id = $1 AND email_id = ANY ($2::uuid[]) AND classify_at < $3
       ORDER BY email_id FOR UPDATE SKIP LOCKED) n
     WHERE c.project_id = $1 AND c.email_id = n.email_id`,
    [projectId, plainList(emailIds), until],
  );
}

type Step = { projectId: number; before: Date; limit: number };

/** Deletes the client data of hits before a time. Their signs and classification stay. Returns how many were changed. */
export async function forgetAgents(tx: Tx, { projectId, before, limit }: Step): Promise<number> {
  const rows = await tx.query(
    `UPDATE beckon.hit h SET agent = NULL, remote = NULL
     FROM (SELECT email_id, number FROM beckon.hit
       WHERE project_id = $1 AND at < $2 AND (agent IS NOT NULL OR remote IS NOT NULL) ORDER BY at LIMIT $3
       FOR UPDATE SKIP LOCKED) o
     WHERE h.project_id = $1 AND h.email_id = o.email_id AND h.number = o.number RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}

/** Deletes the link targets of emails created before a time, with their hits. These links no longer work. */
export async function forgetLinks(tx: Tx, step: Step): Promise<number> {
  const emailIds = await deleteLinksBefore(tx, step);
  const of = [step.projectId, plainList(emailIds)];
  await tx.query(`DELETE FROM beckon.hit_count WHERE project_id = $1 AND email_id = ANY ($2::uuid[])`, of);
  await tx.query(`DELETE FROM beckon.hit WHERE project_id = $1 AND email_id = ANY ($2::uuid[])`, of);
  return emailIds.length;
}

/**
 * Deletes all hits of a user's emails and returns the number of stored ones. Call it before their outcomes are deleted, because a process
 * that creates an outcome from a hit holds the lock on its count.
 */
export async function eraseHits(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const of = [projectId, userId];
  await deleteLinksOf(tx, { projectId, userId });
  const counts = await tx.query<{ email_id: string }>(
    `DELETE FROM beckon.hit_count WHERE project_id = $1 AND external_user_id = $2 RETURNING email_id`,
    of,
  );
  const rows = await tx.query(
    `DELETE FROM beckon.hit WHERE project_id = $1 AND email_id = ANY ($2::uuid[]) RETURNING 1`,
    [projectId, plainList(counts.map((row) => row.email_id))],
  );
  return rows.length;
}
