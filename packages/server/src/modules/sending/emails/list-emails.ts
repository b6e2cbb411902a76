import {
  EMAIL_OUTCOMES,
  EMAIL_STATES,
  type EmailListed,
  type EmailWhole,
  type SortOf,
} from '@beckon/contract/dashboard';
import { readAs } from '../../../platform/db/read-as.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
  type FilterTerm,
  isExact,
  passes,
  timeSql,
} from '../../../platform/filter/filter.ts';

/** An email that was claimed for a user. The subject is empty if its draft no longer exists. */
export type EmailRecord = Omit<EmailListed, 'reason_text'>;
/** The same with the fields that a list does not show. */
export type EmailFound = EmailRecord & Pick<EmailWhole, 'first_attempt_at' | 'lease_until' | 'relay_id'>;

/** `at`: the time of the claim, in milliseconds. */
export type EmailCursor = { at: number; id: string };
type EmailsQuery = {
  projectId: number;
  filter: Filter;
  /** By the time of the claim. Default: newest first. */
  sort?: SortOf<'emails'>;
  /** The last email of the previous page. */
  after: EmailCursor | null;
  offset: number;
  limit: number;
};

/** Lists emails. Reads the tables `draft`, `rule` and `outcome` of other modules. */
export async function listEmails(tx: Tx, query: EmailsQuery): Promise<EmailRecord[]> {
  const { values, bind, where } = conditions(query);
  if (where === null) return [];
  const { sort = '-at', after, offset, limit } = query;
  const [direction, than] = sort === 'at' ? ['ASC', '>'] : ['DESC', '<'];
  const behind =
    after === null
      ? ''
      : `AND (m.claimed_at, m.id) ${than} (${bind(new Date(after.at))}::timestamptz, ${bind(after.id)}::uuid)`;
  // Fetches all emails of one user by their index. A scan from the newest email might run long without a match.
  const fence = isExact(query.filter, 'user') ? 'OFFSET 0' : '';
  const rows = await readAs<EmailRecord>(
    tx,
    `SELECT ${COLUMNS} FROM (
       SELECT * FROM (SELECT m.* FROM beckon.email m WHERE ${where} ${behind} ${fence}) found
       ORDER BY found.claimed_at ${direction}, found.id ${direction} OFFSET ${bind(offset)} LIMIT ${bind(limit)}
     ) m ${JOINED} ORDER BY m.claimed_at ${direction}, m.id ${direction}`,
    values,
  );
  return rows.map(inOrder);
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
): Promise<EmailFound | undefined> {
  const [row] = await readAs<EmailFound>(
    tx,
    `SELECT ${COLUMNS}, m.first_at AS first_attempt_at, m.next_at AS lease_until, m.relay_id FROM beckon.email m ${JOINED} WHERE m.project_id = $1 AND m.id = $2`,
    [projectId, id],
  );
  return row && inOrder(row);
}

/**
 * Whether an email `m` left: a server accepted it, its delivery is unknown, or a server rejected it with a bounce. Every screen counts
 * sent emails by this condition. Reads the table `outcome` of another module.
 */
export const WAS_SENT = `(m.state IN ('sent', 'unknown') OR m.state = 'failed' AND EXISTS (SELECT FROM beckon.outcome o
  WHERE o.project_id = m.project_id AND o.email_id = m.id AND o.type = 'email.bounced' AND o.class = ''))`;

const OUTCOME = `CASE
    WHEN o.type = 'email.opened' THEN CASE WHEN o.class = 'no' THEN 'opened' ELSE 'bot_opened' END
    WHEN o.type = 'email.clicked' THEN CASE WHEN o.class = 'no' THEN 'clicked' ELSE 'bot_clicked' END
    WHEN o.type = 'email.replied' THEN 'replied'
    WHEN o.type = 'email.bounced' AND o.class = '' THEN 'bounced'
    WHEN o.type = 'email.unsubscribed' THEN CASE WHEN o.class = 'complaint' THEN 'complained' ELSE 'unsubscribed' END
  END`;
const OF_EMAIL = `beckon.outcome o WHERE o.project_id = m.project_id AND o.email_id = m.id`;

const COLUMNS = `m.id, m.draft_id, m.rule_id, coalesce(r.name, m.rule_id::text) AS rule, m.template, m.external_user_id,
  m.address, coalesce(d.subject, '') AS subject, m.state, m.reason, m.domain, m.provider, m.attempts, m.reply,
  m.claimed_at, m.ended_at, ARRAY(SELECT DISTINCT ${OUTCOME} FROM ${OF_EMAIL}) AS outcomes`;
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
  ended: { sql: 'm.ended_at', isTime: true },
  resent: {
    sql: `CASE WHEN EXISTS (SELECT FROM beckon.draft a WHERE a.project_id = m.project_id
      AND a.external_user_id = m.external_user_id AND a.resend_of = m.draft_id) THEN 'yes' ELSE 'no' END`,
    among: ['yes', 'no'],
  },
  [WORDS]: wordsColumn([
    'm.address',
    'm.external_user_id',
    'm.template',
    `(SELECT d.subject FROM beckon.draft d WHERE d.project_id = m.project_id AND d.id = m.draft_id)`,
    `(SELECT r.name FROM beckon.rule r WHERE r.project_id = m.project_id AND r.id = m.rule_id)`,
  ]),
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
    if (term.key === 'sent') return [sentSql(term, bind)];
    return term.key === 'rule' ? [ruleSql(term, bind, project)] : [];
  });
  return { values, bind, where: [`m.project_id = ${project}`, plain, ...apart].join(' AND ') };
}

/** Fields that are not columns of the email. */
const APART = new Set(['outcome', 'rule', 'sent']);

/** Resolves the rules first, because they are few: an index leads from their ids to the emails. */
function ruleSql(term: FilterTerm, bind: (value: unknown) => string, project: string): string {
  const named = filterSql({ terms: [{ ...term, negated: false }] }, { rule: { sql: 'r.name' } }, bind);
  const ids = `ARRAY(SELECT r.id FROM beckon.rule r WHERE r.project_id = ${project} AND ${named ?? 'false'})`;
  return `${term.negated ? 'NOT ' : ''}m.rule_id = ANY (${ids})`;
}

/** The emails that were sent in a period. The screens that count sent emails link to them. */
function sentSql(term: FilterTerm, bind: (value: unknown) => string): string {
  const within = timeSql({ ...term, negated: false }, 'm.claimed_at', bind);
  return `${term.negated ? 'NOT ' : ''}(${within} AND ${WAS_SENT})`;
}

/** An email has many outcomes. It passes if one of them does, and it passes a negated term if none does. */
function becameSql(term: FilterTerm, bind: (value: unknown) => string): string {
  const outcomes = EMAIL_OUTCOMES.filter((name) => passes({ ...term, negated: false }, name));
  const exists = `EXISTS (SELECT FROM ${OF_EMAIL} AND ${OUTCOME} = ANY (${bind(outcomes)}::text[]))`;
  return term.negated ? `NOT ${exists}` : exists;
}

/** Puts the outcomes in their usual order. */
function inOrder<T extends EmailRecord>(row: T): T {
  return { ...row, outcomes: EMAIL_OUTCOMES.filter((name) => row.outcomes.includes(name)) };
}
