import type { Tx } from '../../../platform/db/statements.ts';
import { unknownProject } from './project.ts';
import {
  printSettings,
  readSettings,
  type SettingName,
  type Settings,
  type StoredSettings,
} from './settings.ts';
import { findSettings } from './store.ts';

export async function getSettings(
  tx: Tx,
  projectId: number,
): Promise<{ settings: Settings; texts: Record<SettingName, string>; stored: StoredSettings }> {
  const stored = await findSettings(tx, projectId);
  if (!stored) throw unknownProject(projectId);
  return { settings: readSettings(stored), texts: printSettings(stored), stored };
}
