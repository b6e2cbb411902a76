import type { SavedView } from '@beckon/contract/dashboard';
import { deleteViewRow, findView, findViewByName, insertView, listViews, updateViewName } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

const VIEWS_MAX = 100;
const NAME_MAX = 100;

/** Saves a view. The caller has validated the filter. */
export async function saveView(tx: Tx, projectId: number, input: SavedView): Promise<SavedView> {
  const { screen } = input;
  const name = readName(input.name);
  if (input.filter.trim() === '') throw wrong('filter is empty, which is the default view', 'filter');
  if (await findViewByName(tx, { projectId, screen, name })) throw nameExists(name);
  if ((await listViews(tx, { projectId, screen })).length >= VIEWS_MAX)
    throw wrong(`A list can have at most ${VIEWS_MAX} views. Delete one first`, 'name');
  const view = { ...input, name };
  await insertView(tx, projectId, view);
  return view;
}

type ViewKey = { projectId: number; id: string };

export async function renameView(tx: Tx, key: ViewKey, typedName: string): Promise<SavedView> {
  const name = readName(typedName);
  const view = isViewId(key.id) ? await findView(tx, key) : null;
  if (!view) throw unknownView();
  const same = await findViewByName(tx, { projectId: key.projectId, screen: view.screen, name });
  if (same && same.id !== view.id) throw nameExists(name);
  await updateViewName(tx, key, name);
  return { ...view, name };
}

export async function deleteView(tx: Tx, key: ViewKey): Promise<SavedView> {
  const gone = isViewId(key.id) ? await deleteViewRow(tx, key) : null;
  if (gone) return gone;
  throw unknownView();
}

function isViewId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

function readName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= NAME_MAX && !name.includes('\0') && name.isWellFormed()) return name;
  throw wrong(`name must have 1 to ${NAME_MAX} characters`, 'name');
}

function nameExists(name: string): Fault {
  const message = `A view ${JSON.stringify(name)} already exists`;
  return new Fault('conflict', { details: [{ message, field: 'name' }] });
}

function unknownView(): Fault {
  return new Fault('not_found', { details: [{ message: 'This view no longer exists' }] });
}

function wrong(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

/** Deletes views whose filter or name contains the user's id or address in any spelling. */
export async function eraseViews(
  tx: Tx,
  { projectId, userId, email }: { projectId: number; userId: string; email: string | null },
): Promise<number> {
  const traces = [userId, JSON.stringify(userId).slice(1, -1), email]
    .filter((text) => text !== null)
    .map((text) => text.toLowerCase());
  const naming = (await listViews(tx, { projectId, screen: null })).filter((view) => {
    const text = `${view.name}\n${view.filter}`.toLowerCase();
    return traces.some((trace) => names(text, trace));
  });
  for (const { id } of naming) await deleteViewRow(tx, { projectId, id });
  return naming.length;
}

/** Matches whole words only: erasing the user with the id 4 keeps a filter about user 42. */
function names(text: string, trace: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(trace)}(?![\\p{L}\\p{N}])`, 'u').test(text);
}
