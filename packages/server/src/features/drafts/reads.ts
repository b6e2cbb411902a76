import { plainList, type Tx } from '../../io/db/index.ts';
import type { Draft, DraftState } from './draft.ts';
import { type Move, OPEN_STATES } from './moves.ts';
import {
  DRAFT_COLUMNS,
  type DraftRow,
  MOVE_COLUMNS,
  type MoveRow,
  selectOf,
  toDraft,
  toMove,
} from './rows.ts';

const DRAFT = selectOf(DRAFT_COLUMNS, 'd');
const MOVE = selectOf(MOVE_COLUMNS, 'm');

export async function lockDraft(tx: Tx, projectId: number, id: string): Promise<Draft | undefined> {
  const [draft] = await lockDrafts(tx, projectId, [id]);
  return draft;
}

/** Always in the order of their ids, as everybody takes several, so that nobody waits for each other. */
export async function lockDrafts(tx: Tx, projectId: number, ids: string[]): Promise<Draft[]> {
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.lock',
    text: `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[])
           ORDER BY d.id FOR UPDATE`,
    values: [projectId, ids],
  });
  return rows.map(toDraft);
}

/** What the sender has to look at, the longest overdue first; what somebody else is at is left to them. */
export async function listDueDrafts(
  tx: Tx,
  { projectId, now, limit }: { projectId: number; now: number; limit: number },
): Promise<Draft[]> {
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.due',
    text: `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.due_at <= $2
           ORDER BY d.due_at, d.id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    values: [projectId, new Date(now), limit],
  });
  return rows.map(toDraft);
}

/** When the sender has to look at this project again, in milliseconds. */
export async function nextDraftDueAt(tx: Tx, projectId: number): Promise<number | null> {
  const rows = await tx.prepared<{ at: number }>({
    name: 'drafts.next_due',
    text: `SELECT date_part('epoch', d.due_at) * 1000 AS at FROM beckon.draft d
           WHERE d.project_id = $1 AND d.due_at IS NOT NULL ORDER BY d.due_at, d.id LIMIT 1`,
    values: [projectId],
  });
  const at = rows[0]?.at;
  return at === undefined ? null : Math.round(at);
}

export type PersonKey = { projectId: number; userId: string };

/**
 * All open drafts of these people, of any rule; locked. Asked by their states: an index of the open ones of a project would
 * otherwise be thought as good as that of the person, and is read whole for each.
 */
export async function listOpenOfPeople(tx: Tx, keys: PersonKey[]): Promise<Draft[]> {
  if (keys.length === 0) return [];
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.open_of_people',
    text: `SELECT ${DRAFT} FROM unnest($1::bigint[], $2::text[]) AS k(project_id, user_id)
           JOIN beckon.draft d ON d.project_id = k.project_id AND d.external_user_id = k.user_id
           WHERE d.state = ANY ('{composing,scheduled,approved,held,sending}') ORDER BY d.project_id, d.id FOR UPDATE OF d`,
    values: [plainList(keys.map((key) => key.projectId)), keys.map((key) => key.userId)],
  });
  return rows.map(toDraft);
}

/** The open drafts of these runs; locked. Found by the people that the runs are about. */
export async function listOpenOfRuns(tx: Tx, keys: (PersonKey & { runId: string })[]): Promise<Draft[]> {
  if (keys.length === 0) return [];
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.open_of_runs',
    text: `SELECT ${DRAFT} FROM unnest($1::bigint[], $2::text[], $3::uuid[]) AS k(project_id, user_id, run_id)
           JOIN beckon.draft d ON d.project_id = k.project_id AND d.external_user_id = k.user_id AND d.run_id = k.run_id
           WHERE d.state = ANY ('{composing,scheduled,approved,held,sending}') ORDER BY d.project_id, d.id FOR UPDATE OF d`,
    values: [
      plainList(keys.map((key) => key.projectId)),
      keys.map((key) => key.userId),
      plainList(keys.map((key) => key.runId)),
    ],
  });
  return rows.map(toDraft);
}

export type OpenAsked = { projectId: number; ruleId: string | null; after: string | null; limit: number };

/** Open drafts of a rule, or of the whole project, in the order of their ids; locked, a page at a time. */
export async function listOpenDrafts(tx: Tx, asked: OpenAsked): Promise<Draft[]> {
  const { projectId, ruleId, after, limit } = asked;
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.ended_at IS NULL
       AND ($2::uuid IS NULL OR d.rule_id = $2) AND ($3::uuid IS NULL OR d.id > $3)
     ORDER BY d.id LIMIT $4 FOR UPDATE`,
    [projectId, ruleId, after, limit],
  );
  return rows.map(toDraft);
}

export type Asked = {
  projectId: number;
  state: DraftState | null;
  ruleId: string | null;
  userId: string | null;
  /** The last id of the page before. */
  after: string | null;
  limit: number;
};

/** The newest first. What is open is found among the open ones, which are few. */
export async function listDrafts(tx: Tx, asked: Asked): Promise<Draft[]> {
  const { projectId, state, ruleId, userId, after, limit } = asked;
  const isOpen = state !== null && OPEN_STATES.includes(state);
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 ${isOpen ? 'AND d.ended_at IS NULL' : ''}
       AND ($2::text IS NULL OR d.state = $2) AND ($3::uuid IS NULL OR d.rule_id = $3)
       AND ($4::text IS NULL OR d.external_user_id = $4) AND ($5::uuid IS NULL OR d.id < $5)
     ORDER BY d.id DESC LIMIT $6`,
    [projectId, state, ruleId, userId, after, limit],
  );
  return rows.map(toDraft);
}

export async function findDraft(
  tx: Tx,
  projectId: number,
  id: string,
): Promise<{ draft: Draft; moves: Move[] } | undefined> {
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.id = $2`,
    [projectId, id],
  );
  const [row] = rows;
  return row && { draft: toDraft(row), moves: await listMoves(tx, projectId, id) };
}

/** Of these ids those that are there, in the order of the ids; nothing is locked. */
export async function findDrafts(tx: Tx, projectId: number, ids: string[]): Promise<Draft[]> {
  if (ids.length === 0) return [];
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[]) ORDER BY d.id`,
    [projectId, ids],
  );
  return rows.map(toDraft);
}

/** All moves of a draft, in their order. */
export async function listMoves(tx: Tx, projectId: number, draftId: string): Promise<Move[]> {
  const rows = await tx.query<MoveRow>(
    `SELECT ${MOVE} FROM beckon.draft_move m WHERE m.project_id = $1 AND m.draft_id = $2 ORDER BY m.number`,
    [projectId, draftId],
  );
  return rows.map(toMove);
}

/** Of these drafts those that a person approved last though their rule held no more. To be asked of few. */
export async function findSentAnyway(
  tx: Tx,
  keys: { projectId: number; id: string }[],
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `SELECT k.id FROM unnest($1::bigint[], $2::uuid[]) AS k(project_id, id)
     CROSS JOIN LATERAL (
       SELECT m.detail FROM beckon.draft_move m
       WHERE m.project_id = k.project_id AND m.draft_id = k.id AND m.action = 'approve'
       ORDER BY m.number DESC LIMIT 1
     ) m WHERE m.detail -> 'send_anyway' = 'true'`,
    [plainList(keys.map((key) => key.projectId)), plainList(keys.map((key) => key.id))],
  );
  return new Set(rows.map((row) => row.id));
}
