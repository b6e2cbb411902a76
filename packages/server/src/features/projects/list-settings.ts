import type { Tx } from '../../io/db/index.ts';
import { readSettings, type Settings } from './settings.ts';
import { listSettingsRows } from './store.ts';

export type ProjectSettings = {
  projectId: number;
  /** As its letters say it: that of a sandbox is the one of its project. */
  name: string;
  /** Made up: nothing of it leaves this machine. */
  isDemo: boolean;
  /** False: a sandbox. Nothing of it leaves either, but to the endpoints that it names itself. */
  livemode: boolean;
  settings: Settings;
};

/** What each of these projects decided for itself, by project. */
export async function listSettings(tx: Tx, projectIds: number[]): Promise<Map<number, ProjectSettings>> {
  const rows = await listSettingsRows(tx, projectIds);
  return new Map(
    rows.map(({ project_id: projectId, name, is_demo: isDemo, livemode, settings }) => [
      projectId,
      { projectId, name, isDemo, livemode, settings: readSettings(settings) },
    ]),
  );
}
