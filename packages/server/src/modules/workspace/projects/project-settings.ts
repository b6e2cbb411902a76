import { invalid, unknownProject } from './project.ts';
import {
  isSettingName,
  normaliseSetting,
  printSettings,
  readSettings,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  type StoredSettings,
} from './settings.ts';
import { findSettings, listSettingsRows } from './reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault, type FieldFault } from '../../../platform/fault.ts';

export async function getSettings(
  tx: Tx,
  projectId: number,
): Promise<{ settings: Settings; texts: Record<SettingName, string>; stored: StoredSettings }> {
  const stored = await findSettings(tx, projectId);
  if (!stored) throw unknownProject(projectId);
  return { settings: readSettings(stored), texts: printSettings(stored), stored };
}

/** Returns the time zone of a project, in which its members read times and write the days of filters. */
export async function zoneOfProject(tx: Tx, projectId: number): Promise<string> {
  return (await getSettings(tx, projectId)).settings.timeZone;
}

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

/** Parses typed values, each in the text form of its setting. */
export function readChanges(input: Record<string, string>): StoredSettings {
  const changes: StoredSettings = {};
  const faults: FieldFault[] = [];
  for (const [name, text] of Object.entries(input)) {
    if (!isSettingName(name)) {
      faults.push({
        message: `${name} is not a setting. Use one of ${SETTING_NAMES.join(', ')}`,
        field: name,
      });
      continue;
    }
    const result = normaliseSetting(name, text);
    if ('text' in result) changes[name] = result.text;
    else
      faults.push({ message: `${name} must be ${result.syntax}, not ${JSON.stringify(text)}`, field: name });
  }
  if (faults.length > 0) throw new Fault('validation_failed', { details: faults });
  if (Object.keys(changes).length === 0)
    throw invalid(`Give at least one setting: name=value of ${SETTING_NAMES.join(', ')}`);
  return changes;
}
