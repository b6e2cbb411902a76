import { mentionsOf } from '../../platform/predicate/mentions.ts';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';
import { sentenceOf } from '../../platform/predicate/sentence.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type CurrentRow, listCurrentRows } from './reads.ts';

export type CurrentVersion = Pick<CurrentRow, 'state' | 'definition' | 'members' | 'users' | 'built'> & {
  versionId: number;
  builtTo: string | null;
  predicate: Predicate;
};

/** An audience with the version that is `served` and the version that is being built to replace it. At least one of the two is set. */
export type CurrentAudience = {
  id: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
  served: CurrentVersion | null;
  building: CurrentVersion | null;
};

/** Lists all audiences of a project by name. */
export async function listCurrent(tx: Tx, projectId: number): Promise<CurrentAudience[]> {
  const byAudience = Map.groupBy(await listCurrentRows(tx, [projectId]), (row) => row.audience_id);
  return [...byAudience.values()].map(currentAudience).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function currentAudience(rows: CurrentRow[]): CurrentAudience {
  const [row] = rows;
  if (!row) throw new TypeError('an audience without a version');
  const version = (state: string): CurrentVersion | null => {
    const found = rows.find((candidate) => candidate.state === state);
    return found ? currentVersion(found) : null;
  };
  return {
    id: row.audience_id,
    name: row.name,
    createdAt: row.audience_created_at,
    updatedAt: row.audience_updated_at,
    served: version('served'),
    building: version('building'),
  };
}

function currentVersion(row: CurrentRow): CurrentVersion {
  const { version_id: versionId, state, definition, members, users, built, built_to } = row;
  return {
    versionId,
    state,
    definition,
    members,
    users,
    built,
    builtTo: built_to,
    predicate: storedPredicate(row),
  };
}

/** Parses a stored definition. It was checked before it was stored, so a failure here is a defect in Beckon. */
export function storedPredicate(
  row: Pick<CurrentRow, 'project_id' | 'version_id' | 'definition'>,
): Predicate {
  const parsed = parsePredicate(row.definition);
  if (parsed.ok) return parsed.predicate;
  const what = parsed.faults.map(({ message }) => message).join('; ');
  throw new Error(`version ${row.version_id} of project ${row.project_id} cannot be read: ${what}`);
}

/** Returns the version that readers see: the one served or, before there is one, the part built so far of the first. */
export function visibleVersion({ id, served, building }: CurrentAudience): CurrentVersion {
  return requireVersion(served ?? building, id);
}

/** Returns the version of the latest definition. */
export function newestVersion({ id, served, building }: CurrentAudience): CurrentVersion {
  return requireVersion(building ?? served, id);
}

function requireVersion(version: CurrentVersion | null, id: string): CurrentVersion {
  if (version) return version;
  throw new Error(`audience ${id} has no version`);
}

/** Returns the audiences that the definitions of both versions name: the one served and the one being built. */
export function referencesOf({ served, building }: CurrentAudience): Set<string> {
  const versions = [served, building].filter((version) => version !== null);
  return new Set(versions.flatMap(({ predicate }) => [...mentionsOf(predicate).audiences]));
}

export function sentenceFor(predicate: Predicate, audiences: CurrentAudience[]): string {
  const names = new Map(audiences.map(({ id, name }) => [id, name]));
  return sentenceOf(predicate, (id) => names.get(id));
}
