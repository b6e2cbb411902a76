import type { Tx } from '../../platform/db/statements.ts';
import { type SettingName, readChanges, unknownProject, printSettings } from '../workspace/index.ts';
import { updateSettings } from './project-store.ts';

/** Applies all changes or none. All errors are collected before anything is written. */
export async function writeSettings(
  tx: Tx,
  projectId: number,
  input: Record<string, string>,
): Promise<Record<SettingName, string>> {
  const changes = readChanges(input);
  const stored = await updateSettings(tx, { projectId, changes });
  if (!stored) throw unknownProject(projectId);
  return printSettings(stored);
}
