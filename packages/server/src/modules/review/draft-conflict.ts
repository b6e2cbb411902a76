import { Fault } from '../../platform/fault.ts';
import { listMoves, type DraftTransition } from '../drafts/index.ts';
import { isDraftId } from './move-draft.ts';
import type { KitDeps } from '../workspace/index.ts';

type Deps = KitDeps;

const ACTION_PHRASES: Partial<Record<DraftTransition['action'], string>> = {
  approve: 'approved this draft',
  skip: 'skipped this draft',
  edit: 'edited this draft',
  postpone: 'postponed this draft',
  undo: 'undid the last action on this draft',
  open_editor: 'opened the editor of this draft',
  close_editor: 'closed the editor of this draft',
  send_again: 'sent this email again',
};

/** An action of another member is named in a conflict for this long. */
const NEWS_MS = 10 * 60_000;

type ConflictContext = { projectId: number; draftId: string; actor: string };

/**
 * Runs a change of a draft. A conflict says which member did what and when, and messages contain the names of members instead of
 * their ids.
 */
export async function withConflictActor<T>(
  { db, access }: Pick<Deps, 'db' | 'access'>,
  { projectId, draftId, actor }: ConflictContext,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'conflict' || !isDraftId(draftId)) throw error;
    const moves = await listMoves(db, projectId, draftId);
    const last = moves.findLast((move) => ACTION_PHRASES[move.action] !== undefined);
    const named = [...new Set([...(last ? [last.actor] : []), ...actorsIn(error.message)])];
    const names = await access.namesOf(named);
    const text = withNames(error.message, names);
    const lastChange = last && last.actor !== actor ? lastChangeSentence(last, db.clock.now(), names) : null;
    const message = lastChange === null ? text : `${lastChange}. ${text}`;
    throw new Fault('conflict', { details: [{ message, field: 'draft' }], cause: error });
  }
}

const ACTOR = /team:[\w-]+/g;

function actorsIn(message: string): string[] {
  return message.match(ACTOR) ?? [];
}

function withNames(message: string, names: ReadonlyMap<string, string>): string {
  return message.replaceAll(ACTOR, (actor) => names.get(actor) ?? actor);
}

function lastChangeSentence(
  { action, actor, at }: DraftTransition,
  now: number,
  names: ReadonlyMap<string, string>,
): string | null {
  if (now - at > NEWS_MS) return null;
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  const ago = seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${names.get(actor) ?? actor} ${ACTION_PHRASES[action]} ${ago} ago`;
}
