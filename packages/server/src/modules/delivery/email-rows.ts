/** Reads of the tables `email*` and `send_*` of the sending module. */

import { smallestIdAt } from '../../platform/ids.ts';
import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { unpackMime } from './pack-mime.ts';
import type { WarmupCounts } from './gate/limits.ts';
import { type DomainLimitRow, HAS_SLOT } from '../sending/index.ts';

/** Returns when emails that count towards the caps were claimed for these addresses since then, newest first. */
export async function findClaims(
  tx: Tx,
  { projectId, addresses, since }: { projectId: number; addresses: string[]; since: number },
): Promise<Map<string, number[]>> {
  const claims = new Map<string, number[]>();
  if (addresses.length === 0) return claims;
  const rows = await tx.prepared<{ address: string; claimed_ms: number }>({
    name: 'sending.claims',
    text: `SELECT m.address, (extract(epoch FROM m.claimed_at) * 1000)::float8 AS claimed_ms
           FROM unnest($2::text[]) AS a(address)
           JOIN beckon.email m ON m.project_id = $1 AND m.address = a.address AND m.counts AND m.claimed_at > $3
           WHERE ${HAS_SLOT}
           ORDER BY m.claimed_at DESC`,
    values: [projectId, addresses, new Date(since)],
  });
  for (const { address, claimed_ms: at } of rows)
    claims.set(address, [...(claims.get(address) ?? []), Math.round(at)]);
  return claims;
}

/** An email that had an attempt, or a claim without one. */
export type EarlierEmail = {
  draftId: string;
  address: string;
  /** The domain from which it was to be sent. Null if the row is older than this column. */
  domain: string | null;
  attempts: number;
};

/** Returns the emails that these drafts already have, because they were deferred. */
export async function findEarlier(
  tx: Tx,
  { projectId, draftIds }: { projectId: number; draftIds: string[] },
): Promise<Map<string, EarlierEmail>> {
  if (draftIds.length === 0) return new Map();
  const rows = await tx.prepared<{
    draft_id: string;
    address: string;
    domain: string | null;
    attempts: number;
  }>({
    name: 'sending.earlier',
    text: `SELECT m.draft_id, m.address, m.domain, m.attempts FROM unnest($2::uuid[]) AS d(id)
           JOIN beckon.email m ON m.project_id = $1 AND m.draft_id = d.id`,
    values: [projectId, plainList(draftIds)],
  });
  return new Map(
    rows.map(({ draft_id: draftId, address, domain, attempts }) => [
      draftId,
      { draftId, address, domain, attempts },
    ]),
  );
}

export type FrozenRow = { mailFrom: string; rcptTo: string; mime: Buffer };

/** Returns the stored bytes that were submitted for these drafts. */
export async function findFrozen(
  tx: Tx,
  { projectId, draftIds }: { projectId: number; draftIds: string[] },
): Promise<Map<string, FrozenRow>> {
  if (draftIds.length === 0) return new Map();
  const rows = await tx.prepared<{ draft_id: string; mail_from: string; rcpt_to: string; mime: Buffer }>({
    name: 'sending.frozen',
    text: `SELECT f.draft_id, f.mail_from, f.rcpt_to, f.mime FROM unnest($2::uuid[]) AS d(id)
           JOIN beckon.email_mime f ON f.project_id = $1 AND f.draft_id = d.id`,
    values: [projectId, plainList(draftIds)],
  });
  return new Map(
    rows.map((row) => [
      row.draft_id,
      { mailFrom: row.mail_from, rcptTo: row.rcpt_to, mime: unpackMime(row.mime) },
    ]),
  );
}

const DAY_MS = 86_400_000;
/** An id is created a moment before its email is claimed. */
const CLAIMED_WITHIN_MS = 60_000;

/**
 * Counts a domain's emails and their outcomes during warm-up, for today and the day before. Reads the table `outcome` of another module.
 */
export async function countForWarmup(
  tx: Tx,
  { projectId, domain, since }: { projectId: number; domain: string; since: number },
): Promise<WarmupCounts> {
  const from = since - DAY_MS;
  const [row] = await tx.query<WarmupCounts>(
    `WITH candidate AS MATERIALIZED (
       SELECT o.email_id, o.type FROM beckon.outcome o
       WHERE o.project_id = $1 AND o.email_id >= $4::uuid AND o.type IN ('email.bounced', 'email.unsubscribed')
         AND (o.class = 'complaint' OR (o.class = '' AND o.detail ->> 'bounce_class' IN ('hard', 'soft')))
     ), bad AS MATERIALIZED (
       SELECT s.type FROM candidate s CROSS JOIN LATERAL (
         SELECT FROM beckon.email m WHERE m.project_id = $1 AND m.id = s.email_id AND m.domain = $2 AND m.claimed_at >= $3 OFFSET 0
       ) l
     )
     SELECT (count(*) FILTER (WHERE claimed_at >= $5 AND ${HAS_SLOT}))::int AS today,
            (count(*) FILTER (WHERE claimed_at < $5 AND ${HAS_SLOT}))::int AS yesterday,
            (SELECT count(*) FROM bad WHERE type = 'email.bounced')::int AS bounced,
            (SELECT count(*) FROM bad WHERE type = 'email.unsubscribed')::int AS complained
     FROM beckon.email m WHERE project_id = $1 AND domain = $2 AND claimed_at >= $3`,
    [projectId, domain, new Date(from), smallestIdAt(from - CLAIMED_WITHIN_MS), new Date(since)],
  );
  return row ?? { today: 0, yesterday: 0, bounced: 0, complained: 0 };
}

export type LostEmail = {
  projectId: number;
  draftId: string;
  epoch: number;
  /** The email may have been sent. */
  submitted: boolean;
};

/** Returns the emails whose holder claimed or submitted them and let the lease expire without recording an end. */
export async function listLost(tx: Tx, now: Date): Promise<LostEmail[]> {
  const rows = await tx.query<{ project_id: number; draft_id: string; epoch: number; submitted: boolean }>(
    `SELECT project_id, draft_id, epoch, state = 'submitting' AS submitted FROM beckon.email
     WHERE next_at < $1 ORDER BY next_at LIMIT 1000`,
    [now],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    draftId: row.draft_id,
    epoch: row.epoch,
    submitted: row.submitted,
  }));
}

/**
 * Returns the user of an email, by the id in its tokens. Within a transaction the row is locked: a concurrent erasure waits, and then also
 * finds what was written about the email.
 */
export async function findEmailById(
  tx: Tx,
  { projectId, emailId }: { projectId: number; emailId: string },
): Promise<{ draftId: string; userId: string; address: string } | undefined> {
  const rows = await tx.query<{ draft_id: string; external_user_id: string; address: string }>(
    `SELECT draft_id, external_user_id, address FROM beckon.email WHERE project_id = $1 AND id = $2 FOR KEY SHARE`,
    [projectId, emailId],
  );
  const row = rows[0];
  return row && { draftId: row.draft_id, userId: row.external_user_id, address: row.address };
}

/** Returns the throttle of a domain and the paces that providers impose on it. Most domains have neither. */
export async function listDomainLimits(
  tx: Tx,
  { projectId, domain }: { projectId: number; domain: string },
): Promise<DomainLimitRow[]> {
  const rows = await tx.prepared<{
    provider: string;
    per_second: number;
    changed_at: Date;
    tokens: number;
    refilled_at: Date;
  }>({
    name: 'delivery.domain_limits',
    text: `SELECT provider, per_second, changed_at, tokens, refilled_at FROM beckon.send_bucket WHERE project_id = $1 AND domain = $2`,
    values: [projectId, domain],
  });
  return rows.map((row) => ({
    projectId,
    domain,
    provider: row.provider,
    perSecond: row.per_second,
    changedAt: row.changed_at.getTime(),
    tokens: row.tokens,
    refilledAt: row.refilled_at.getTime(),
  }));
}

/** The part of a submitted email that says where the email went. */
export type SubmittedEmail = {
  draftId: string;
  id: string;
  address: string;
  domain: string;
  provider: string;
  attempts: number;
  firstAt: number | null;
  /** The reason of the last deferral, and the reply of the server. */
  reason: string | null;
  reply: string | null;
};

export async function findSubmitted(
  tx: Tx,
  projectId: number,
  draftIds: string[],
): Promise<Map<string, SubmittedEmail>> {
  if (draftIds.length === 0) return new Map();
  const rows = await tx.prepared<{
    draft_id: string;
    id: string;
    address: string;
    domain: string | null;
    provider: string | null;
    attempts: number;
    first_at: Date | null;
    reason: string | null;
    reply: string | null;
  }>({
    name: 'delivery.submitted',
    text: `SELECT m.draft_id, m.id, m.address, m.domain, m.provider, m.attempts, m.first_at, m.reason, m.reply FROM unnest($2::uuid[]) AS d(id)
           JOIN beckon.email m ON m.project_id = $1 AND m.draft_id = d.id`,
    values: [projectId, plainList(draftIds)],
  });
  return new Map(
    rows.map((row) => [
      row.draft_id,
      {
        draftId: row.draft_id,
        id: row.id,
        address: row.address,
        domain: row.domain ?? '',
        provider: row.provider ?? '',
        attempts: row.attempts,
        firstAt: row.first_at?.getTime() ?? null,
        reason: row.reason,
        reply: row.reply,
      },
    ]),
  );
}

const RECIPIENTS = 50;
const EMAILS_OF_THEM = 200;

/** Returns the last reply for each of the most recent recipients, or null if the email was accepted. */
export async function listLastReplies(
  tx: Tx,
  projectId: number,
): Promise<{ address: string; reply: string | null }[]> {
  const rows = await tx.query<{ address: string; reply: string | null }>(
    `SELECT address, CASE WHEN state = 'failed' THEN reply END AS reply FROM beckon.email
     WHERE project_id = $1 AND ended_at IS NOT NULL ORDER BY claimed_at DESC, id DESC LIMIT $2`,
    [projectId, EMAILS_OF_THEM],
  );
  const last = new Map<string, string | null>();
  for (const { address, reply } of rows) if (!last.has(address)) last.set(address, reply);
  return [...last].slice(0, RECIPIENTS).map(([address, reply]) => ({ address, reply }));
}

/** Counts the emails of a domain that were sent to a mailbox provider since then. */
export async function countSentTo(
  tx: Tx,
  query: { projectId: number; domain: string; provider: string; since: number },
): Promise<number> {
  const [row] = await tx.query<{ sent: number }>(
    `SELECT count(*)::int AS sent FROM beckon.email
     WHERE project_id = $1 AND domain = $2 AND claimed_at >= $3 AND provider = $4 AND state = 'sent'`,
    [query.projectId, query.domain, new Date(query.since), query.provider],
  );
  return row?.sent ?? 0;
}
