import type { Tx } from '../../io/db/index.ts';
import { readSettings, type Settings } from './settings.ts';
import { listSettingsRows } from './store.ts';

export type ProjectSettings = {
  projectId: number;
  name: string;
  /** Made up: nothing of it leaves this machine. */
  isDemo: boolean;
  settings: Settings;
};

/** What each of these projects decided for itself, by project. */
export async function listSettings(tx: Tx, projectIds: number[]): Promise<Map<number, ProjectSettings>> {
  const rows = await listSettingsRows(tx, projectIds);
  return new Map(
    rows.map(({ project_id: projectId, name, is_demo: isDemo, settings }) => [
      projectId,
      { projectId, name, isDemo, settings: readSettings(settings) },
    ]),
  );
}
