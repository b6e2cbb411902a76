import { printDuration } from '../base/duration.ts';
import { Fault } from '../base/fault.ts';
import { loadModels } from '../features/audiences/index.ts';
import { getSettings, type SettingName, setSettings as set } from '../features/projects/index.ts';
import { takeTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

/**
 * An audience that asks about the last 90 days is wrong once events are kept for 60. So they are kept for as long as any
 * audience of the project looks back; under its turn, where audiences are made and changed.
 */
export function setSettings(
  db: Pick<Database, 'transaction'>,
  projectId: number,
  wanted: Record<string, string>,
): Promise<Record<SettingName, string>> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const texts = await set(tx, projectId, wanted);
    if (Object.hasOwn(wanted, 'keep_events')) await checkWindows(tx, projectId);
    return texts;
  });
}

async function checkWindows(tx: Tx, projectId: number): Promise<void> {
  const { keepEventsMs } = (await getSettings(tx, projectId)).settings;
  const longest = await findLongestWindow(tx, projectId);
  if (keepEventsMs === null || !longest || longest.withinMs <= keepEventsMs) return;
  const name = JSON.stringify(longest.name);
  const message = `keep_events must be at least ${printDuration(longest.withinMs)}: the audience ${name} asks about events as old as that`;
  throw new Fault('validation_failed', { details: [{ message, field: 'keep_events' }] });
}

type Longest = { name: string; withinMs: number };

/** An edition comes after those that it refers to and has their questions too: of equals the first one asks by itself. */
async function findLongestWindow(tx: Tx, projectId: number): Promise<Longest | null> {
  let longest: Longest | null = null;
  for (const { name, mentions } of (await loadModels(tx, [projectId])).get(projectId)?.editions ?? []) {
    for (const { window } of mentions.questions.values()) {
      if (window.withinMs > (longest?.withinMs ?? 0)) longest = { name, withinMs: window.withinMs };
    }
  }
  return longest;
}
