import type { Tx } from '../../../platform/db/statements.ts';
import { readSettings, type Settings } from './settings.ts';
import { listSettingsRows } from './store.ts';

export type ProjectSettings = {
  projectId: number;
  /** The name used in emails. A sandbox has that of its project. */
  name: string;
  /** A demo project, which sends nothing to the outside. */
  isDemo: boolean;
  /** False for a sandbox, which sends nothing to the outside either, except to its own endpoints. */
  livemode: boolean;
  settings: Settings;
};

/** Returns the settings of these projects by project. */
export async function listSettings(tx: Tx, projectIds: number[]): Promise<Map<number, ProjectSettings>> {
  const rows = await listSettingsRows(tx, projectIds);
  return new Map(
    rows.map(({ project_id: projectId, name, is_demo: isDemo, livemode, settings }) => [
      projectId,
      { projectId, name, isDemo, livemode, settings: readSettings(settings) },
    ]),
  );
}
