import type { PersonId } from '../users/index.ts';
import { plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Draft, DraftState } from './draft.ts';
import { type DraftTransition, OPEN_STATES } from './transitions.ts';
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

/** Locks drafts by id. All callers that lock several use this order, which avoids deadlocks. */
export async function lockDrafts(tx: Tx, projectId: number, ids: string[]): Promise<Draft[]> {
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.lock',
    text: `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[])
           ORDER BY d.id FOR UPDATE`,
    values: [projectId, ids],
  });
  return rows.map(toDraft);
}

/** Lists the drafts that the sender has to check, the longest overdue first. Rows locked by another process are skipped. */
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

/** Returns when the sender has to check this project again, in milliseconds. */
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

/**
 * Lists and locks all open drafts of these users, of any rule. The query selects by state. Otherwise the planner rates an index of the
 * project's open drafts as good as that of the user. It then reads that index in full for each user.
 */
export async function listOpenOfPeople(tx: Tx, keys: PersonId[]): Promise<Draft[]> {
  if (keys.length === 0) return [];
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.open_of_people',
    text: `SELECT ${DRAFT} FROM unnest($1::bigint[], $2::text[]) AS k(project_id, user_id)
           JOIN beckon.draft d ON d.project_id = k.project_id AND d.external_user_id = k.user_id
           WHERE d.state = ANY ('{scheduled,approved,held,sending}') ORDER BY d.project_id, d.id FOR UPDATE OF d`,
    values: [plainList(keys.map((key) => key.projectId)), keys.map((key) => key.userId)],
  });
  return rows.map(toDraft);
}

/** Lists and locks the open drafts of these runs. They are found by the users of the runs. */
export async function listOpenOfRuns(tx: Tx, keys: (PersonId & { runId: string })[]): Promise<Draft[]> {
  if (keys.length === 0) return [];
  const rows = await tx.prepared<DraftRow>({
    name: 'drafts.open_of_runs',
    text: `SELECT ${DRAFT} FROM unnest($1::bigint[], $2::text[], $3::uuid[]) AS k(project_id, user_id, run_id)
           JOIN beckon.draft d ON d.project_id = k.project_id AND d.external_user_id = k.user_id AND d.run_id = k.run_id
           WHERE d.state = ANY ('{scheduled,approved,held,sending}') ORDER BY d.project_id, d.id FOR UPDATE OF d`,
    values: [
      plainList(keys.map((key) => key.projectId)),
      keys.map((key) => key.userId),
      plainList(keys.map((key) => key.runId)),
    ],
  });
  return rows.map(toDraft);
}

export type OpenDraftQuery = {
  projectId: number;
  ruleId: string | null;
  after: string | null;
  limit: number;
};

/** Lists and locks open drafts of a rule or of the whole project, page by page by id. */
export async function listOpenDrafts(tx: Tx, query: OpenDraftQuery): Promise<Draft[]> {
  const { projectId, ruleId, after, limit } = query;
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.ended_at IS NULL
       AND ($2::uuid IS NULL OR d.rule_id = $2) AND ($3::uuid IS NULL OR d.id > $3)
     ORDER BY d.id LIMIT $4 FOR UPDATE`,
    [projectId, ruleId, after, limit],
  );
  return rows.map(toDraft);
}

export type DraftQuery = {
  projectId: number;
  state: DraftState | null;
  ruleId: string | null;
  userId: string | null;
  /** The last id of the previous page. */
  after: string | null;
  limit: number;
};

/** Lists drafts, newest first. Open drafts are found among the open ones, which are few. */
export async function listDrafts(tx: Tx, query: DraftQuery): Promise<Draft[]> {
  const { projectId, state, ruleId, userId, after, limit } = query;
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
): Promise<{ draft: Draft; moves: DraftTransition[] } | undefined> {
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.id = $2`,
    [projectId, id],
  );
  const [row] = rows;
  return row && { draft: toDraft(row), moves: await listMoves(tx, projectId, id) };
}

/** Finds the drafts with these ids, by id. Locks no row. */
export async function findDrafts(tx: Tx, projectId: number, ids: string[]): Promise<Draft[]> {
  if (ids.length === 0) return [];
  const rows = await tx.query<DraftRow>(
    `SELECT ${DRAFT} FROM beckon.draft d WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[]) ORDER BY d.id`,
    [projectId, ids],
  );
  return rows.map(toDraft);
}

/** Lists all moves of a draft in order. */
export async function listMoves(tx: Tx, projectId: number, draftId: string): Promise<DraftTransition[]> {
  const rows = await tx.query<MoveRow>(
    `SELECT ${MOVE} FROM beckon.draft_move m WHERE m.project_id = $1 AND m.draft_id = $2 ORDER BY m.number`,
    [projectId, draftId],
  );
  return rows.map(toMove);
}
