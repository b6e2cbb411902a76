import { type DraftState, FILTER_KEYS, REVIEW_ACTIONS, type ReviewAction } from '@beckon/contract/dashboard';
import { DRAFT_STATES } from '../drafts/index.ts';
import { ruleNames } from '../explain/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
} from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import { timestampText } from '../../platform/time/time-text.ts';

/** A decision of a member, with its draft as it is now. */
export type Decided = {
  id: string;
  at: number;
  action: ReviewAction;
  actor: string;
  reason: string | null;
  until: string | null;
  draft: { id: string; subject: string; state: DraftState; reason: string | null };
  rule: { id: string; name: string };
  user: { id: string; name: string | null; email: string | null };
};

/** Parses a typed filter. Errors are reported to the member who typed it. */
export function readDecidedFilter(text: string | undefined, zone: string): Filter {
  return readFilter(text, FILTER_KEYS.decided, zone);
}

/** The names of a member, a rule and a user, from tables of other modules. */
const MEMBER_NAME = `(SELECT t.name FROM beckon.team_user t WHERE m.actor LIKE 'team:%' AND t.id = substr(m.actor, 6))`;
const RULE_NAME = '(SELECT r.name FROM beckon.rule r WHERE r.project_id = d.project_id AND r.id = d.rule_id)';
const USER_NAME = `(SELECT coalesce(p.name, p.traits ->> 'name') FROM beckon.person p
  WHERE p.project_id = d.project_id AND p.external_user_id = d.external_user_id)`;
const USER_EMAIL = `(SELECT x.email FROM beckon.person_email x
  WHERE x.project_id = d.project_id AND x.external_user_id = d.external_user_id)`;

const COLUMNS: Record<keyof typeof FILTER_KEYS.decided | typeof WORDS, FilterColumn> = {
  action: { sql: 'm.action', among: REVIEW_ACTIONS },
  by: { sql: MEMBER_NAME },
  rule: { sql: RULE_NAME },
  user: { sql: 'd.external_user_id' },
  subject: { sql: 'd.subject' },
  state: { sql: 'd.state', among: DRAFT_STATES },
  at: { sql: 'm.at', isTime: true },
  [WORDS]: wordsColumn(['d.subject', 'd.external_user_id', RULE_NAME, USER_NAME, USER_EMAIL, MEMBER_NAME]),
};

/** Repeats the condition of the index `draft_move_decided`. Without it, a page reads every move of the project. */
const DECIDED = `m.action IN (${REVIEW_ACTIONS.map((action) => `'${action}'`).join(', ')})`;
/** An undo names the move that it undid. */
const STANDS = `NOT EXISTS (SELECT FROM beckon.draft_move u
  WHERE u.project_id = m.project_id AND u.draft_id = m.draft_id AND u.number > m.number
    AND u.action = 'undo' AND u.detail -> 'of' = to_jsonb(m.number))`;
const FROM = `FROM beckon.draft_move m JOIN beckon.draft d ON d.project_id = m.project_id AND d.id = m.draft_id
  WHERE m.project_id = $1 AND ${DECIDED} AND ${STANDS}`;

type DecidedRow = {
  id: string;
  at: number;
  action: ReviewAction;
  actor: string;
  reason: string | null;
  until: string | null;
  draft_id: string;
  subject: string;
  state: DraftState;
  draft_reason: string | null;
  rule_id: string;
  user_id: string;
  name: string | null;
  email: string | null;
};

type DecidedPage = {
  projectId: number;
  filter: Filter;
  after: { at: number; id: string } | null;
  offset: number;
  limit: number;
  /** Counting stops here. */
  most: number;
};

/** Returns a page of decisions, newest first, and their number up to a maximum. Reads the tables of the drafts module. */
export async function listDecided(tx: Tx, page: DecidedPage): Promise<{ decided: Decided[]; total: number }> {
  const { projectId, filter } = page;
  const values: unknown[] = [projectId];
  const bind = (value: string | string[]): string => `$${values.push(value)}`;
  const where = filterSql(filter, COLUMNS, bind);
  if (where === null) return { decided: [], total: 0 };
  const counted = [...values];
  const { after } = page;
  const behind =
    after === null
      ? 'true'
      : `(m.at, m.id) < (${bind(timestampText(after.at))}::timestamptz, ${bind(after.id)}::uuid)`;
  const [rows, counts, rules] = await Promise.all([
    tx.query<DecidedRow>(
      `SELECT m.id, date_part('epoch', m.at) * 1000 AS at, m.action, m.actor, m.reason,
              CASE WHEN m.action = 'postpone' THEN m.detail ->> 'until' END AS until,
              d.id AS draft_id, d.subject, d.state, d.reason AS draft_reason, d.rule_id,
              d.external_user_id AS user_id, ${USER_NAME} AS name, ${USER_EMAIL} AS email
       ${FROM} AND ${where} AND ${behind}
       ORDER BY m.at DESC, m.id DESC OFFSET ${bind(String(page.offset))}::bigint LIMIT ${bind(String(page.limit))}::bigint`,
      values,
    ),
    tx.query<{ count: number }>(
      `SELECT count(*) FROM (SELECT 1 ${FROM} AND ${where} LIMIT ${page.most}) m`,
      counted,
    ),
    ruleNames(tx, projectId),
  ]);
  return { decided: rows.map((row) => toDecided(row, rules)), total: counts[0]?.count ?? 0 };
}

function toDecided(row: DecidedRow, rules: (id: string) => string): Decided {
  const { id, at, action, actor, reason, until } = row;
  return {
    id,
    at: Math.round(at),
    action,
    actor,
    reason,
    until,
    draft: { id: row.draft_id, subject: row.subject, state: row.state, reason: row.draft_reason },
    rule: { id: row.rule_id, name: rules(row.rule_id) },
    user: { id: row.user_id, name: row.name, email: row.email },
  };
}

/** The maximum number of decisions of a day that are read, which limits the cost after bulk actions. */
const TALLIED_MAX = 20_000;

export type TallyRow = { actor: string; action: ReviewAction; drafts: number };

/**
 * Counts the drafts that each member decided about since a time, by action. Reads a table of the drafts module. Returns whether there are
 * more decisions than it reads.
 */
export async function tallyDecided(
  tx: Tx,
  { projectId, since }: { projectId: number; since: number },
): Promise<{ rows: TallyRow[]; isAtLeast: boolean }> {
  const rows = await tx.query<TallyRow & { read: number }>(
    `WITH decided AS MATERIALIZED (
       SELECT m.actor, m.action, m.draft_id FROM beckon.draft_move m
       WHERE m.project_id = $1 AND m.at >= $2 AND ${DECIDED} AND ${STANDS}
       ORDER BY m.at DESC, m.id DESC LIMIT ${TALLIED_MAX + 1}
     )
     SELECT actor, action, count(DISTINCT draft_id) AS drafts, (SELECT count(*) FROM decided) AS read
     FROM decided GROUP BY actor, action ORDER BY actor, action`,
    [projectId, new Date(since)],
  );
  return {
    rows: rows.map(({ actor, action, drafts }) => ({ actor, action, drafts })),
    isAtLeast: (rows[0]?.read ?? 0) > TALLIED_MAX,
  };
}
