import { printDuration } from '../base/duration.ts';
import { Fault } from '../base/fault.ts';
import { loadModels } from '../features/audiences/index.ts';
import { getSettings } from '../features/projects/index.ts';
import type { Tx } from '../io/db/index.ts';

/**
 * An audience that asks about the last 90 days is wrong once events are kept for 60. So they are kept for as long as any
 * audience of the project looks back: asked under its turn, after the setting or the definition was written.
 */
export async function checkWindows(
  tx: Tx,
  projectId: number,
  field: 'keep_events' | 'definition',
): Promise<void> {
  const { keepEventsMs } = (await getSettings(tx, projectId)).settings;
  if (keepEventsMs === null) return;
  const longest = await findLongestWindow(tx, projectId);
  if (!longest || longest.withinMs <= keepEventsMs) return;
  const [within, kept, name] = [
    printDuration(longest.withinMs),
    printDuration(keepEventsMs),
    JSON.stringify(longest.name),
  ];
  const message =
    field === 'definition'
      ? `definition asks about events of the last ${within}, but this project keeps them for ${kept} only (keep_events)`
      : `keep_events must be at least ${within}: the audience ${name} asks about events as old as that`;
  throw new Fault('validation_failed', { details: [{ message, field }] });
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
