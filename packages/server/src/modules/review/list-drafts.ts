import { FILTER_KEYS } from '@beckon/contract/dashboard';
import {
  type Draft,
  DRAFT_COLUMNS,
  DRAFT_STATES,
  type DraftRow,
  MEMBER_DECIDES,
  selectOf,
  toDraft,
} from '../drafts/index.ts';
import { ruleNames } from '../explain/index.ts';
import { zoneOfPerson } from '../rules/index.ts';
import { findPeople, type Person, personKey } from '../users/index.ts';
import { listSettings, type ProjectSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  type Bind,
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
} from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';

/** A draft with its rule and user, as a list shows them. */
export type DescribedDraft = {
  draft: DraftInList;
  rule: string;
  person: { name: string | null; email: string | null; timeZone: string };
};

/** Returns a page of drafts, and their number up to a maximum. With `most` 0, they are not counted. */
export async function listDescribed(
  tx: Tx,
  page: DraftPage & { most: number },
): Promise<{ drafts: DescribedDraft[]; total: number }> {
  const [drafts, total] = await Promise.all([
    listDraftPage(tx, page),
    page.most === 0 ? 0 : countDrafts(tx, page),
  ]);
  return { drafts: await describeDrafts(tx, page.projectId, drafts), total };
}

/** Describes drafts of one project. */
export async function describeDrafts(
  tx: Tx,
  projectId: number,
  drafts: DraftInList[],
): Promise<DescribedDraft[]> {
  if (drafts.length === 0) return [];
  const users = [...new Set(drafts.map(({ userId }) => userId))].map((userId) => ({ projectId, userId }));
  const [people, rules, settings] = await Promise.all([
    findPeople(tx, users),
    ruleNames(tx, projectId),
    listSettings(tx, [projectId]),
  ]);
  const project = settings.get(projectId);
  if (!project) throw new Error(`project ${projectId} has no settings`);
  const peopleByKey = new Map(people.map((person) => [personKey(person), person]));
  return drafts.map((draft) => ({
    draft,
    rule: rules(draft.ruleId),
    person: describePerson(peopleByKey.get(personKey(draft)), project),
  }));
}

function describePerson(person: Person | undefined, project: ProjectSettings): DescribedDraft['person'] {
  const name = person?.traits.get('name');
  return {
    name: typeof name === 'string' && name.trim() !== '' ? name : null,
    email: person?.email ?? null,
    timeZone: zoneOfPerson(person ?? { traits: new Map() }, { project }),
  };
}

/** Without texts, which may be long. */
type DraftInList = Omit<Draft, 'content' | 'facts'> & { subject: string };

/** Counts stop here. A count of one more means that there are more. */
export const DRAFTS_COUNT_MAX = 10_000;

/** `review`: drafts that wait for a member, by deadline. `all`: newest first. */
type DraftView = 'review' | 'all';

/** Parses a typed filter. Errors are reported to the member who typed it. `zone`: of its days. */
export function readDraftFilter(text: string | undefined, zone: string): Filter {
  return readFilter(text, FILTER_KEYS.drafts, zone);
}

/** By name, from the table `rule` of another module. */
const RULE_NAME = '(SELECT r.name FROM beckon.rule r WHERE r.project_id = d.project_id AND r.id = d.rule_id)';
/** The name and address of the user, from tables of another module. */
const USER_NAME = `(SELECT coalesce(p.name, p.traits ->> 'name') FROM beckon.person p
  WHERE p.project_id = d.project_id AND p.external_user_id = d.external_user_id)`;
const USER_EMAIL = `(SELECT x.email FROM beckon.person_email x
  WHERE x.project_id = d.project_id AND x.external_user_id = d.external_user_id)`;

const COLUMNS: Record<keyof typeof FILTER_KEYS.drafts | typeof WORDS, FilterColumn> = {
  state: { sql: 'd.state', among: DRAFT_STATES },
  rule: { sql: RULE_NAME },
  user: { sql: 'd.external_user_id' },
  subject: { sql: 'd.subject' },
  reason: { sql: 'd.reason' },
  edited: { sql: `CASE WHEN d.is_edited THEN 'yes' ELSE 'no' END` },
  // Whether a hold ends by time, or needs an action of a member. Home counts the latter.
  hold: {
    sql: `CASE WHEN d.state = 'held' THEN CASE WHEN d.due_at IS NULL THEN 'action' ELSE 'time' END END`,
  },
  deadline: { sql: 'd.deadline_at', isTime: true },
  [WORDS]: wordsColumn(['d.subject', 'd.external_user_id', RULE_NAME, USER_NAME, USER_EMAIL]),
};

/** Repeats the condition of the index `draft_review`. Without that index, a page reads all open drafts. */
const WAITS = `d.ended_at IS NULL AND d.state IN ('scheduled', 'held')
  AND (d.resume_state IS DISTINCT FROM 'approved' OR d.reason IN (${MEMBER_DECIDES.map((reason) => `'${reason}'`).join(', ')}))`;
/** All held drafts, also those that were approved before. */
const HELD = `d.ended_at IS NULL AND d.state = 'held'`;

/** An approved draft is not in Review, unless the filter asks for holds: then it waits for a member like the others. */
function viewSql(view: DraftView, { terms }: Filter): string {
  if (view === 'all') return 'true';
  return terms.some(({ key, negated }) => key === 'hold' && !negated) ? HELD : WAITS;
}

const GROUP = `(CASE WHEN d.state = 'scheduled' OR d.reason = 'editing' THEN 0 WHEN d.reason = 'postponed' THEN 2 ELSE 1 END)`;
const DEADLINE = `(coalesce(d.deadline_at, 'infinity'::timestamptz))`;

const LISTED = `${selectOf(
  DRAFT_COLUMNS.filter(({ name }) => !['preheader', 'body', 'facts'].includes(name)),
  'd',
)}, '' AS preheader, '' AS body, '{}'::jsonb AS facts`;

/** The position at which a page ends. `group` and `deadline` are for Review. The list of all drafts uses the id. */
export type DraftPosition = { group: number; deadline: number | null; id: string };

export function positionOfDraft({ state, reason, deadlineAt, id }: DraftInList): DraftPosition {
  const group = state === 'scheduled' || reason === 'editing' ? 0 : reason === 'postponed' ? 2 : 1;
  return { group, deadline: deadlineAt, id };
}

type DraftPage = {
  projectId: number;
  view: DraftView;
  filter: Filter;
  after: DraftPosition | null;
  offset: number;
  limit: number;
};

export async function listDraftPage(tx: Tx, page: DraftPage): Promise<DraftInList[]> {
  const { projectId, view, filter, after, offset, limit } = page;
  const where = filterClause(projectId, filter);
  if (where === null) return [];
  const { values, bind } = where;
  const behind = after === null ? 'true' : afterPositionSql(view, after, bind);
  const order = view === 'review' ? `${GROUP}, ${DEADLINE}, d.id` : 'd.id DESC';
  const rows = await tx.query<DraftRow>(
    `SELECT ${LISTED} FROM beckon.draft d
     WHERE d.project_id = $1 AND ${viewSql(view, filter)} AND ${where.sql} AND ${behind}
     ORDER BY ${order} OFFSET ${bind(String(offset))}::bigint LIMIT ${bind(String(limit))}::bigint`,
    values,
  );
  return rows.map((row) => toDraftInList(toDraft(row)));
}

/** Counts drafts up to one more than the limit. */
export async function countDrafts(
  tx: Tx,
  { projectId, view, filter }: Pick<DraftPage, 'projectId' | 'view' | 'filter'>,
): Promise<number> {
  const where = filterClause(projectId, filter);
  if (where === null) return 0;
  const rows = await tx.query<{ count: number }>(
    `SELECT count(*) FROM (
       SELECT 1 FROM beckon.draft d WHERE d.project_id = $1 AND ${viewSql(view, filter)} AND ${where.sql}
       LIMIT ${DRAFTS_COUNT_MAX + 1}) d`,
    where.values,
  );
  return rows[0]?.count ?? 0;
}

type ReviewCounts = Record<'soon' | 'today' | 'later' | 'noDeadline' | 'held' | 'postponed', number> & {
  heldBy: { reason: string; drafts: number }[];
};

/**
 * Counts the drafts that wait for a member by sending time: before `soon`, before `tonight`, and later. Held drafts are also counted by
 * their reason. Each count has the limit.
 */
export async function countReview(
  tx: Tx,
  query: { projectId: number; filter: Filter; soon: number; tonight: number },
): Promise<ReviewCounts> {
  const none = { soon: 0, today: 0, later: 0, noDeadline: 0, held: 0, postponed: 0, heldBy: [] };
  const where = filterClause(query.projectId, query.filter);
  if (where === null) return none;
  const soon = `${where.bind(new Date(query.soon).toISOString())}::timestamptz`;
  const tonight = `${where.bind(new Date(Math.max(query.soon, query.tonight)).toISOString())}::timestamptz`;
  const group = (condition: string): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM beckon.draft d
       WHERE d.project_id = $1 AND ${viewSql('review', query.filter)} AND ${where.sql} AND ${condition} LIMIT ${DRAFTS_COUNT_MAX + 1}) g)`;
  const rows = await tx.query<ReviewCounts>(
    `SELECT ${group(`${GROUP} = 0 AND ${DEADLINE} < ${soon}`)} AS soon,
       ${group(`${GROUP} = 0 AND ${DEADLINE} >= ${soon} AND ${DEADLINE} < ${tonight}`)} AS today,
       ${group(`${GROUP} = 0 AND ${DEADLINE} >= ${tonight} AND ${DEADLINE} < 'infinity'`)} AS later,
       ${group(`${GROUP} = 0 AND ${DEADLINE} = 'infinity'`)} AS "noDeadline",
       ${group(`${GROUP} = 1`)} AS held, ${group(`${GROUP} = 2`)} AS postponed,
       (SELECT coalesce(json_agg(json_build_object('reason', h.reason, 'drafts', h.drafts) ORDER BY h.drafts DESC, h.reason), '[]')
        FROM (SELECT g.reason, count(*) AS drafts FROM (SELECT d.reason FROM beckon.draft d
                WHERE d.project_id = $1 AND ${viewSql('review', query.filter)} AND ${where.sql} AND ${GROUP} = 1
                LIMIT ${DRAFTS_COUNT_MAX + 1}) g WHERE g.reason IS NOT NULL GROUP BY g.reason) h) AS "heldBy"`,
    where.values,
  );
  return rows[0] ?? none;
}

function filterClause(
  projectId: number,
  filter: Filter,
): { sql: string; values: unknown[]; bind: Bind } | null {
  const values: unknown[] = [projectId];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const sql = filterSql(filter, COLUMNS, bind);
  return sql === null ? null : { sql, values, bind };
}

function afterPositionSql(view: DraftView, { group, deadline, id }: DraftPosition, bind: Bind): string {
  if (view === 'all') return `d.id < ${bind(id)}::uuid`;
  const at = deadline === null ? 'infinity' : new Date(deadline).toISOString();
  return `(${GROUP}, ${DEADLINE}, d.id) > (${bind(String(group))}::int, ${bind(at)}::timestamptz, ${bind(id)}::uuid)`;
}

/** Returns the draft in the form used by lists. */
export function toDraftInList({ content, facts: _facts, ...draft }: Draft): DraftInList {
  return { ...draft, subject: content.subject };
}
