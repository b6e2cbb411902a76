import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Outcome } from './outcome.ts';

/** The data about the email that an outcome contains. `rule` is the name of the rule. */
export type OutcomeEmail = {
  emailId: string;
  draftId: string;
  ruleId: string;
  rule: string;
  userId: string;
  /** In normalized form. */
  address: string;
  /** The domain of the sender. */
  domain: string | null;
  state: string;
  livemode: boolean;
};

type EmailRow = {
  id: string;
  draft_id: string;
  rule_id: string;
  rule: string | null;
  external_user_id: string;
  address: string;
  domain: string | null;
  state: string;
  livemode: boolean;
};

/** Finds emails of a project by id, each once. Emails of erased users do not exist anymore. Reads `email`, `rule` and `project`. */
export async function findEmails(
  tx: Tx,
  { projectId, emailIds }: { projectId: number; emailIds: string[] },
): Promise<Map<string, OutcomeEmail>> {
  const rows = await tx.prepared<EmailRow>({
    name: 'outcomes.emails',
    text: `SELECT m.id, m.draft_id, m.rule_id, r.name AS rule, m.external_user_id, m.address, m.domain, m.state, p.livemode
           FROM unnest($2::uuid[]) AS input(id)
           JOIN beckon.email m ON m.project_id = $1 AND m.id = input.id
           JOIN beckon.project p ON p.project_id = $1
           LEFT JOIN beckon.rule r ON r.project_id = $1 AND r.id = m.rule_id`,
    values: [projectId, plainList(emailIds)],
  });
  return new Map(
    rows.map((row) => [
      row.id,
      {
        emailId: row.id,
        draftId: row.draft_id,
        ruleId: row.rule_id,
        rule: row.rule ?? row.rule_id,
        userId: row.external_user_id,
        address: row.address,
        domain: row.domain,
        state: row.state,
        livemode: row.livemode,
      },
    ]),
  );
}

/** Locks these emails and returns those that exist. An erasure waits for the lock and then finds the outcomes that were written. */
export async function lockEmails(
  tx: Tx,
  { projectId, emailIds }: { projectId: number; emailIds: string[] },
): Promise<Set<string>> {
  const rows = await tx.prepared<{ id: string }>({
    name: 'outcomes.hold',
    text: `SELECT m.id FROM beckon.email m WHERE m.project_id = $1 AND m.id = ANY ($2::uuid[]) ORDER BY m.id FOR KEY SHARE`,
    values: [projectId, emailIds],
  });
  return new Set(rows.map((row) => row.id));
}

export type OutcomeKey = Pick<Outcome, 'emailId' | 'type' | 'link' | 'class'>;

export function outcomeKey({ emailId, type, link, class: kind }: OutcomeKey): string {
  return `${emailId} ${type} ${link} ${kind}`;
}

/** Returns the keys of those of these outcomes that are already stored. */
export async function findExistingKeys(tx: Tx, projectId: number, keys: OutcomeKey[]): Promise<Set<string>> {
  const rows = await tx.prepared<{ email_id: string; type: Outcome['type']; link: number; class: string }>({
    name: 'outcomes.known',
    text: `SELECT o.email_id, o.type, o.link, o.class
           FROM unnest($2::uuid[], $3::text[], $4::int[], $5::text[]) AS k(email_id, type, link, class)
           JOIN beckon.outcome o ON o.project_id = $1 AND o.email_id = k.email_id AND o.type = k.type
             AND o.link = k.link AND o.class = k.class`,
    values: [
      projectId,
      plainList(keys.map((key) => key.emailId)),
      plainList(keys.map((key) => key.type)),
      plainList(keys.map((key) => key.link)),
      keys.map((key) => key.class),
    ],
  });
  return new Set(rows.map((row) => outcomeKey({ ...row, emailId: row.email_id })));
}

/** Counts the stored replies to each of these emails. */
export async function countReplies(
  tx: Tx,
  projectId: number,
  emailIds: string[],
): Promise<Map<string, number>> {
  const rows = await tx.query<{ email_id: string; replies: number }>(
    `SELECT email_id, count(*)::int AS replies FROM beckon.outcome
     WHERE project_id = $1 AND email_id = ANY ($2::uuid[]) AND type = 'email.replied' GROUP BY email_id`,
    [projectId, emailIds],
  );
  return new Map(rows.map((row) => [row.email_id, row.replies]));
}

/** Excludes bounces that are identified only by a Message-ID. */
const BOUNCED = `o.type = 'email.bounced' AND o.class = ''`;
const COMPLAINED = `o.type = 'email.unsubscribed' AND o.class = 'complaint'`;
const UNSUBSCRIBED = `o.type = 'email.unsubscribed' AND o.class = ''`;
/** Limits emails to states that can have an outcome. */
const MAY_HAVE_OUTCOME = `m.state IN ('sent', 'unknown', 'failed')`;

/** `of` is the number of emails considered. `count` is how many of them had this outcome. */
type Share = { count: number; of: number };
export type RuleShares = { complaints: Share; hardBounces: Share; unsubscribes: Share };
export type ShareWindows = Record<keyof RuleShares, number>;

/** Counts the outcomes of a rule's last emails, as many as each window allows and none from before `since`. Reads `email`. */
export async function countForRule(
  tx: Tx,
  query: { projectId: number; ruleId: string; since: number; windows: ShareWindows },
): Promise<RuleShares> {
  const { windows } = query;
  const share = (has: string, window: string): string =>
    `json_build_object('of', count(*) FILTER (WHERE n <= ${window}), 'count', count(*) FILTER (WHERE n <= ${window} AND ${has}))`;
  const [row] = await tx.query<RuleShares>(
    `SELECT ${share('complained', '$4')} AS complaints, ${share('hard', '$5')} AS "hardBounces",
       ${share('unsubscribed', '$6')} AS unsubscribes
     FROM (
       SELECT l.n,
         EXISTS (SELECT FROM beckon.outcome o WHERE o.project_id = $1 AND o.email_id = l.id AND ${COMPLAINED}) AS complained,
         EXISTS (SELECT FROM beckon.outcome o WHERE o.project_id = $1 AND o.email_id = l.id AND ${BOUNCED}
           AND o.detail ->> 'bounce_class' = 'hard') AS hard,
         EXISTS (SELECT FROM beckon.outcome o WHERE o.project_id = $1 AND o.email_id = l.id AND ${UNSUBSCRIBED}) AS unsubscribed
       FROM (
         SELECT m.id, row_number() OVER (ORDER BY m.claimed_at DESC, m.id DESC) AS n FROM beckon.email m
         WHERE m.project_id = $1 AND m.rule_id = $2 AND m.claimed_at > $3 AND ${MAY_HAVE_OUTCOME}
         ORDER BY m.claimed_at DESC, m.id DESC LIMIT greatest($4::int, $5::int, $6::int)
       ) l
     ) counted`,
    [
      query.projectId,
      query.ruleId,
      new Date(query.since),
      windows.complaints,
      windows.hardBounces,
      windows.unsubscribes,
    ],
  );
  if (!row) throw new Error('an aggregate without a row');
  return row;
}

/** Counts, among the last emails from a domain since a time, those rejected for their content or reputation. Reads `email`. */
export async function countRefused(
  tx: Tx,
  query: { projectId: number; domain: string; since: number; emails: number },
): Promise<Share> {
  const [row] = await tx.query<Share>(
    `SELECT count(*)::int AS "of", count(*) FILTER (WHERE EXISTS (
       SELECT FROM beckon.outcome o WHERE o.project_id = $1 AND o.email_id = l.id AND ${BOUNCED}
         AND o.detail ->> 'bounce_class' = 'policy'))::int AS "count"
     FROM (
       SELECT m.id FROM beckon.email m WHERE m.project_id = $1 AND m.domain = $2 AND m.claimed_at > $3 AND ${MAY_HAVE_OUTCOME}
       ORDER BY m.claimed_at DESC LIMIT $4
     ) l`,
    [query.projectId, query.domain, new Date(query.since), query.emails],
  );
  return row ?? { count: 0, of: 0 };
}

export type SoftBounceQuery = { projectId: number; userId: string; address: string; emails: number };

/** Returns when the last emails to this user at this address soft-bounced, or null if one of that many did not. Reads `email`. */
export async function findSoftBounces(
  tx: Tx,
  query: SoftBounceQuery,
): Promise<{ firstAt: number; lastAt: number } | null> {
  const rows = await tx.query<{ at: Date | null }>(
    `SELECT (SELECT o.occurred_at FROM beckon.outcome o WHERE o.project_id = $1 AND o.email_id = l.id AND ${BOUNCED}
       AND o.detail ->> 'bounce_class' = 'soft') AS at
     FROM (
       SELECT m.id, m.claimed_at FROM beckon.email m
       WHERE m.project_id = $1 AND m.external_user_id = $2 AND m.address = $3 AND ${MAY_HAVE_OUTCOME}
       ORDER BY m.claimed_at DESC, m.id DESC LIMIT $4
     ) l ORDER BY l.claimed_at`,
    [query.projectId, query.userId, query.address, query.emails],
  );
  const times = rows.flatMap(({ at }) => at?.getTime() ?? []);
  if (times.length < query.emails) return null;
  return { firstAt: Math.min(...times), lastAt: Math.max(...times) };
}

type OutcomeRow = {
  project_id: number;
  id: string;
  email_id: string;
  draft_id: string;
  rule_id: string;
  external_user_id: string;
  type: Outcome['type'];
  link: number;
  class: string;
  occurred_at: Date;
  recorded_at: Date;
  detail: Record<string, unknown>;
};

const COLUMNS = `o.project_id, o.id, o.email_id, o.draft_id, o.rule_id, o.external_user_id, o.type, o.link, o.class,
  o.occurred_at, o.recorded_at, o.detail`;

/** Lists outcomes, newest first. `after` is the last one of the previous page. */
export async function listOutcomesOf(
  tx: Tx,
  query: {
    projectId: number;
    userId: string;
    limit: number;
    after?: Pick<Outcome, 'recordedAt' | 'id'> | null;
  },
): Promise<Outcome[]> {
  const { projectId, userId, limit, after = null } = query;
  const rows = await tx.query<OutcomeRow>(
    `SELECT ${COLUMNS} FROM beckon.outcome o WHERE o.project_id = $1 AND o.external_user_id = $2
       AND ($3::timestamptz IS NULL OR (o.recorded_at, o.id) < ($3, $4::uuid))
     ORDER BY o.recorded_at DESC, o.id DESC LIMIT $5`,
    [projectId, userId, after && new Date(after.recordedAt), after?.id ?? null, limit],
  );
  return rows.map(toOutcome);
}

/** Lists the outcomes of a draft's email in the order in which they were recorded. Reads `email`. */
export async function listOutcomesOfDraft(
  tx: Tx,
  query: { projectId: number; draftId: string; limit: number },
): Promise<Outcome[]> {
  const rows = await tx.query<OutcomeRow>(
    `SELECT ${COLUMNS} FROM beckon.email m
     JOIN beckon.outcome o ON o.project_id = m.project_id AND o.email_id = m.id
     WHERE m.project_id = $1 AND m.draft_id = $2 ORDER BY o.occurred_at, o.id LIMIT $3`,
    [query.projectId, query.draftId, query.limit],
  );
  return rows.map(toOutcome);
}

/** Lists outcomes that prove the delivery or failure of these drafts' emails, in the order in which they were recorded. Reads `email`. */
export async function listProofs(tx: Tx, projectId: number, draftIds: string[]): Promise<Outcome[]> {
  if (draftIds.length === 0) return [];
  const rows = await tx.query<OutcomeRow>(
    `SELECT ${COLUMNS} FROM beckon.email m
     JOIN beckon.outcome o ON o.project_id = m.project_id AND o.email_id = m.id AND o.class <> 'unverified'
     WHERE m.project_id = $1 AND m.draft_id = ANY ($2::uuid[]) ORDER BY o.recorded_at, o.id`,
    [projectId, draftIds],
  );
  return rows.map(toOutcome);
}

/** Returns those of these drafts whose email was reported as delivered by the provider of its relay. Reads `email`. */
export async function listDelivered(tx: Tx, projectId: number, draftIds: string[]): Promise<Set<string>> {
  if (draftIds.length === 0) return new Set();
  const rows = await tx.query<{ draft_id: string }>(
    `SELECT draft_id FROM beckon.email
     WHERE project_id = $1 AND draft_id = ANY ($2::uuid[]) AND delivered_at IS NOT NULL`,
    [projectId, plainList(draftIds)],
  );
  return new Set(rows.map((row) => row.draft_id));
}

function toOutcome(row: OutcomeRow): Outcome {
  return {
    projectId: row.project_id,
    id: row.id,
    emailId: row.email_id,
    draftId: row.draft_id,
    ruleId: row.rule_id,
    userId: row.external_user_id,
    type: row.type,
    link: row.link,
    class: row.class,
    occurredAt: row.occurred_at.getTime(),
    recordedAt: row.recorded_at.getTime(),
    detail: row.detail,
  };
}
