import { type SettingName, setSettings as set } from '../features/projects/index.ts';
import { takeTurn } from '../features/turns/index.ts';
import type { Database } from '../io/db/index.ts';
import { checkWindows } from './check-definition.ts';

/** Under the project's turn, where audiences are made and changed: events are kept for as long as one of them looks back. */
export function setSettings(
  db: Pick<Database, 'transaction'>,
  projectId: number,
  wanted: Record<string, string>,
): Promise<Record<SettingName, string>> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const texts = await set(tx, projectId, wanted);
    if (Object.hasOwn(wanted, 'keep_events')) await checkWindows(tx, projectId, 'keep_events');
    return texts;
  });
}
