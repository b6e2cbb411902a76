import { mentionsOf, parsePredicate, type Predicate, sentenceOf } from '../../base/predicate/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { type CurrentRow, listCurrentRows } from './reads.ts';

export type CurrentEdition = Pick<
  CurrentRow,
  'edition' | 'state' | 'definition' | 'members' | 'people' | 'built'
> & { builtTo: string | null; predicate: Predicate };

/** An audience with what it answers by (`served`) and what is being built to replace that; never without both. */
export type Current = {
  id: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
  served: CurrentEdition | null;
  building: CurrentEdition | null;
};

/** All audiences of a project, by name. */
export async function listCurrent(tx: Tx, projectId: number): Promise<Current[]> {
  const byAudience = Map.groupBy(await listCurrentRows(tx, [projectId]), (row) => row.audience_id);
  return [...byAudience.values()].map(toCurrent).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toCurrent(rows: CurrentRow[]): Current {
  const [row] = rows;
  if (!row) throw new TypeError('an audience without an edition');
  const edition = (state: string): CurrentEdition | null => {
    const found = rows.find((one) => one.state === state);
    return found ? toEdition(found) : null;
  };
  return {
    id: row.audience_id,
    name: row.name,
    createdAt: row.audience_created_at,
    updatedAt: row.audience_updated_at,
    served: edition('served'),
    building: edition('building'),
  };
}

function toEdition(row: CurrentRow): CurrentEdition {
  const { edition, state, definition, members, people, built, built_to } = row;
  return {
    edition,
    state,
    definition,
    members,
    people,
    built,
    builtTo: built_to,
    predicate: readStored(row),
  };
}

/** It was checked before it was stored, so one that cannot be read is a defect of ours. */
export function readStored(row: Pick<CurrentRow, 'project_id' | 'edition' | 'definition'>): Predicate {
  const parsed = parsePredicate(row.definition);
  if (parsed.ok) return parsed.predicate;
  const what = parsed.faults.map(({ message }) => message).join('; ');
  throw new Error(`edition ${row.edition} of project ${row.project_id} cannot be read: ${what}`);
}

/** What everybody sees of it: the edition served or, before there is one, as much as is built of the first. */
export function seen({ id, served, building }: Current): CurrentEdition {
  return must(served ?? building, id);
}

/** What was asked for last. */
export function newest({ id, served, building }: Current): CurrentEdition {
  return must(building ?? served, id);
}

function must(edition: CurrentEdition | null, id: string): CurrentEdition {
  if (edition) return edition;
  throw new Error(`audience ${id} has no edition`);
}

/** The audiences that its definitions name: those of the edition served and of the one being built. */
export function referencesOf({ served, building }: Current): Set<string> {
  const both = [served, building].filter((edition) => edition !== null);
  return new Set(both.flatMap(({ predicate }) => [...mentionsOf(predicate).audiences]));
}

export function sentenceFor(predicate: Predicate, audiences: Current[]): string {
  const names = new Map(audiences.map(({ id, name }) => [id, name]));
  return sentenceOf(predicate, (id) => names.get(id));
}
