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

/** With the project's turn taken, after a definition was written. */
export async function checkDefinition(tx: Tx, projectId: number): Promise<void> {
  await checkQuestions(tx, projectId);
  await checkWindows(tx, projectId, 'definition');
}

/** Of all audiences of a project together: they are compiled in memory, and each is a probe for each person it concerns. */
const QUESTIONS_MAX = 1_000;

/** Bounds what the audiences of a project ask together. */
async function checkQuestions(tx: Tx, projectId: number): Promise<void> {
  const asked = new Set<string>();
  for (const { mentions } of (await loadModels(tx, [projectId])).get(projectId)?.editions ?? [])
    for (const key of mentions.questions.keys()) asked.add(key);
  if (asked.size <= QUESTIONS_MAX) return;
  const message = `definition makes the audiences of this project ask ${asked.size} different questions about events within a time; ${QUESTIONS_MAX} is the most`;
  throw new Fault('validation_failed', { details: [{ message, field: 'definition' }] });
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
