import { momentList, plainList } from '../../platform/db/list.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Draft } from './draft.ts';
import type { DraftTransition, DraftChange } from './transitions.ts';
import { DRAFT_COLUMNS, MOVE_COLUMNS, type Column } from './rows.ts';

/** Writes to `draft`, `draft_move` and `draft_content`. `reads.ts` reads them. */

const NAMES = namesOf(DRAFT_COLUMNS);
const KEYS: readonly string[] = ['project_id', 'id'];
/** The columns of a draft's state, without its content and its recipient. */
const STATE_COLUMN_NAMES: readonly string[] = [
  'state',
  'resume_state',
  'reason',
  'due_at',
  'lease_by',
  'moves',
  'updated_at',
  'ended_at',
];
const STATE_COLUMNS = DRAFT_COLUMNS.filter(
  ({ name }) => KEYS.includes(name) || STATE_COLUMN_NAMES.includes(name),
);
/** Moves that change only these columns, and by far the most frequent ones. Writing a whole draft costs more than changing its state. */
const STATE_ONLY_ACTIONS: ReadonlySet<DraftTransition['action']> = new Set([
  'claim',
  'sent',
  'fail',
  'mark_unknown',
  'ask_again',
  'keep_unknown',
]);

/** Writes moves and drafts in one statement, which keeps them consistent and needs a single round trip. */
const MOVES = `WITH moves AS (
  INSERT INTO beckon.draft_move (${namesOf(MOVE_COLUMNS)}) SELECT * FROM unnest(${listsOf(MOVE_COLUMNS, 1)})
)`;
const UPDATE = { name: 'drafts.update', columns: DRAFT_COLUMNS, text: updateText(DRAFT_COLUMNS) };
const UPDATE_STATE = { name: 'drafts.leave', columns: STATE_COLUMNS, text: updateText(STATE_COLUMNS) };

/**
 * Creates or changes drafts together with their moves. This is the only function that writes drafts. If a draft has several moves, all are
 * recorded and its last state is stored. The caller holds the row lock.
 */
export async function writeTransitions(tx: Tx, changes: DraftChange[]): Promise<void> {
  const insertedIds = idsOf(changes, ({ number }) => number === 1);
  const changedIds = idsOf(changes, ({ action }) => !STATE_ONLY_ACTIONS.has(action));
  const of = (is: (id: string) => boolean): DraftChange[] => changes.filter(({ draft }) => is(draft.id));
  await insertDrafts(
    tx,
    of((id) => insertedIds.has(id)),
  );
  await updateDrafts(
    tx,
    UPDATE,
    of((id) => !insertedIds.has(id) && changedIds.has(id)),
  );
  await updateDrafts(
    tx,
    UPDATE_STATE,
    of((id) => !insertedIds.has(id) && !changedIds.has(id)),
  );
}

function idsOf(changes: DraftChange[], is: (move: DraftTransition) => boolean): Set<string> {
  return new Set(changes.filter(({ move }) => is(move)).map(({ draft }) => draft.id));
}

async function insertDrafts(tx: Tx, changes: DraftChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.prepared({
    name: 'drafts.insert',
    text: `${MOVES} INSERT INTO beckon.draft (${NAMES}) SELECT * FROM ${draftsOf(DRAFT_COLUMNS)}`,
    values: valuesOfChanges(changes, { drafts: latest(changes), columns: DRAFT_COLUMNS }),
  });
}

type Update = { name: string; columns: Column<Draft>[]; text: string };

/** Throws if a draft has changed since it was read. Its writer then did not lock it, which is a defect. */
async function updateDrafts(tx: Tx, { name, columns, text }: Update, changes: DraftChange[]): Promise<void> {
  if (changes.length === 0) return;
  const drafts = latest(changes);
  const rows = await tx.prepared({ name, text, values: valuesOfChanges(changes, { drafts, columns }) });
  if (rows.length !== drafts.length)
    throw new Error(`${drafts.length - rows.length} drafts were changed by another transaction`);
}

function updateText(columns: Column<Draft>[]): string {
  const set = columns
    .filter(({ name }) => !KEYS.includes(name))
    .map(({ name }) => `${name} = x.${name}`)
    .join(', ');
  return `${MOVES} UPDATE beckon.draft AS d SET ${set} FROM ${draftsOf(columns)} AS x(${namesOf(columns)})
          WHERE d.project_id = x.project_id AND d.id = x.id AND d.moves < x.moves RETURNING d.id`;
}

function draftsOf(columns: Column<Draft>[]): string {
  return `unnest(${listsOf(columns, MOVE_COLUMNS.length + 1)})`;
}

function latest(changes: DraftChange[]): Draft[] {
  const drafts = new Map<string, Draft>();
  for (const { draft } of changes) {
    if ((drafts.get(draft.id)?.moves ?? 0) < draft.moves) drafts.set(draft.id, draft);
  }
  return [...drafts.values()];
}

function valuesOfChanges(
  changes: DraftChange[],
  { drafts, columns }: { drafts: Draft[]; columns: Column<Draft>[] },
): unknown[] {
  const moves = changes.map(({ move }) => move);
  return [...valuesOf<DraftTransition>(MOVE_COLUMNS, moves), ...valuesOf(columns, drafts)];
}

function namesOf(columns: { name: string }[]): string {
  return columns.map(({ name }) => name).join(', ');
}

function listsOf(columns: Pick<Column<never>, 'type'>[], from: number): string {
  return columns.map(({ type }, at) => `$${from + at}::${type}[]`).join(', ');
}

/** Only user-written text is checked for characters to escape. See `plainList`. */
function valuesOf<T>(columns: Column<T>[], rows: T[]): unknown[] {
  return columns.map((column) => {
    switch (column.kind) {
      case 'moment':
        return momentList(rows.map(column.of));
      case 'plain':
        return plainList(rows.map(column.of));
      case 'text':
        return rows.map(column.of);
      case 'json':
        return rows.map((row) => JSON.stringify(column.of(row)));
      default:
        return column satisfies never;
    }
  });
}

/** Deletes drafts with their moves and texts. Returns the number of drafts. */
export async function eraseDrafts(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const rows = await tx.query<{ id: string }>(
    `DELETE FROM beckon.draft WHERE project_id = $1 AND external_user_id = $2 RETURNING id`,
    [projectId, userId],
  );
  const ids = rows.map((row) => row.id);
  const theirs = 'WHERE project_id = $1 AND draft_id = ANY ($2::uuid[])';
  await tx.query(`DELETE FROM beckon.draft_move ${theirs}`, [projectId, ids]);
  await tx.query(`DELETE FROM beckon.draft_content ${theirs}`, [projectId, ids]);
  return rows.length;
}

/** Stores texts of a draft. A text that is already stored is skipped. */
export async function keepContents(tx: Tx, drafts: Draft[]): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.draft_content (project_id, draft_id, content_hash, subject, preheader, body, at)
     SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      drafts.map(({ projectId }) => projectId),
      drafts.map(({ id }) => id),
      drafts.map(({ contentHash }) => contentHash),
      drafts.map(({ content }) => content.subject),
      drafts.map(({ content }) => content.preheader),
      drafts.map(({ content }) => content.body),
      drafts.map(({ updatedAt }) => new Date(updatedAt)),
    ],
  );
}

/** `users` limits it to these users. Null means all users. */
export type HeldDraftsInput = { projectId: number; reasons: string[]; users?: string[] | null; now: number };

/** Sets the time of the next check. The drafts stay held, so this is not a move. */
export async function setNextChecks(
  tx: Tx,
  projectId: number,
  rows: { draftId: string; dueAt: number }[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `UPDATE beckon.draft d SET due_at = n.due_at FROM unnest($2::uuid[], $3::timestamptz[]) AS n(id, due_at)
     WHERE d.project_id = $1 AND d.id = n.id`,
    [projectId, plainList(rows.map((row) => row.draftId)), momentList(rows.map((row) => row.dueAt))],
  );
}

/** Makes held drafts due now. They stay held until the check runs, so this is not a move. */
export async function setHeldDueNow(
  tx: Tx,
  { projectId, reasons, users = null, now }: HeldDraftsInput,
): Promise<number> {
  const rows = await tx.query(
    `UPDATE beckon.draft SET due_at = $3
     WHERE project_id = $1 AND ended_at IS NULL AND state = 'held' AND reason = ANY ($2::text[])
       AND (due_at IS NULL OR due_at > $3) AND lease_by IS NULL
       AND ($4::text[] IS NULL OR external_user_id = ANY ($4)) RETURNING 1`,
    [projectId, reasons, new Date(now), users],
  );
  return rows.length;
}
