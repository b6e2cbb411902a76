import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  type FilterTerm,
  isExact,
  passes,
} from '../../../platform/filter/filter.ts';

export const EMAIL_STATES = ['claimed', 'submitting', 'deferred', 'sent', 'failed', 'unknown'] as const;
type EmailState = (typeof EMAIL_STATES)[number];

/** Outcomes by which lists of emails are filtered. A `bot_` prefix marks an outcome that no human caused. */
export const BECAME = [
  'opened',
  'clicked',
  'bot_opened',
  'bot_clicked',
  'replied',
  'bounced',
  'complained',
  'unsubscribed',
] as const;
type Became = (typeof BECAME)[number];

/** An email that was claimed for a user, and what is known of it. */
export type EmailRecord = {
  id: string;
  draftId: string;
  ruleId: string;
  rule: string;
  template: string | null;
  userId: string;
  address: string;
  /** Empty if its draft no longer exists. */
  subject: string;
  state: EmailState;
  reason: string | null;
  domain: string | null;
  provider: string | null;
  attempts: number;
  reply: string | null;
  relayId: string | null;
  /** In milliseconds. */
  claimedAt: number;
  firstAt: number | null;
  nextAt: number | null;
  endedAt: number | null;
  became: Became[];
};

export type EmailCursor = Pick<EmailRecord, 'claimedAt' | 'id'>;
type EmailsQuery = {
  projectId: number;
  filter: Filter;
  /** The last email of the previous page. */
  after: EmailCursor | null;
  offset: number;
  limit: number;
};

/** Lists emails, newest first. Reads the tables `draft`, `rule` and `outcome` of other modules. */
export async function listEmails(tx: Tx, query: EmailsQuery): Promise<EmailRecord[]> {
  const { values, bind, where } = conditions(query);
  if (where === null) return [];
  const { after, offset, limit } = query;
  const behind =
    after === null
      ? ''
      : `AND (m.claimed_at, m.id) < (${bind(new Date(after.claimedAt))}::timestamptz, ${bind(after.id)}::uuid)`;
  // Fetches all emails of one user by their index. A scan from the newest email might run long without a match.
  const fence = isExact(query.filter, 'user') ? 'OFFSET 0' : '';
  const rows = await tx.query<EmailRow>(
    `SELECT ${COLUMNS} FROM (
       SELECT * FROM (SELECT m.* FROM beckon.email m WHERE ${where} ${behind} ${fence}) found
       ORDER BY found.claimed_at DESC, found.id DESC OFFSET ${bind(offset)} LIMIT ${bind(limit)}
     ) m ${JOINED} ORDER BY m.claimed_at DESC, m.id DESC`,
    values,
  );
  return rows.map(toEmail);
}

/** Counts the emails, up to `most`. */
export async function countEmails(
  tx: Tx,
  { most, ...query }: Pick<EmailsQuery, 'projectId' | 'filter'> & { most: number },
): Promise<number> {
  const { values, bind, where } = conditions(query);
  if (where === null) return 0;
  const [row] = await tx.query<{ emails: number }>(
    `SELECT count(*) AS emails FROM (SELECT 1 FROM beckon.email m WHERE ${where} LIMIT ${bind(most)}) counted`,
    values,
  );
  return row?.emails ?? 0;
}

export async function findEmail(
  tx: Tx,
  { projectId, id }: { projectId: number; id: string },
): Promise<EmailRecord | undefined> {
  const [row] = await tx.query<EmailRow>(
    `SELECT ${COLUMNS} FROM beckon.email m ${JOINED} WHERE m.project_id = $1 AND m.id = $2`,
    [projectId, id],
  );
  return row && toEmail(row);
}

const OUTCOME = `CASE
    WHEN o.type = 'email.opened' THEN CASE WHEN o.class = 'no' THEN 'opened' ELSE 'bot_opened' END
    WHEN o.type = 'email.clicked' THEN CASE WHEN o.class = 'no' THEN 'clicked' ELSE 'bot_clicked' END
    WHEN o.type = 'email.replied' THEN 'replied'
    WHEN o.type = 'email.bounced' AND o.class = '' THEN 'bounced'
    WHEN o.type = 'email.unsubscribed' THEN CASE WHEN o.class = 'complaint' THEN 'complained' ELSE 'unsubscribed' END
  END`;
const OF_EMAIL = `beckon.outcome o WHERE o.project_id = m.project_id AND o.email_id = m.id`;

const COLUMNS = `m.id, m.draft_id, m.rule_id, coalesce(r.name, m.rule_id::text) AS rule, m.template, m.external_user_id,
  m.address, coalesce(d.subject, '') AS subject, m.state, m.reason, m.domain, m.provider, m.attempts, m.reply, m.relay_id,
  m.claimed_at, m.first_at, m.next_at, m.ended_at,
  ARRAY(SELECT DISTINCT ${OUTCOME} FROM ${OF_EMAIL}) AS became`;
const JOINED = `LEFT JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id
  LEFT JOIN beckon.draft d ON d.project_id = m.project_id AND d.id = m.draft_id`;

const FILTERED: Record<string, FilterColumn> = {
  state: { sql: 'm.state', among: EMAIL_STATES },
  template: { sql: 'm.template' },
  user: { sql: 'm.external_user_id' },
  address: { sql: 'm.address' },
  domain: { sql: 'm.domain' },
  provider: { sql: 'm.provider' },
  reason: { sql: 'm.reason' },
};

type Conditions = { values: unknown[]; bind: (value: unknown) => string; where: string | null };

function conditions({ projectId, filter }: Pick<EmailsQuery, 'projectId' | 'filter'>): Conditions {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const project = bind(projectId);
  const plain = filterSql({ terms: filter.terms.filter(({ key }) => !APART.has(key)) }, FILTERED, bind);
  if (plain === null) return { values, bind, where: null };
  const apart = filter.terms.flatMap((term) => {
    if (term.key === 'outcome') return [becameSql(term, bind)];
    return term.key === 'rule' ? [ruleSql(term, bind, project)] : [];
  });
  return { values, bind, where: [`m.project_id = ${project}`, plain, ...apart].join(' AND ') };
}

/** Fields that are not columns of the email. */
const APART = new Set(['outcome', 'rule']);

/** Resolves the rules first, because they are few: an index leads from their ids to the emails. */
function ruleSql(term: FilterTerm, bind: (value: unknown) => string, project: string): string {
  const named = filterSql({ terms: [{ ...term, negated: false }] }, { rule: { sql: 'r.name' } }, bind);
  const ids = `ARRAY(SELECT r.id FROM beckon.rule r WHERE r.project_id = ${project} AND ${named ?? 'false'})`;
  return `${term.negated ? 'NOT ' : ''}m.rule_id = ANY (${ids})`;
}

/** An email has many outcomes. It passes if one of them does, and it passes a negated term if none does. */
function becameSql(term: FilterTerm, bind: (value: unknown) => string): string {
  const outcomes = BECAME.filter((name) => passes({ ...term, negated: false }, name));
  const exists = `EXISTS (SELECT FROM ${OF_EMAIL} AND ${OUTCOME} = ANY (${bind(outcomes)}::text[]))`;
  return term.negated ? `NOT ${exists}` : exists;
}

type EmailRow = {
  id: string;
  draft_id: string;
  rule_id: string;
  rule: string;
  template: string | null;
  external_user_id: string;
  address: string;
  subject: string;
  state: EmailState;
  reason: string | null;
  domain: string | null;
  provider: string | null;
  attempts: number;
  reply: string | null;
  relay_id: string | null;
  claimed_at: Date;
  first_at: Date | null;
  next_at: Date | null;
  ended_at: Date | null;
  became: (Became | null)[];
};

function toEmail(row: EmailRow): EmailRecord {
  const found = new Set(row.became);
  return {
    id: row.id,
    draftId: row.draft_id,
    ruleId: row.rule_id,
    rule: row.rule,
    template: row.template,
    userId: row.external_user_id,
    address: row.address,
    subject: row.subject,
    state: row.state,
    reason: row.reason,
    domain: row.domain,
    provider: row.provider,
    attempts: row.attempts,
    reply: row.reply,
    relayId: row.relay_id,
    claimedAt: row.claimed_at.getTime(),
    firstAt: row.first_at?.getTime() ?? null,
    nextAt: row.next_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    became: BECAME.filter((name) => found.has(name)),
  };
}
