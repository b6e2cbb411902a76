import type { EmailStep } from '@beckon/contract/dashboard';
import { Fault } from '../../platform/fault.ts';
import { isStorableMoment } from '../../platform/time/time-text.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** Reads tables of other modules to combine all records about a user in one timeline. */
export const TIMELINE_KINDS = ['event', 'created', 'changed', 'joined', 'left', 'decision', 'email'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

export type TimelineRow = {
  at: Date;
  /** Unique across all kinds. */
  id: string;
  kind: TimelineKind;
  title: string;
  rule_id: string | null;
  audience_id: string | null;
  draft_id: string | null;
  detail: Record<string, unknown>;
};

export type TimelineQuery = { projectId: number; userId: string; kinds: readonly TimelineKind[] };

const NO_RULE = 'NULL::uuid AS rule_id, NULL::uuid AS audience_id, NULL::uuid AS draft_id';
const OF = 'project_id = $1 AND external_user_id = $2';
/** Beckon also records an outcome as an event, for rules to react to. The timeline lists it once. */
const IS_OUTCOME = `EXISTS (SELECT FROM beckon.outcome o WHERE o.project_id = $1 AND o.external_user_id = $2
  AND o.type = e.name AND o.occurred_at = e.occurred_at)`;
const NO_EDITOR = `v.action NOT IN ('open_editor', 'close_editor')`;
/** A reply may be as long as an email. The full text is shown when it is opened. */
const REPLY_CHARS = 2_000;

/** Each source selects rows of a table for `$1` and `$2` in the columns of `TimelineRow`. The time is that of the row itself. */
const SOURCES: { kinds: TimelineKind[]; text: string }[] = [
  {
    kinds: ['event'],
    text: `SELECT occurred_at AS at, 'event:' || id AS id, 'event' AS kind, name AS title, ${NO_RULE},
      jsonb_build_object('properties', properties, 'accepted_at', accepted_at, 'suppressed', coalesce(suppressed, false)) AS detail
      FROM beckon.event e WHERE ${OF} AND NOT (name LIKE 'email.%' AND ${IS_OUTCOME})`,
  },
  {
    kinds: ['created', 'changed', 'joined', 'left'],
    text: `SELECT at, 'change:' || id AS id,
      CASE kind WHEN 'user_created' THEN 'created' WHEN 'user_changed' THEN 'changed'
        WHEN 'audience_joined' THEN 'joined' ELSE 'left' END AS kind,
      kind AS title, NULL::uuid AS rule_id, audience_id, NULL::uuid AS draft_id, detail
      FROM beckon.activity WHERE ${OF}`,
  },
  {
    kinds: ['decision'],
    // A decision about a draft repeats a change of that draft, which is listed.
    text: `SELECT last_at AS at, 'decision:' || rule_id || ':' || reason || ':' || key AS id, 'decision' AS kind, reason AS title,
      rule_id, NULL::uuid AS audience_id, NULL::uuid AS draft_id,
      jsonb_build_object('count', count, 'first_at', first_at, 'values', detail) AS detail
      FROM beckon.decision WHERE ${OF} AND NOT detail ? 'draft_id'`,
  },
  {
    kinds: ['email'],
    // An open editor alone does not make an email the newest entry.
    text: `SELECT greatest(d.created_at, m.at, o.at, r.at) AS at, 'email:' || d.id AS id, 'email' AS kind, d.subject AS title,
      d.rule_id, NULL::uuid AS audience_id, d.id AS draft_id,
      jsonb_build_object('state', d.state, 'reason', d.reason, 'deadline_at', d.deadline_at) AS detail
      FROM (SELECT * FROM beckon.draft WHERE ${OF}) d
      LEFT JOIN LATERAL (SELECT max(v.at) AS at FROM beckon.draft_move v
        WHERE v.project_id = $1 AND v.draft_id = d.id AND ${NO_EDITOR}) m ON true
      LEFT JOIN (SELECT draft_id, max(occurred_at) AS at FROM beckon.outcome WHERE ${OF} GROUP BY draft_id) o ON o.draft_id = d.id
      LEFT JOIN (SELECT draft_id, max(received_at) AS at FROM beckon.reply WHERE ${OF} GROUP BY draft_id) r ON r.draft_id = d.id`,
  },
];

/** Lists the timeline, newest first, after a position. */
export async function listTimeline(
  tx: Tx,
  query: TimelineQuery & { after: string | null; limit: number },
): Promise<{ rows: TimelineRow[]; cursor: string | null }> {
  const { projectId, userId, kinds, limit } = query;
  const after = query.after === null ? null : readTimelineCursor(query.after);
  const behind = after === null ? '' : 'AND at <= $4 AND (at, id COLLATE "C") < ($4::timestamptz, $5::text)';
  const parts = sourcesOf(kinds).map(
    ({ text }) =>
      `(SELECT * FROM (${text}) source WHERE kind = ANY ($3::text[]) ${behind} ORDER BY at DESC, id COLLATE "C" DESC LIMIT ${limit + 1})`,
  );
  if (parts.length === 0) return { rows: [], cursor: null };
  const found = await tx.query<TimelineRow>(
    `SELECT * FROM (${parts.join(' UNION ALL ')}) all_of_them ORDER BY at DESC, id COLLATE "C" DESC LIMIT ${limit + 1}`,
    [projectId, userId, kinds, ...(after ? [after.at, after.id] : [])],
  );
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, cursor: last ? printTimelineCursor(last) : null };
}

export type StepRow = {
  draft_id: string;
  at: Date;
  id: string;
  kind: EmailStep['kind'];
  title: string;
  actor: string | null;
  detail: Record<string, unknown>;
};

/** An editor that is open for hours is closed and opened many times. */
const STEPS_MAX = 100;

/** Lists the newest steps of each of these emails of one user, oldest first. */
export function listSteps(
  tx: Tx,
  { projectId, userId, draftIds }: { projectId: number; userId: string; draftIds: string[] },
): Promise<StepRow[]> {
  return draftIds.length === 0
    ? Promise.resolve([])
    : tx.query(
        `SELECT draft_id, at, id, kind, title, actor, detail FROM (
           SELECT s.*, row_number() OVER (PARTITION BY draft_id ORDER BY at DESC, id COLLATE "C" DESC) AS place
           FROM (${STEP_SOURCES.join(' UNION ALL ')}) s
         ) numbered WHERE place <= ${STEPS_MAX} ORDER BY at, id COLLATE "C"`,
        [projectId, userId, draftIds],
      );
}

const STEP_SOURCES = [
  `SELECT m.draft_id, m.at, 'draft_changed:' || m.draft_id || ':' || lpad(m.number::text, 9, '0') AS id, 'draft_changed' AS kind,
     m.action AS title, m.actor, jsonb_build_object('from', m.from_state, 'to', m.to_state, 'reason', m.reason, 'values', m.detail) AS detail
   FROM beckon.draft_move m WHERE m.project_id = $1 AND m.draft_id = ANY ($3::uuid[])`,
  `SELECT draft_id, occurred_at, 'outcome:' || id, 'outcome', type, NULL::text,
     jsonb_build_object('class', class, 'recorded_at', recorded_at, 'values', detail)
   FROM beckon.outcome WHERE ${OF} AND draft_id = ANY ($3::uuid[])`,
  `SELECT draft_id, received_at, 'reply:' || id, 'reply', subject, NULL::text,
     jsonb_build_object('kind', kind, 'from', from_address, 'from_name', from_name, 'verified', verified,
       'text', left(text, ${REPLY_CHARS}))
   FROM beckon.reply WHERE ${OF} AND draft_id = ANY ($3::uuid[])`,
];

/** Counts the entries, up to a limit. */
export async function countTimeline(tx: Tx, query: TimelineQuery & { upTo: number }): Promise<number> {
  const { projectId, userId, kinds, upTo } = query;
  const parts = sourcesOf(kinds).map(
    ({ text }) => `(SELECT 1 FROM (${text}) source WHERE kind = ANY ($3::text[]) LIMIT ${upTo})`,
  );
  if (parts.length === 0) return 0;
  const [row] = await tx.query<{ items: number }>(
    `SELECT count(*) AS items FROM (SELECT 1 FROM (${parts.join(' UNION ALL ')}) found LIMIT ${upTo}) bounded`,
    [projectId, userId, kinds],
  );
  return row?.items ?? 0;
}

function sourcesOf(kinds: readonly TimelineKind[]): typeof SOURCES {
  return SOURCES.filter((source) => source.kinds.some((kind) => kinds.includes(kind)));
}

function printTimelineCursor({ at, id }: Pick<TimelineRow, 'at' | 'id'>): string {
  return Buffer.from(JSON.stringify([at.getTime(), id])).toString('base64url');
}

function readTimelineCursor(cursor: string): { at: Date; id: string } {
  try {
    const position = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
    if (Array.isArray(position) && isStorableMoment(position[0]) && typeof position[1] === 'string')
      return { at: new Date(position[0]), id: position[1] };
  } catch {
    // A cursor that is not JSON is invalid too.
  }
  const details = [
    { message: 'The cursor is invalid. Use a next_cursor that the server returned', field: 'cursor' },
  ];
  throw new Fault('validation_failed', { details });
}
