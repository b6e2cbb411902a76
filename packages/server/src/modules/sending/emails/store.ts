/** Rows of `email`, `email_mime` and `send_bucket`. */

import { momentList, plainList } from '../../../platform/db/list.ts';
import { shiftedSql } from '../../../platform/db/distributed.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { finalState } from '../../../platform/mail/send-result.ts';
import { type EmailEnd, isUnsubmitted } from './email-end.ts';

export type NewEmail = {
  projectId: number;
  draftId: string;
  id: string;
  ruleId: string;
  userId: string;
  /** Normalized. */
  address: string;
  counts: boolean;
  claimedAt: number;
  /** The signing domain, and the provider of the recipient's mailbox. */
  domain: string;
  provider: string;
  /** The name of the template. Null if the email has its text in the rule itself. */
  template: string | null;
  /** The id of the relay. Null: the relay of `SMTP_URL`, or the test inbox. */
  relay: string | null;
  relayGeneration: number | null;
  /** When the lease ends. If the worker has not submitted the email by then, it is returned. */
  leaseUntil: number;
};

export type EmailClaim = { draftId: string; emailId: string; epoch: number };

/**
 * Claims one email per draft, forever. A deferred email is claimed again with its next epoch. Drafts missing in the result were claimed
 * before.
 */
export async function insertEmails(tx: Tx, rows: NewEmail[]): Promise<Map<string, EmailClaim>> {
  if (rows.length === 0) return new Map();
  const claimed = await tx.prepared<{ draft_id: string; id: string; epoch: number }>({
    name: 'sending.claim',
    text: `INSERT INTO beckon.email AS m (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at,
             domain, provider, next_at, template, relay, relay_generation)
           SELECT project_id, draft_id, id, rule_id, user_id, address, 'claimed', counts, claimed_at, domain, provider, next_at, template,
             relay, relay_generation
           FROM unnest($1::bigint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[],
             $9::text[], $10::text[], $11::timestamptz[], $12::text[], $13::uuid[], $14::int[])
             AS n(project_id, draft_id, id, rule_id, user_id, address, counts, claimed_at, domain, provider, next_at, template, relay,
               relay_generation)
           ON CONFLICT (project_id, draft_id) DO UPDATE SET state = 'claimed', epoch = m.epoch + 1, next_at = excluded.next_at,
             address = excluded.address, domain = excluded.domain, provider = excluded.provider, relay = excluded.relay,
             relay_generation = excluded.relay_generation,
             claimed_at = CASE WHEN m.attempts = 0 THEN excluded.claimed_at ELSE m.claimed_at END
           WHERE m.state = 'deferred'
           RETURNING draft_id, id, epoch`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      plainList(rows.map((row) => row.draftId)),
      plainList(rows.map((row) => row.id)),
      plainList(rows.map((row) => row.ruleId)),
      rows.map((row) => row.userId),
      rows.map((row) => row.address),
      plainList(rows.map((row) => row.counts)),
      momentList(rows.map((row) => row.claimedAt)),
      rows.map((row) => row.domain),
      rows.map((row) => row.provider),
      momentList(rows.map((row) => row.leaseUntil)),
      rows.map((row) => row.template),
      plainList(rows.map((row) => row.relay)),
      rows.map((row) => row.relayGeneration),
    ],
  });
  return new Map(
    claimed.map((row) => [row.draft_id, { draftId: row.draft_id, emailId: row.id, epoch: row.epoch }]),
  );
}

/**
 * Invalidates claims that are not submitted yet: all of a project, or only those for these users or this rule. The emails are returned
 * after a while and pass the gates again.
 */
export async function withdrawClaims(
  tx: Tx,
  { projectId, users, ruleId }: { projectId: number; users?: string[]; ruleId?: string },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.email SET epoch = epoch + 1
     WHERE project_id = $1 AND state = 'claimed' AND next_at IS NOT NULL AND ($2::text[] IS NULL OR external_user_id = ANY ($2))
       AND ($3::uuid IS NULL OR rule_id = $3)`,
    [projectId, users ?? null, ruleId ?? null],
  );
}

export type Submission = {
  projectId: number;
  draftId: string;
  epoch: number;
  userId: string;
  /** The user's address as it was read. If it has changed since, the email is not submitted. */
  email: string;
  /** The sending domain. Null for the test inbox, which requires none. */
  domain: string | null;
  mailFrom: string;
  rcptTo: string;
  /** Null if an earlier attempt stored the bytes. */
  mime: Uint8Array | null;
  /** By the clock of its project. */
  at: number;
  /** If there is no result by then, the email is given up. */
  leaseUntil: number;
  /** How long its relay may be asked again, from the first attempt on. Null: it documents no idempotency key. */
  askForMs: number | null;
};

/**
 * Records the submission before the network call. After this commit the email may have been sent, and no other worker submits it again
 * unless its relay recognizes the repeated request. The same statement checks once more that nothing changed: no other claim, pause, suppression, address, or failed or paused
 * domain. It reads `project`, `project_settings`, `suppression`, `person_email` and `sending_domain` for that. It also stores the email's
 * bytes. Returns the drafts that may be submitted.
 */
export async function markSubmitting(tx: Tx, rows: Submission[]): Promise<Set<string>> {
  const askUntil = shiftedSql(tx, 'coalesce(m.first_at, n.at)', '+ n.ask_for_ms');
  const submitted = await tx.prepared<{ draft_id: string }>({
    name: 'sending.submit',
    text: `WITH input AS (
             SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::timestamptz[],
               $10::timestamptz[], $11::text[], $12::float8[])
               AS n(project_id, draft_id, epoch, user_id, email, mail_from, rcpt_to, mime, at, lease_until, domain, ask_for_ms)
           ), submitted AS (
             UPDATE beckon.email m SET state = 'submitting', attempts = m.attempts + 1, first_at = coalesce(m.first_at, n.at),
               next_at = n.lease_until, ask_until = ${askUntil}
             FROM input n
             WHERE m.project_id = n.project_id AND m.draft_id = n.draft_id AND m.epoch = n.epoch AND m.state = 'claimed'
               AND EXISTS (SELECT 1 FROM beckon.project p WHERE p.project_id = n.project_id AND p.suspended_at IS NULL)
               AND EXISTS (SELECT 1 FROM beckon.project_settings s WHERE s.project_id = n.project_id
                 AND s.settings ->> 'paused' IS DISTINCT FROM 'true')
               AND (n.domain IS NULL OR EXISTS (SELECT 1 FROM beckon.sending_domain d WHERE d.project_id = n.project_id
                 AND d.name = n.domain AND d.state IN ('verified', 'degraded') AND d.paused_at IS NULL))
               AND EXISTS (SELECT 1 FROM beckon.person_email e WHERE e.project_id = n.project_id
                 AND e.external_user_id = n.user_id AND e.email = n.email)
               AND NOT EXISTS (SELECT 1 FROM beckon.suppression x WHERE x.project_id = n.project_id AND x.kind = 'email'
                 AND x.value = m.address AND (x.until IS NULL OR x.until > n.at))
               AND NOT EXISTS (SELECT 1 FROM beckon.suppression x WHERE x.project_id = n.project_id AND x.kind = 'user'
                 AND x.value = n.user_id AND (x.until IS NULL OR x.until > n.at))
             RETURNING m.project_id, m.draft_id, n.mail_from, n.rcpt_to, n.mime, n.at
           ), kept AS (
             INSERT INTO beckon.email_mime (project_id, draft_id, mail_from, rcpt_to, mime, frozen_at)
             SELECT project_id, draft_id, mail_from, rcpt_to, mime, at FROM submitted WHERE mime IS NOT NULL
           )
           SELECT draft_id FROM submitted`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      plainList(rows.map((row) => row.draftId)),
      plainList(rows.map((row) => row.epoch)),
      rows.map((row) => row.userId),
      rows.map((row) => row.email),
      rows.map((row) => row.mailFrom),
      rows.map((row) => row.rcptTo),
      rows.map((row) => row.mime),
      momentList(rows.map((row) => row.at)),
      momentList(rows.map((row) => row.leaseUntil)),
      rows.map((row) => row.domain),
      rows.map((row) => row.askForMs),
    ],
  });
  return new Set(submitted.map((row) => row.draft_id));
}

type EndInput = { at: number; ends: EmailEnd[] };

/** Longer than the answer to the first request takes. */
const FIRST_ASK_AFTER_MS = 10_000;

/**
 * Records how emails ended. Emails that have ended or were claimed again stay as they are. A worker with an older claim cannot end an
 * email that waits for another attempt. The reason of a deferral survives a later claim without an attempt. If the delivery is unknown, the
 * time of the question to its relay is recorded with it. If the window has passed by then, that is recorded as the reason to ask nothing.
 */
export async function endEmails(tx: Tx, { at, ends }: EndInput): Promise<Set<string>> {
  if (ends.length === 0) return new Set();
  const results = ends.map((end) => end.sendResult);
  const rows = await tx.prepared<{ draft_id: string }>({
    name: 'sending.end',
    text: `UPDATE beckon.email m SET state = n.state, reason = CASE WHEN n.is_returned THEN m.reason ELSE n.reason END, reply = coalesce(n.reply, m.reply),
             relay_id = coalesce(n.relay_id, m.relay_id), next_at = NULL, ended_at = CASE WHEN n.state = 'deferred' THEN NULL ELSE $8::timestamptz END,
             ask_at = CASE WHEN n.state = 'unknown' AND n.is_askable AND m.ask_until IS NOT NULL THEN $11::timestamptz END
           FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $9::boolean[], $10::boolean[])
             AS n(project_id, draft_id, epoch, state, reason, reply, relay_id, is_returned, is_askable)
           WHERE m.project_id = n.project_id AND m.draft_id = n.draft_id AND m.ended_at IS NULL AND m.epoch = coalesce(n.epoch, m.epoch)
             AND (m.state = 'claimed' OR NOT n.is_returned) AND (m.state IN ('claimed', 'submitting') OR (m.state = 'deferred' AND n.epoch IS NULL AND n.state IN ('failed', 'unknown')))
           RETURNING m.draft_id`,
    values: [
      plainList(ends.map((end) => end.projectId)),
      plainList(ends.map((end) => end.draftId)),
      ends.map((end) => end.epoch),
      plainList(ends.map(({ isAgain, sendResult }) => (isAgain ? 'deferred' : finalState(sendResult)))),
      results.map((result) => ('reason' in result ? result.reason : null)),
      results.map((result) => ('reply' in result ? (result.reply ?? null) : null)),
      results.map((result) => ('relayId' in result ? (result.relayId ?? null) : null)),
      new Date(at),
      results.map(isUnsubmitted),
      ends.map(({ isAskable }) => isAskable === true),
      new Date(at + FIRST_ASK_AFTER_MS),
    ],
  });
  return new Set(rows.map((row) => row.draft_id));
}

/**
 * Records that the provider of a relay reported the delivery of emails whose result is not known yet. Returns the drafts of those whose
 * result will never be known otherwise. The result of the others is still being recorded, and takes the report into account.
 */
export async function recordDelivered(
  tx: Tx,
  { projectId, emailIds, at }: { projectId: number; emailIds: string[]; at: number },
): Promise<string[]> {
  const rows = await tx.query<{ draft_id: string; state: string }>(
    `UPDATE beckon.email SET delivered_at = $3
     WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('claimed', 'submitting', 'unknown')
     RETURNING draft_id, state`,
    [projectId, plainList(emailIds), new Date(at)],
  );
  return rows.flatMap((row) => (row.state === 'unknown' ? [row.draft_id] : []));
}

/** `provider` is empty for the domain's own limit. Only providers that asked for less have a row. */
export type DomainLimitRow = {
  projectId: number;
  domain: string;
  provider: string;
  perSecond: number;
  changedAt: number;
  tokens: number;
  refilledAt: number;
};

export async function upsertDomainLimits(tx: Tx, rows: DomainLimitRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.prepared({
    name: 'sending.limit',
    text: `INSERT INTO beckon.send_bucket (project_id, domain, provider, per_second, changed_at, tokens, refilled_at)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::timestamptz[], $6::float8[], $7::timestamptz[])
           ON CONFLICT (project_id, domain, provider) DO UPDATE SET per_second = excluded.per_second,
             changed_at = excluded.changed_at, tokens = excluded.tokens, refilled_at = excluded.refilled_at`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      rows.map((row) => row.domain),
      rows.map((row) => row.provider),
      plainList(rows.map((row) => row.perSecond)),
      momentList(rows.map((row) => row.changedAt)),
      plainList(rows.map((row) => row.tokens)),
      momentList(rows.map((row) => row.refilledAt)),
    ],
  });
}

/** Deletes the stored bytes of ended emails from before this time. Returns their number. */
export async function deleteFrozen(
  tx: Tx,
  { projectId, before, limit }: { projectId: number; before: Date; limit: number },
): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM beckon.email_mime WHERE project_id = $1 AND draft_id = ANY (ARRAY(
       SELECT f.draft_id FROM beckon.email_mime f
       JOIN beckon.email m ON m.project_id = f.project_id AND m.draft_id = f.draft_id AND m.ended_at IS NOT NULL
       WHERE f.project_id = $1 AND f.frozen_at < $2 ORDER BY f.frozen_at LIMIT $3
     )) RETURNING 1`,
    [projectId, before, limit],
  );
  return rows.length;
}

/** Deletes the emails of a user. Returns their number and the addresses to which they went. */
export async function deleteEmails(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<{ count: number; addresses: string[] }> {
  await tx.query(
    `DELETE FROM beckon.email_mime f USING beckon.email m
     WHERE m.project_id = $1 AND m.external_user_id = $2 AND f.project_id = $1 AND f.draft_id = m.draft_id`,
    [projectId, userId],
  );
  const rows = await tx.query<{ address: string }>(
    `DELETE FROM beckon.email WHERE project_id = $1 AND external_user_id = $2 RETURNING address`,
    [projectId, userId],
  );
  return { count: rows.length, addresses: [...new Set(rows.map(({ address }) => address))] };
}
