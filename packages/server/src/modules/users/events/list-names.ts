import { CANONICAL_EVENTS } from '@beckon/contract';
import type { Tx } from '../../../platform/db/statements.ts';
import { listNames as listNameRows, type NameRow } from './reads.ts';

/** An event name in the catalog. */
export type ListedName = {
  name: string;
  canonical: boolean;
  count: number;
  last_30_days: number;
  first_at: Date;
  last_at: Date;
  properties: ListedProperty[];
};

/** `conflict`: the property has values of different types. A property that is only sometimes null has no conflict. */
export type ListedProperty = { property: string; types: string[]; conflict: boolean };

const NAMES_LISTED_MAX = 1_000;
const RECENT_MS = 30 * 86_400_000;

/** Lists the event names of a project, the most frequent of the last 30 days first. */
export async function listNames(tx: Tx, projectId: number, now: number): Promise<ListedName[]> {
  const since = new Date(now - RECENT_MS);
  const rows = await listNameRows(tx, projectId, { since, limit: NAMES_LISTED_MAX });
  return rows.map((row) => ({
    name: row.name,
    canonical: Object.hasOwn(CANONICAL_EVENTS, row.name),
    count: row.count,
    last_30_days: row.recent,
    first_at: row.first_at,
    last_at: row.last_at,
    properties: propertiesOf(row),
  }));
}

function propertiesOf({ properties }: NameRow): ListedProperty[] {
  const byProperty = Map.groupBy(properties, ({ property }) => property);
  return [...byProperty].map(([property, seen]) => {
    const types = seen.map(({ type }) => type);
    return { property, types, conflict: types.filter((type) => type !== 'null').length > 1 };
  });
}
