import { mentionsOf } from '../../platform/predicate/mentions.ts';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';
import { sentenceOf } from '../../platform/predicate/sentence.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type CurrentRow, listCurrentRows } from './reads.ts';

export type CurrentEdition = Pick<
  CurrentRow,
  'edition' | 'state' | 'definition' | 'members' | 'people' | 'built'
> & { builtTo: string | null; predicate: Predicate };

/** An audience with the edition that is `served` and the edition that is being built to replace it. At least one of the two is set. */
export type Current = {
  id: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
  served: CurrentEdition | null;
  building: CurrentEdition | null;
};

/** Lists all audiences of a project by name. */
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

/** Parses a stored definition. It was checked before it was stored, so a failure here is a defect in Beckon. */
export function readStored(row: Pick<CurrentRow, 'project_id' | 'edition' | 'definition'>): Predicate {
  const parsed = parsePredicate(row.definition);
  if (parsed.ok) return parsed.predicate;
  const what = parsed.faults.map(({ message }) => message).join('; ');
  throw new Error(`edition ${row.edition} of project ${row.project_id} cannot be read: ${what}`);
}

/** Returns the edition that readers see: the one served or, before there is one, the part built so far of the first. */
export function seen({ id, served, building }: Current): CurrentEdition {
  return must(served ?? building, id);
}

/** Returns the edition of the latest definition. */
export function newest({ id, served, building }: Current): CurrentEdition {
  return must(building ?? served, id);
}

function must(edition: CurrentEdition | null, id: string): CurrentEdition {
  if (edition) return edition;
  throw new Error(`audience ${id} has no edition`);
}

/** Returns the audiences that the definitions of both editions name: the one served and the one being built. */
export function referencesOf({ served, building }: Current): Set<string> {
  const both = [served, building].filter((edition) => edition !== null);
  return new Set(both.flatMap(({ predicate }) => [...mentionsOf(predicate).audiences]));
}

export function sentenceFor(predicate: Predicate, audiences: Current[]): string {
  const names = new Map(audiences.map(({ id, name }) => [id, name]));
  return sentenceOf(predicate, (id) => names.get(id));
}
